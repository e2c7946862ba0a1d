"""Validation before a run: all problems at once, each with its location and what to do."""

import pytest

from fingerpost.errors import PlanInvalid
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.limits import Limits
from fingerpost.plan.records import read_plan
from fingerpost.plan.validation import validate_plan
from tests.plan.drawing import EXAMPLE, FINANCIAL, plan, ref, step
from tests.plan.drawing import Recorder as Echo

CATALOGUE = Catalogue.of([Echo().tool(), FINANCIAL], {"clerk": None})


def problems(*steps, memory=()):
    with pytest.raises(PlanInvalid) as caught:
        validated(*steps, memory=memory)
    return [(each["step_id"], each["field"], each["reason"]) for each in caught.value.details["errors"]]


def validated(*steps, **more):
    return validate_plan(plan(*steps), CATALOGUE, **more)


def facts(**fields):
    return {"query_type": "financial_facts", "parameters": {**EXAMPLE.parameters["parameters"], **fields}}


UNKNOWN_FIELD = "unknown field 'as_off'; allowed: end_date, filing_type, metrics, start_date, ticker"
QUERY_TYPE = (
    "query type 'financial_fact' is not supported by the sec_financial_data tool; did you mean 'financial_facts'?"
)
CONDITION = (
    "'value not None' does not compile: syntax error at column 11; valid examples: value is not None, "
    "len(results) > 0, value['total'] >= 1"
)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([step(1, "ecko")], (1, "tool", "'ecko' is not found in registry; did you mean 'echo'?")),
        ([step(1, "xyz")], (1, "tool", "'xyz' is not found in registry; available: echo, sec_financial_data")),
        ([step(1, None, agent="clark")], (1, "agent", "'clark' is unknown; did you mean 'clerk'?")),
        ([step(1, agent="human")],
         (1, "agent", "is human, so the step cannot have a tool; put the tool in a step that depends on this one")),
        ([step(1, "sec_financial_data", parameters={"query_type": "financial_fact", "parameters": {}})],
         (1, "parameters", QUERY_TYPE)),
        ([step(1, parameters={"n": "x"})], (1, "parameters.n", 'n must be a whole number, not the text "x"')),
        ([step(1, dependencies=[9])], (1, "dependencies", "name step 9, which does not exist; available: 1")),
        ([step(1, dependencies=[1])], (1, "dependencies", "form a cycle: 1 → 1")),
        ([step(1, dependencies=[2]), step(2, dependencies=[1])], (1, "dependencies", "form a cycle: 1 → 2 → 1")),
        ([step(1, parameters={"n": ref("k2")}), step(2, parameters={"n": ref("k1")})],
         (1, "parameters", "refer to one another in a cycle: 1 → 2 → 1")),
        ([step(1, parameters={"n": ref("k1")})],
         (1, "parameters.n", "refers to 'k1', which no step provides; available: none")),
        ([step(1), step(2, parameters={"extra": [ref("k3")]})],
         (2, "parameters.extra[0]", "refers to 'k3', which no step provides; available: k1")),
        ([step(1, expected_key="k"), step(2, expected_key="k")],
         (2, "expected_key", "'k' is also written by step 1; make one depend on the other, or rename one")),
        ([step(1, done_check="value not None")],
         (1, "done_check", CONDITION)),
        ([step(1), step(1)], (1, "step_id", "is already used by another step")),
        ([step(1), step(2, parameters={"nn": ref("k1")})],
         (2, "parameters.nn", "unknown field 'nn'; allowed: extra, label, n")),
        ([step(1), step(2, "sec_financial_data", parameters=facts(as_off=ref("k1")))],
         (2, "parameters.parameters.as_off", UNKNOWN_FIELD)),
        ([step(2**53)],
         (None, "steps", "contain a step_id above 9,007,199,254,740,991")),
        ([step(1, expected_key="")], (1, "expected_key", "must be 1 to 200 characters")),
        ([step(1, expected_key="k" * 201)], (1, "expected_key", "must be 1 to 200 characters")),
        ([step(1, expected_key="my key", done_check="my")],
         (1, "done_check", "'my' does not compile: unknown name 'my'; the known names are memory, results, value")),
        ([step(1, expected_key="value", done_check="my")],
         (1, "done_check", "'my' does not compile: unknown name 'my'; the known names are memory, results, value")),
        ([step(n, dependencies=[n % 13 + 1]) for n in range(1, 14)],
         (1, "dependencies", "form a cycle: 1 → 2 → 3 → 4 → 5 → 6 → 7 → 8 → 9 → 10 → 11 → 12 → … → 1")),
        ([], (None, "steps", "are empty; a plan needs at least one")),
    ],
)  # fmt: skip
def test_one_problem_is_reported_with_its_place(steps, expected):
    assert problems(*steps) == [expected]


