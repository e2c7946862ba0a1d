"""The remarks in a tool's response, in a run that shows only the value."""

from typing import Annotated

import pytest
from pydantic import BaseModel, BeforeValidator

from fingerpost.contract.tool import ToolSpec, failure_response, success_response
from fingerpost.errors import ParameterError, PlanInvalid
from fingerpost.plan.catalogue import Catalogue, PlanTool
from fingerpost.plan.responses import Remark, explain_unresolved_path, list_remark_sentences, list_remarks
from fingerpost.plan.validation import validate_plan
from fingerpost.plan.view import format_run
from tests.plan.drawing import plan, ref, step, viewed

PLACES = [{"id": "F:1", "name": "Kamppi"}, {"name": "Kamppi (area)", "coordinate": {"lat": 60.1, "lon": 24.9}}]


def test_every_entry_is_found_once():
    body = {"meta": {"notes": ["a demo"]}, "warnings": [], "noResultsReason": "NO_SERVICE"}
    response = success_response("find", "find", {"notes": "mine"}, [body], {"data": body})

    assert list_remarks(response) == [
        Remark(kind="note", at="data.meta.notes", value=["a demo"]),
        Remark(kind="note", at="data.noResultsReason", value="NO_SERVICE"),
    ]


MISSING = {"X": {"message": "No X", "next_step": "Load it", "did_you_mean": ["Y", "Z"]}}


@pytest.mark.parametrize(
    ("kind", "at", "value", "line"),
    [
        ("missing", "missing", MISSING, "missing X: No X. Load it. Did you mean Y, Z?"),
        ("candidates", "data.candidates", PLACES, "candidates: Kamppi (F:1); Kamppi (area) (60.1,24.9)"),
        ("candidates", "c", [{"name": "A", "token": "t", "id": "i"}, {"id": "i"}, {"parameterValue": "1000129"}],
         "candidates: A (t); i; 1000129"),
        ("warning", "data.warnings", [{"code": "late", "message": "It is late"}], "It is late."),
        ("did_you_mean", "did_you_mean", ["a", "b"], "did you mean a, b?"),
        ("note", "truncated", True, "truncated: true"),
    ],
)  # fmt: skip
def test_a_remark_is_a_sentence(kind, at, value, line):
    assert list(list_remark_sentences(Remark(kind=kind, at=at, value=value))) == [line]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (["data", "n"], None),
        (None, None),
        (["data", "N"], "output_path data.N has no value; available under data: n, none"),
        (["nil"], "output_path nil has no value; available: data, list"),
        (["data", "none"], "output_path data.none is null"),
        (["list", "2"], "output_path list.2 has no value; no object under list"),
        (["data", "n", "x"], "output_path data.n.x has no value; no object under data.n"),
    ],
)
def test_a_path_without_a_value_lists_the_existing_ones(path, reason):
    assert explain_unresolved_path({"data": {"n": 1, "none": None}, "list": [1, 2]}, path) == reason


async def test_an_output_path_without_a_value_is_an_event_and_a_remark(runs):
    view = await viewed(runs, plan(step(1, parameters={"n": 3}, output_path=["data", "m"])), ["events"])
    [told] = view["steps"]
    reason = "output_path data.m has no value; available under data: n"

    assert (view["state"], told["remarks"][0]) == (
        "completed",
        {"kind": "missing", "at": "output_path", "value": reason},
    )
    missing = [(event["step_id"], event["data"]) for event in view["events"] if event["kind"] == "value_missing"]
    assert missing == [(1, {"reason": reason})]
    assert f"Step 1: missing: {reason}" in format_run(view)


async def test_a_step_that_needs_an_ambiguous_place_fails_with_its_candidates(runs, recorder):
    recorder.script["where"] = success_response("echo", "echo", {}, [], {"data": {"candidates": PLACES}})
    view = await viewed(
        runs, plan(step(1, parameters={"label": "where"}), step(2, parameters={"extra": ref("k1", "data.coordinate")}))
    )
    failed = view["steps"][1]

    assert failed["error"].endswith("has no value: step 1 returned candidates")
    assert [(each["kind"], each["value"]) for each in failed["remarks"]] == [
        ("hint", "Choose a candidate from step 1, and use its token instead of the text"),
        ("candidates", PLACES),
    ]
    assert "Step 2: candidates: Kamppi (F:1)" in format_run(view)


RESUME = "run_plan with action resume continues the run"
AGAIN = "run_plan with action replace changes the unfinished steps; run_plan with a new plan"


@pytest.mark.parametrize(
    ("more", "resumable", "next_words"),
    [
        ({"retryable": True}, True, RESUME),
        ({}, True, RESUME),
        ({"retryable": False, "error_code": "unknown_error"}, True, RESUME),
        ({"retryable": False}, False, AGAIN),
    ],
)
async def test_only_transient_failures_suggest_resuming(opened, recorder, more, resumable, next_words):
    recorder.script["bad"] = failure_response("echo", "echo", {}, "it broke", additional_data=more)
    runs = opened(recorder.tool(), limits=None)
    view = await viewed(runs, plan(step(1, parameters={"label": "bad"})))

    assert (view["resumable"], view["next"].startswith(next_words)) == (resumable, True)


@pytest.mark.parametrize(("length", "kept"), [(15_998, 1), (15_999, 0)])
async def test_values_that_are_too_large_are_counted(runs, recorder, length, kept):
    """16,000 bytes of remarks; beyond that the answer says how many there are, and where."""
    recorder.script["long"] = success_response("echo", "echo", {}, [], {"data": 1, "note": "x" * length})
    view = await viewed(runs, plan(step(1, parameters={"label": "long"})))

    assert (len(view["steps"][0]["remarks"]), view["remarks_left_out"]) == (kept, 1 - kept)
    assert ("remarks on the steps (1) are in the run" in format_run(view)) == (kept == 0)


def _read_period(value):
    if value != "2022":
        raise ParameterError(f"period must be 2022; you sent {value!r}", {"field": "period"})
    return value


class PeriodParams(BaseModel):
    """A model whose reader raises our own error, which pydantic does not gather."""

    ticker: str
    period: Annotated[str, BeforeValidator(_read_period)] = "2022"


async def _never(_query_type, _parameters, _user):
    raise AssertionError


PERIODS = Catalogue.of(
    [
        PlanTool(spec=ToolSpec(name="figures", input_schema={"figures": PeriodParams}, output_key="f"), execute=_never),
        PlanTool(spec=ToolSpec(name="other", input_schema={"other": PeriodParams}, output_key="o"), execute=_never),
    ]
)


def test_a_reference_is_accepted_where_a_model_is_strict():
    drawn = plan(step(1, "figures", parameters={"ticker": "AAPL", "period": ref("year")}))

    assert validate_plan(drawn, PERIODS, memory=["year"]).steps[1].references[0].key == "year"


def test_a_strict_reader_hides_no_other_problem():
    first = step(1, "other", parameters={"ticker": "AAPL", "period": "soon"})
    with pytest.raises(PlanInvalid) as caught:
        validate_plan(plan(first, step(2, "nobody")), PERIODS)

    assert [(each["step_id"], each["field"]) for each in caught.value.details["errors"]] == [
        (1, "parameters"),
        (2, "tool"),
    ]
