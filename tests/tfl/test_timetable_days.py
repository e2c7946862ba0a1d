"""Which of a line's timetables applies on which day, according to TfL's names."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.transit.remote.tfl.shapes import Schedule
from fingerpost.transit.remote.tfl.timetable_days import (
    RemarkKind,
    Remarks,
    choose_schedules,
    find_public_holiday,
    format_remarks,
    is_school_holiday,
    parse_named_days,
)

WEEK = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]
# Names that clients of TfL's have met.
NAMES = {
    "Monday - Thursday": "Mo Tu We Th",
    "Monday to Friday": "Mo Tu We Th Fr",
    "MondayToFriday": "Mo Tu We Th Fr",
    "Monday -Thursday Non-Schooldays": "Mo Tu We Th without school",
    "Mon-Fri Schooldays": "Mo Tu We Th Fr with school",
    "Mon-Th Schooldays": "Mo Tu We Th with school",
    "School Friday": "Fr with school",
    "Non-School Friday": "Fr without school",
    "School Monday, Tuesday, Thursday & Friday": "Mo Tu Th Fr with school",
    "Tuesday, Wednesday & Thursday": "Tu We Th",
    "Monday, Tuesday and Thursday": "Mo Tu Th",
    "Wednesdays": "We",
    "Saturday and Sunday": "Sa Su",
    "Daily": "Mo Tu We Th Fr Sa Su",
    "Saturday (also Good Friday)": "Sa and Good Friday",
    "Saturdays and Public Holidays": "Sa and holidays",
    "Sunday and other Public Holidays": "Su and holidays",
    "Bank Holidays": "and holidays",
    "Friday Night/Saturday Morning": "night of Fr",
    "Mo-Th Nights/Tu-Fr Morning": "night of Mo Tu We Th",
    "Mo-Fr Night/Tu-Sat Morning": "night of Mo Tu We Th Fr",
    "Sunday night/Monday morning - Thursday night/Friday morning": "night of Mo Tu We Th Su",
}


def draw(days):
    parts = [
        "night of" if days.is_night else "",
        " ".join(WEEK[each] for each in sorted(days.weekdays)),
        {True: "with school", False: "without school", None: ""}[days.school],
        "and Good Friday" if days.also_good_friday else "",
        "and holidays" if days.also_holidays else "",
    ]
    return " ".join(filter(None, parts))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_means_days(name):
    days = parse_named_days(name)

    assert days is not None
    assert draw(days) == NAMES[name]


@pytest.mark.parametrize(
    "name", ["Summer Monday to Friday", "Bank Holiday Monday", "Christmas Day", "Monday to", "to Monday", "", "1"]
)
def test_a_name_with_an_unknown_word_has_no_meaning(name):
    assert parse_named_days(name) is None


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(name):
    days = parse_named_days(name)

    assert days is None or days.weekdays <= frozenset(range(7))


MONDAY, FRIDAY, SATURDAY = date(2026, 6, 8), date(2026, 6, 12), date(2026, 6, 13)
TUBE = ("Monday - Thursday", "Friday", "Saturday (also Good Friday)", "Sunday")
SCHOOL = ("Mon-Fri Non-Schooldays", "Mon-Fri Schooldays", "Saturday", "Sunday")


ALL_DAY_AND_NIGHT = ("Monday to Friday", "Friday Night/Saturday Morning")
MAY_DAY = ("Monday to Friday", "Saturday", "Sunday and other Public Holidays")
GOOD_FRIDAY, EASTER_MONDAY = date(2026, 4, 3), date(2026, 4, 6)


@pytest.mark.parametrize(
    ("day", "names", "holding", "remarks"),
    [
        (MONDAY, TUBE, ["Monday - Thursday"], []),
        (FRIDAY, TUBE, ["Friday"], []),
        (SATURDAY, TUBE, ["Saturday (also Good Friday)"], []),
        # That a name was followed on a holiday is said.
        (GOOD_FRIDAY, TUBE, ["Saturday (also Good Friday)"], [RemarkKind.HOLIDAY]),
        (date(2026, 5, 4), MAY_DAY, ["Sunday and other Public Holidays"], [RemarkKind.HOLIDAY]),
        # Where no name speaks of the holiday less is promised: a Sunday's timetable, else the weekday's own.
        (EASTER_MONDAY, TUBE, ["Sunday"], [RemarkKind.HOLIDAY]),
        (EASTER_MONDAY, ("Monday - Friday",), ["Monday - Friday"], [RemarkKind.HOLIDAY]),
        (date(2026, 12, 25), TUBE, [], [RemarkKind.CHRISTMAS]),
        # Terms differ from borough to borough; of weekends and August nothing has to be guessed.
        (MONDAY, SCHOOL, ["Mon-Fri Schooldays"], [RemarkKind.SCHOOL]),
        (SATURDAY, SCHOOL, ["Saturday"], []),
        (date(2026, 8, 10), SCHOOL, ["Mon-Fri Non-Schooldays"], []),
        # The name for the fewest days holds.
        (FRIDAY, ("Mon-Fri Schooldays", "School Friday"), ["School Friday"], [RemarkKind.SCHOOL]),
        (FRIDAY, ("Monday to Friday", "Friday"), ["Friday"], []),
        # By night another timetable holds, and the narrower does not hide it.
        (FRIDAY, ALL_DAY_AND_NIGHT, list(ALL_DAY_AND_NIGHT), []),
    ],
)
def test_the_day_chooses_among_timetables_by_their_names(day, names, holding, remarks):
    said = Remarks(set)
    found = choose_schedules([Schedule(name=name) for name in names], day, "313", said)

    assert [schedule.name for schedule, _ in found] == holding
    assert [kind for kind in RemarkKind if said[kind]] == remarks


def test_an_unparsable_name_is_skipped_and_reported():
    remarks = Remarks(set)
    found = choose_schedules([Schedule(name="Summer Saturdays")], SATURDAY, "RB1", remarks)

    said = (
        "Some timetables were skipped, because the days in their names could not be parsed: RB1 ('Summer Saturdays')."
    )
    assert (found, format_remarks(remarks)) == ([], [said])


# By gov.uk: all public holidays of England of five years; 2022's spring holiday was moved by proclamation.
HOLIDAYS = {
    2021: "01-01 04-02 04-05 05-03 05-31 08-30 12-25 12-26 12-27 12-28",
    2024: "01-01 03-29 04-01 05-06 05-27 08-26 12-25 12-26",
    2025: "01-01 04-18 04-21 05-05 05-26 08-25 12-25 12-26",
    2026: "01-01 04-03 04-06 05-04 05-25 08-31 12-25 12-26 12-28",
    2027: "01-01 03-26 03-29 05-03 05-31 08-30 12-25 12-26 12-27 12-28",
}


@pytest.mark.parametrize("year", HOLIDAYS)
def test_public_holidays_are_those_of_england(year):
    days = [date(year, 1, 1) + timedelta(days=step) for step in range(365)]
    found = " ".join(f"{day:%m-%d}" for day in days if find_public_holiday(day) is not None)

    assert found == HOLIDAYS[year]


@pytest.mark.parametrize(
    ("day", "is_free"),
    [
        ("2026-07-31", False),
        ("2026-08-01", True),
        ("2026-08-31", True),
        ("2026-09-01", False),
        ("2026-12-23", False),
        ("2026-12-24", True),
        ("2027-01-01", True),
        ("2027-01-04", False),
        ("2026-06-13", True),
        ("2026-05-25", True),
    ],
)
def test_surely_no_school_is_open(day, is_free):
    assert is_school_holiday(date.fromisoformat(day)) == is_free
