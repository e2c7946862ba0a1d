"""Correlation ids."""

import uuid

import pytest

from fingerpost import clock
from fingerpost.contract.published_tool import new_correlation_id

NOON = "2022-02-22T12:00:00Z"


def test_a_fixed_clock_gives_one_id_to_one_question(monkeypatch):
    """A3: clock, user, tool and arguments, in any order; a refused call can be found in the logs too."""
    monkeypatch.setenv(clock.VARIABLE, NOON)
    one = new_correlation_id("ada", "plan_trip", {"limit": 2, "origin": "x"})
    assert new_correlation_id("ada", "plan_trip", {"origin": "x", "limit": 2}) == one
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
