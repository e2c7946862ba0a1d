"""References: typed values instead of interpolated text; paths with bounded work."""

import pytest

from fingerpost.plan.references import Reference, fill, get_at_path, list_references
from tests.plan.drawing import ended, plan, ref, step

FUNCTIONS = (
    "abs", "avg", "ceil", "contains", "ends_with", "floor", "keys", "length", "max", "max_by", "min", "min_by",
    "not_null", "reverse", "sort", "sort_by", "starts_with", "sum", "to_array", "to_number", "type", "values",
)  # fmt: skip
RESPONSE = {"data": {"Revenue": [{"year": 2022, "v": 1}, {"year": 2023, "v": 2.5}]}, "results": []}


def one(raw):
    (found,) = list_references(raw)
    return found if isinstance(found, Reference) else found[1]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("data.Revenue[?year==`2023`].v | [0]", 2.5),
        ("data.Revenue[*].v", [1, 2.5]),
        ("sum(data.Revenue[].v)", 3.5),
        ("data.Nothing.at.all", None),
        ("abs(data)", None),
        ("[" + "results," * 15 + "results]", [[]] * 16),
    ],
)
def test_a_path_preserves_types(path, expected):
    assert one(ref("k", path)).find_in(RESPONSE) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (ref("k", "a..b"), "path 'a..b' is not valid JMESPath: there is an error at character 3"),
        ({"$ref": "k", "paht": "a"}, "a reference may have only $ref, path and default, not paht"),
        (ref("k", ""), "path '' is not valid JMESPath: there is an error"),
        (ref("k", 3), "path must be a JMESPath string"),
        (ref("k", "[" + "@," * 16 + "@]"), "path combines too many lists or objects"),
        ({"$ref": 3}, "$ref must be the memory key of a step, as a string"),
        (ref("k", "[@,@]" + "|[@,@]" * 40), "path combines too many lists or objects"),
        (ref("k", "[?`[1,1]`[?`[1,1]`]]"), "path may contain only plain values, not lists or objects"),
        (ref("k", "a" + ".a" * 300), "path is 601 characters long; the limit is 500"),
        # join and to_string could make a gigabyte of a few references.
        (ref("k", "join('x', @)"), f"path may not call join; it may call {', '.join(FUNCTIONS)}"),
    ],
)
def test_an_invalid_reference_is_explained(raw, expected):
    assert one(raw) == expected


def test_references_are_found_and_filled_anywhere_and_nothing_else():
    raw = {"a": [1, ref("x")], "b": {"c": ref("y"), "d": "{$ref}"}}

    assert [found.location for found in list_references(raw)] == [("a", 1), ("b", "c")]
    assert fill(raw, lambda at: at) == {"a": [1, ("a", 1)], "b": {"c": ("b", "c"), "d": "{$ref}"}}
    assert raw["a"][1] == ref("x")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (["data", "Revenue", "1", "v"], 2.5),
        (["data", "Revenue", "2"], None),
        (["data", "revenue"], None),
        ([], RESPONSE),
    ],
)
def test_an_output_path_is_walked_key_by_key(path, expected):
    assert get_at_path(RESPONSE, path) == expected


async def test_a_reference_passes_the_value_unchanged(runs, recorder):
    first = step(1, parameters={"n": 7, "extra": {"deep": [1, None, 2.5]}}, output_path=["data", "n"])
    second = step(2, parameters={"n": ref("k1"), "extra": ref("k1", "data.extra.deep")})
    state, _run = await ended(runs, plan(first, second))

    assert state == "completed"
    assert recorder.calls[1] == {"n": 7, "extra": [1, None, 2.5]}


@pytest.mark.parametrize(
    ("first", "reference", "note"),
    [
        (
            {},
            ref("k1", "data.nope"),
            "The reference to 'k1' at path 'data.nope', in parameters.n, has no value: nothing exists at its path",
        ),
        (
            {"parameters": {"label": "text"}, "output_path": ["data", "label"]},
            ref("k1"),
            'n must be a whole number, not the text "text"',
        ),
    ],
)
async def test_a_missing_or_invalid_value_is_an_error_before_the_call(runs, recorder, first, reference, note):
    state, run = await ended(runs, plan(step(1, **first), step(2, parameters={"n": reference})))

    assert (state, run.steps[2].note, len(recorder.calls)) == ("failed", note, 1)


async def test_a_default_replaces_a_missing_value(runs, recorder):
    a = step(1, parameters={"n": ref("nobody", default=3)})
    b = step(2, parameters={"n": ref("k1", "data.nope", default=4), "extra": ref("nobody", default=None)})
    state, _run = await ended(runs, plan(a, b))

    assert (state, recorder.calls) == ("completed", [{"n": 3}, {"n": 4, "extra": None}])


async def test_a_step_cannot_change_the_values_of_others(runs, recorder):
    async def spoil(parameters):
        parameters["extra"].append("spoilt")

    recorder.script = {"spoil": spoil}
    first = step(1, parameters={"extra": [1]}, output_path=["data", "extra"])
    later = [
        step(2, parameters={"label": "spoil", "extra": ref("k1")}),
        step(3, parameters={"extra": ref("k1")}, dependencies=[2]),
    ]
    await ended(runs, plan(first, *later))

    assert recorder.calls[2] == {"extra": [1]}
