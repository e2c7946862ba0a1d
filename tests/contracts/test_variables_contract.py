"""The user variable store as tools (rule C4)."""

import pytest

from tests.contracts.conftest import ANN, EVE, refusal

HOME = {"key": "home", "type": "location", "value": {"lat": 60.1699, "lon": 24.9384}}
BORN = "2022-02-22T06:00:00+00:00"


def keys(answer):
    return [variable["key"] for variable in answer.body["variables"]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"key": ""}, "key must not be empty"),
        ({"key": "x" * 51}, "key must have at most 50 characters; you sent 51"),
        ({"type": "place"}, "type must be 'location', 'preference' or 'other'; you sent \"place\""),
        ({"owner": "eve"}, "unknown field 'owner'; allowed: key, type, value"),
    ],
)
def test_what_cannot_be_saved_is_refused(demo, change, message):
    """C4: a validation error, and nothing is kept."""
    answer = demo("save_user_variable", {**HOME, **change})

    assert refusal(answer) == ("validation-error", message, None)
    assert keys(demo("get_user_variables", {})) == []


@pytest.mark.parametrize("value", [7, "home", {"lat": 91, "lon": 0}, {"lat": 60}, {"lat": 60, "lon": 24, "zip": "1"}])
def test_a_location_must_be_a_place(demo, value):
    """C4: an object with lat and lon in range, and nothing unknown."""
    answer = demo("save_user_variable", {**HOME, "value": value})

    assert refusal(answer)[0] == "validation-error"


@pytest.mark.parametrize("length", [1, 50])
def test_the_bounds_of_a_key_are_accepted(demo, length):
    """C4: one to fifty characters."""
    assert not demo("save_user_variable", {**HOME, "key": "x" * length}).is_error


def test_what_is_saved_comes_back(demo):
    """C4: key, type, value and both instants."""
    saved = demo("save_user_variable", HOME).body["variable"]

    assert saved == {**HOME, "createdAt": BORN, "updatedAt": BORN}
    assert demo("get_user_variables", {}).body["variables"] == [saved]


def test_replacing_says_what_was_there(demo):
    """C4: previous has key and type, and is absent the first time."""
    first = demo("save_user_variable", {**HOME, "type": "other", "value": 1}).body
    second = demo("save_user_variable", HOME).body

    assert "previous" not in first
    assert second["previous"] == {"key": "home", "type": "other"}


@pytest.mark.parametrize("value", [None, True, 0, -1.5, "", [], {}, {"a": [1, {"b": None}]}, "ä€😀"])
def test_any_json_may_be_kept(demo, value):
    """C4: what is no location is kept as it was sent."""
    arguments = {"key": "it", "type": "other", "value": value}
    answer = demo("save_user_variable", arguments)

    if value is None:
        # An explicit null is absence (rule A2).
        assert refusal(answer) == ("validation-error", "value is missing", None)
    else:
        assert demo("get_user_variables", {}).body["variables"][0]["value"] == value


def test_variables_are_listed_by_key_and_for_their_owner_alone(demo):
    """C4, A12: in order; another user sees none."""
    for key in ("work", "home"):
        demo("save_user_variable", {**HOME, "key": key})

    assert keys(demo("get_user_variables", {}, user=ANN)) == ["home", "work"]
    assert keys(demo("get_user_variables", {}, user=EVE)) == []


def test_one_variable_or_all_are_deleted(demo):
    """C4: the answer names what is gone; deleting what is not there is no error."""
    for key in ("a", "b", "c"):
        demo("save_user_variable", {**HOME, "key": key})
    deleted = [
        demo("delete_user_variable", arguments).body["deleted"]
        for arguments in ({"key": "b"}, {"key": "b"}, {"all": True})
    ]

    assert deleted == [["b"], [], ["a", "c"]]


@pytest.mark.parametrize("arguments", [{}, {"key": None}, {"all": False}, {"key": "a", "all": True}])
def test_nothing_is_deleted_by_what_was_left_out(demo, arguments):
    """C4: neither a key nor ``all``, a null key, or both at once is refused, and everything is still there."""
    demo("save_user_variable", {**HOME, "key": "a"})
    refused = demo("delete_user_variable", arguments)

    assert refused.body["error"]["message"] == "send either the key of one variable, or all: true to delete every one"
    assert keys(demo("get_user_variables", {})) == ["a"]


@pytest.mark.parametrize("tool", ["save_user_variable", "get_user_variables", "delete_user_variable"])
def test_nobody_keeps_nothing(demo, tool):
    """A12: without a user there is no store, and the hint says what to do."""
    arguments = {"save_user_variable": HOME, "delete_user_variable": {"key": "home"}}.get(tool, {})

    assert refusal(demo(tool, arguments, user=None)) == (
        "validation-error",
        "nobody is signed in, so no variables can be kept here",
        "Sign in, or run the server on this machine for yourself",
    )
