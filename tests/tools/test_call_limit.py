"""A tool's own limit of calls a second (rule E2)."""

import pytest

from fingerpost.errors import SourceLimited
from fingerpost.tools.call_limit import CallLimit


def passed(times_s, per_second=2):
    """Return for each instant whether a call then passes."""
    now = iter(times_s)
    limit = CallLimit("t", per_second, lambda: next(now))
    outcomes = []
    for _ in times_s:
        try:
            limit.enter()
            outcomes.append(True)
        except SourceLimited:
            outcomes.append(False)
    return outcomes


@pytest.mark.parametrize(
    ("times_s", "expected"),
    [
        ([0.0, 0.0, 0.0], [True, True, False]),
        ([0.0, 0.5, 0.999], [True, True, False]),
        ([0.0, 0.5, 1.0], [True, True, True]),
        ([0.0, 0.9, 1.0, 1.1, 2.0], [True, True, True, False, True]),
    ],
)
def test_no_second_has_more_calls_than_the_limit(times_s, expected):
    """Two a second, in any second; what is refused does not count."""
    assert passed(times_s) == expected


def test_a_refusal_says_how_long_to_wait():
    """Until the oldest of the calls that count is a second old."""
    now = iter([10.0, 10.25])
    limit = CallLimit("t", 1, lambda: next(now))
    limit.enter()

    with pytest.raises(SourceLimited, match="t takes 1 calls a second") as refused:
        limit.enter()
    assert refused.value.retry_after_s == 0.75
