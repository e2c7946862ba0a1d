"""Retry-After as RFC 9110 defines it, and as servers send it."""

from datetime import UTC, datetime

import pytest

from fingerpost.errors import SourceLimited
from fingerpost.net.outcomes import find_failure, find_retry_after, may_retry
from fingerpost.net.response import Response

NOW = datetime(2026, 10, 21, 7, 28, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("120", 120.0),
        (" 0 ", 0.0),
        ("99999999", 86_400.0),
        ("Wed, 21 Oct 2026 07:30:00 GMT", 120.0),
        ("Wed, 21 Oct 2026 07:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("", None),
        ("Tue, 10 Mar 2026 10:01:10 +99999999999999999999", None),
        ("Tue, 10 Mar 99999999999999999999 10:01:10 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value, expected):
    assert find_retry_after(value, NOW) == expected


@pytest.mark.parametrize("date", ["Tue, 10 Mar 2026 10:01:10 +99999999999999999999", "soon", ""])
def test_a_source_without_a_readable_clock_is_judged_by_ours(date):
    headers = {"date": date, "retry-after": "Wed, 21 Oct 2026 07:30:00 GMT"}
    response = Response(status=429, headers=headers, body=b"", redacted_url="https://town.example/", retrieved_at=NOW)

    assert find_failure(response, NOW).retry_after_s == 120.0


@pytest.mark.parametrize(("remaining_s", "retries"), [(5.0, False), (5.1, True)])
def test_a_retry_needs_more_time_than_its_wait(remaining_s, retries):
    assert may_retry(SourceLimited("full", retry_after_s=5.0), remaining_s) is retries
