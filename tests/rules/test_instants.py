"""Parsing and formatting instants (rule A4)."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.errors import ParameterError
from fingerpost.transit.rules.times import format_instant, format_utc, parse_instant
from tests.rules.drawing import T0

HELSINKI = "Europe/Helsinki"


def read(text: str, zone_name: str = HELSINKI):
    return parse_instant(text, zone_name=zone_name, now=T0 - 3593)


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2022-02-22T06:00:00Z", "2022-02-22T06:00:00Z"),
        ("2022-02-22t06:00:00z", "2022-02-22T06:00:00Z"),
        ("2022-02-22 06:00Z", "2022-02-22T06:00:00Z"),
        ("2022-02-22T08:00:00+02:00", "2022-02-22T06:00:00Z"),
        ("2022-02-22T00:30:00-05:30", "2022-02-22T06:00:00Z"),
        ("2022-02-22T06:00:00.999Z", "2022-02-22T06:00:00Z"),
        ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
        (" now ", "2022-02-22T05:00:07Z"),
        ("NOW", "2022-02-22T05:00:07Z"),
    ],
)
def test_instants_with_an_offset(text, utc):
    actual = read(text)

    assert (format_utc(actual.instant), actual.note) == (utc, None)


@pytest.mark.parametrize(
    ("text", "zone_name", "printed", "note_ends"),
    [
        ("2022-02-22T08:00:00", HELSINKI, "2022-02-22T08:00:00+02:00", "(Europe/Helsinki)."),
        ("2022-07-01T08:00", "Europe/London", "2022-07-01T08:00:00+01:00", "(Europe/London)."),
        # 02:59 is the last minute before the clock skips an hour, 03:00 is the first that is skipped.
        ("2022-03-27T02:59:59", HELSINKI, "2022-03-27T02:59:59+02:00", "(Europe/Helsinki)."),
        ("2022-03-27T03:00:00", HELSINKI, "2022-03-27T04:00:00+03:00", "so it was moved forward."),
        ("2022-03-27T03:59:59", HELSINKI, "2022-03-27T04:59:59+03:00", "so it was moved forward."),
        ("2022-03-27T04:00:00", HELSINKI, "2022-03-27T04:00:00+03:00", "(Europe/Helsinki)."),
        # 03:00 to 04:00 come twice in the night of the fold.
        ("2022-10-30T03:30:00", HELSINKI, "2022-10-30T03:30:00+03:00", "the earlier time was used."),
        ("2022-10-30T04:00:00", HELSINKI, "2022-10-30T04:00:00+02:00", "(Europe/Helsinki)."),
    ],
)
def test_instants_without_an_offset(text, zone_name, printed, note_ends):
    """A4: read in the network's zone and said so; a skipped time moves forward, a repeated one is the earlier."""
    actual = read(text, zone_name)

    assert format_instant(actual.instant, zone_name) == printed
    assert actual.note is not None
    assert actual.note.endswith(note_ends)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tomorrow",
        "2022-02-22",
        "2022-02-30T06:00:00Z",
        "2022-02-22T24:00:00Z",
        "2022-02-22T06:00:00+24:00",
        "2022-02-22T06:00:00 Europe/Helsinki",
        "２０２２-02-22T06:00:00Z",  # noqa: RUF001  # full-width digits
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "x" * 500,
    ],
)
def test_bad_texts_are_refused_with_help(text):
    with pytest.raises(ParameterError) as caught:
        parse_instant(text, zone_name=HELSINKI, now=T0, field="when.time")

    error = caught.value
    assert (error.details, error.hint) == ({"field": "when.time"}, "Write it like 2026-01-31T08:00:00+02:00, or now.")
    assert len(error.message) < 80


@settings(deadline=None)
@given(st.integers(0, 4_000_000_000), st.sampled_from([HELSINKI, "Europe/London", "America/New_York", "Asia/Kolkata"]))
def test_printed_values_can_be_parsed(instant, zone_name):
    actual = parse_instant(format_instant(instant, zone_name), zone_name="UTC", now=0)

    assert (actual.instant, actual.note) == (instant, None)


@settings(deadline=None)
@given(st.datetimes(min_value=datetime(1980, 1, 1), max_value=datetime(2100, 1, 1)))
def test_reading_in_a_zone_never_goes_back(naive):
    """A4: a text without offset keeps its clock time, or is moved forward by less than a day."""
    naive = naive.replace(microsecond=0)

    actual = read(naive.isoformat())

    shown = datetime.fromisoformat(format_instant(actual.instant, HELSINKI)).replace(tzinfo=None)
    assert (shown == naive) is ("skip" not in (actual.note or ""))
    assert 0 <= (shown - naive).total_seconds() < 86_400
    assert datetime.fromtimestamp(actual.instant, UTC).microsecond == 0


@settings(deadline=None)
@given(st.text(max_size=40))
def test_no_text_breaks_the_reader(text):
    try:
        actual = read(text).instant
    except ParameterError as error:
        actual = error.details["field"]

    assert actual == "time" or isinstance(actual, int)