def test_all_problems_are_reported_at_once():
    told = problems(
        step(1, "nope"), step(2, parameters={"n": "x", "wrong": 1}), step(3, done_check="foo", dependencies=[7])
    )

    assert [(number, field) for number, field, _reason in told] == [
        (1, "tool"), (2, "parameters.n"), (2, "parameters.wrong"), (3, "done_check"), (3, "dependencies"),
    ]  # fmt: skip


def test_the_sentence_names_the_first_and_counts_the_rest():
    with pytest.raises(PlanInvalid, match=r"^The plan cannot run: step 1: tool 'x' .* and 5 more$"):
        validated(*[step(number, "x") for number in range(1, 11)])


def test_the_plan_step_contracts_parameters_may_be_wrapped_or_flat():
    """F2: flat where the tool has one query type."""
    valid = validated(
        step(1, "sec_financial_data", parameters=facts()),
        step(2, "sec_financial_data", parameters=facts()["parameters"]),
    )

    assert [ready.query.arguments["ticker"] for ready in valid.steps.values()] == ["AAPL", "AAPL"]


def test_a_reference_is_a_hole_in_the_parameters_and_the_rest_is_checked():
    known = step(1, "sec_financial_data", parameters=facts(ticker=ref("k2"), start_date=ref("k2"), metrics=[ref("k2")]))
    wrong = step(1, "sec_financial_data", parameters=facts(ticker=ref("k2"), end_date="2022"))

    assert validated(known, step(2)).steps[1].dependencies == [2]
    assert problems(wrong, step(2)) == [
        (1, "parameters.parameters.end_date", "end_date: Date must be in YYYY-MM-DD format")
    ]


def test_dependencies_are_inferred_and_merged():
    third = step(3, parameters={"n": ref("k1", "data.n")}, dependencies=[2])
    valid = validated(step(1), step(2), third, step(4, done_check="memory['k3']['success']"))

    assert {number: ready.dependencies for number, ready in valid.steps.items()} == {1: [], 2: [], 3: [2, 1], 4: [3]}


def test_of_two_ordered_writers_the_last_before_the_reader_is_read():
    valid = validated(
        step(1, expected_key="k"),
        step(2, parameters={"n": ref("k", "data.n")}),
        step(3, expected_key="k", dependencies=[1, 2]),
        step(4, parameters={"n": ref("k", "data.n")}),
    )

    assert [valid.find_writer(reader, "k") for reader in (1, 2, 3, 4)] == [None, 1, 1, 3]


def test_a_step_that_is_done_needs_neither_its_tool_nor_its_condition_any_more():
    """A run of an older version stays readable, and can be resumed."""
    done = step(1, "gone", done_check="value + 1 > 2")
    valid = validated(done, step(2, parameters={"n": ref("k1", "n")}), done={1})

    assert list(valid.steps) == [1, 2]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"goal": "g", "steps": [{}] * 501}, "The plan has 501 steps; the limit is 500"),
        ([], "The plan must be an object with a goal and steps"),
        ({"goal": "g", "stesp": None}, "The plan cannot be read: "),
        ({"goal": "g", "steps": [{"step_id": 1}]}, "The plan cannot be read: steps[0].description is missing"),
        ({"goal": "x" * 2_000_000}, "The plan cannot be read: a value in it is larger than 1,000,000 bytes of JSON"),
    ],
)
def test_an_invalid_plan_is_reported(raw, message):
    with pytest.raises(PlanInvalid) as caught:
        read_plan(raw)
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize("dated", [{}, {"created_at": None}])
def test_a_plan_may_leave_out_when_it_was_created(dated):
    steps = [{"step_id": number, "description": "", "tool": "echo"} for number in range(500)]
    read = read_plan({"goal": "g", "steps": steps, **dated})

    assert (read.created_at, len(read.steps)) == ("2026-03-10T06:00:00Z", 500)


def test_the_depth_of_parameters_is_bounded():
    limits = Limits(depth=3)
    validated(step(1, parameters={"extra": [["x"]]}), limits=limits)
    with pytest.raises(PlanInvalid, match="a value in them is nested more than 4 levels deep"):
        validated(step(1, parameters={"extra": [[["x"]]]}), limits=limits)
