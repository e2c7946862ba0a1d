"""Canonical JSON and correlation ids."""

import uuid

import pytest

from fingerpost import clock
from fingerpost.contract.identity import encode_canonical, new_correlation_id

NOON = "2022-02-22T12:00:00Z"


def test_canonical_json_is_sorted_and_compact():
    """A3: one text for one value."""
    value = {"b": [1, "ä"], "a": {"y": None, "x": True}}
    assert encode_canonical(value) == '{"a":{"x":true,"y":null},"b":[1,"\\u00e4"]}'


@pytest.mark.parametrize(
    ("left", "right", "same"), [(2.0, 2, True), (-0.0, 0, True), (2.5, 2, False), (True, 1, False), ("2", 2, False)]
)
def test_a_float_without_a_fraction_is_an_integer(left, right, same):
    """A3: 2.0 and 2 are one number; a boolean and a text are not."""
    assert (encode_canonical({"limit": left}) == encode_canonical({"limit": right})) == same


def _nested():
    value: list = []
    for _ in range(100_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), {1: 2}, object(), {"a": {1, 2}}, pytest.param(_nested(), id="without end")]
)
def test_values_other_than_json_have_no_canonical_form(value):
    """A3: nothing is guessed; a value deeper than the machine can walk is refused like any other."""
    with pytest.raises(ValueError, match=r"JSON"):
        encode_canonical(value)


def test_a_fixed_clock_gives_one_id_to_one_question(monkeypatch):
    """A3: clock, user, tool and arguments, in any order; a refused call can be found in the logs too."""
    monkeypatch.setenv(clock.VARIABLE, NOON)
    one = new_correlation_id("ada", "plan_trip", {"limit": 2, "origin": "x"})
    assert new_correlation_id("ada", "plan_trip", {"origin": "x", "limit": 2.0}) == one
    not_json = new_correlation_id("ada", "plan_trip", {"lat": float("nan")})
    assert (uuid.UUID(one).version, uuid.UUID(not_json).version) == (5, 5)


@pytest.mark.parametrize(
    ("now", "user", "tool", "arguments"),
    [
        ("2022-02-22T12:00:01Z", "ada", "plan_trip", {}),
        (NOON, "bob", "plan_trip", {}),
        (NOON, None, "plan_trip", {}),
        (NOON, "ada", "get_departures", {}),
        (NOON, "ada", "plan_trip", {"limit": 1}),
    ],
)
def test_another_question_has_another_id(monkeypatch, now, user, tool, arguments):
    """A3: each of the four parts counts."""
    monkeypatch.setenv(clock.VARIABLE, NOON)
    one = new_correlation_id("ada", "plan_trip", {})
    monkeypatch.setenv(clock.VARIABLE, now)
    assert new_correlation_id(user, tool, arguments) != one


def test_a_free_clock_gives_every_call_its_own_id():
    """A3, D12: UUID v4, one a call."""
    ids = [new_correlation_id("ada", "plan_trip", {}) for _ in range(2)]
    assert [uuid.UUID(text).version for text in ids] == [4, 4]
    assert len(set(ids)) == 2
