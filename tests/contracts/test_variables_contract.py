"""The user variable tools (rule C4)."""

import pytest

from tests.contracts.conftest import ANN, EVE, refusal

SPOT = {"lat": 60.1699, "lon": 24.9384}
HOME = {"key": "home", "type": "location", "value": SPOT}
BORN = "2022-02-22T06:00:00+00:00"


def keys(answer):
    return [variable["key"] for variable in answer.body["variables"]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"key": ""}, "key must not be empty"),
        ({"key": "x" * 51}, "key must have at most 50 characters; you sent 51"),
        ({"type": "place"}, "type must be 'location', 'preference' or 'other'; you sent \"place\""),
        # An explicit null is absence (rule A2).
        ({"type": "other", "value": None}, "value is missing"),
        ({"owner": "eve"}, "unknown field 'owner'; allowed: key, type, value"),
        *(({"value": value}, None) for value in (7, "home", {"lat": 91, "lon": 0}, {"lat": 60}, {**SPOT, "zip": "1"})),
    ],
)
def test_an_unsavable_value_is_refused(demo, change, message):
    code, told, hint = refusal(demo("save_user_variable", {**HOME, **change}))

    assert code == "validation-error"
    assert message is None or (told, hint) == (message, None)
    assert keys(demo("get_user_variables", {})) == []


@pytest.mark.parametrize("key", ["x", "x" * 50])
def test_saved_values_are_returned(demo, key):
    first = demo("save_user_variable", {"key": key, "type": "other", "value": False}).body
    second = demo("save_user_variable", {**HOME, "key": key}).body

    assert "previous" not in first
    assert second["previous"] == {"key": key, "type": "other"}
    assert second["variable"] == {**HOME, "key": key, "createdAt": BORN, "updatedAt": BORN}
    assert demo("get_user_variables", {}).body["variables"] == [second["variable"]]


def test_variables_are_listed_by_key_for_their_owner(demo):
    for key in ("work", "home"):
        demo("save_user_variable", {**HOME, "key": key})

    assert keys(demo("get_user_variables", {}, user=ANN)) == ["home", "work"]
    assert keys(demo("get_user_variables", {}, user=EVE)) == []


def test_one_variable_or_all_are_deleted(demo):
    for key in ("a", "b", "c"):
        demo("save_user_variable", {**HOME, "key": key})
    deleted = [
        demo("delete_user_variable", arguments).body["deleted"]
        for arguments in ({"key": "b"}, {"key": "b"}, {"all": True})
    ]

    assert deleted == [["b"], [], ["a", "c"]]


@pytest.mark.parametrize("arguments", [{}, {"key": None}, {"all": False}, {"key": "a", "all": True}])
def test_omitted_entries_are_not_deleted(demo, arguments):
    demo("save_user_variable", {**HOME, "key": "a"})
    refused = demo("delete_user_variable", arguments)

    assert refused.body["error"]["message"] == "send either the key of one variable, or all: true to delete them all"
    assert keys(demo("get_user_variables", {})) == ["a"]


@pytest.mark.parametrize("tool", ["save_user_variable", "get_user_variables", "delete_user_variable"])
def test_without_a_user_there_is_no_store(demo, tool):
    arguments = {"save_user_variable": HOME, "delete_user_variable": {"key": "home"}}.get(tool, {})

    assert refusal(demo(tool, arguments, user=None)) == (
        "validation-error",
        "no user is signed in, so no variables can be stored here",
        "Run the server locally",
    )
