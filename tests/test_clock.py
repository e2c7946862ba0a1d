"""The clock: system time, or fixed by FINGERPOST_NOW."""

from datetime import UTC, datetime

import pytest

from fingerpost import clock
from fingerpost.errors import SettingsInvalid


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2022-02-22T06:00:00Z", datetime(2022, 2, 22, 6, tzinfo=UTC)),
        ("2022-02-22T08:00:00+02:00", datetime(2022, 2, 22, 6, tzinfo=UTC)),
        (" 2022-02-22T06:00:00Z ", datetime(2022, 2, 22, 6, tzinfo=UTC)),
    ],
)
def test_a_fixed_clock_does_not_advance(monkeypatch, text, expected):
    """A3: FINGERPOST_NOW is the present, whatever offset it is written with."""
    monkeypatch.setenv(clock.VARIABLE, text)
    assert (clock.find_fixed_time(), clock.now()) == (expected, expected)


@pytest.mark.parametrize("text", [None, "", "  "])
def test_a_free_clock_is_the_machines_in_utc(monkeypatch, text):
    """A3: unset or blank, now lies between two readings of the machine's clock, and is in UTC."""
    monkeypatch.delenv(clock.VARIABLE, raising=False)
    if text is not None:
        monkeypatch.setenv(clock.VARIABLE, text)
    before = datetime.now(UTC)
    now = clock.now()
    assert before <= now <= datetime.now(UTC)
    assert now.tzinfo is UTC


@pytest.mark.parametrize(
    "text", ["yesterday", "2022-02-22T06:00:00", "2022-02-30T06:00:00Z", "1645509600", "0001-01-01T00:00:00+10:00"]
)
def test_a_malformed_variable_is_the_operators_to_fix(monkeypatch, text):
    """Issue 2: a malformed FINGERPOST_NOW is one sentence with an example; so is an instant without an offset."""
    monkeypatch.setenv(clock.VARIABLE, text)
    with pytest.raises(SettingsInvalid) as caught:
        clock.now()
    assert caught.value.message == (
        f"FINGERPOST_NOW is '{text}', which is not a valid time. Write it like 2026-01-31T08:00:00Z, or unset it"
    )
