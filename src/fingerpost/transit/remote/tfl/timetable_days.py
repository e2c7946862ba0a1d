"""Choose TfL's timetables for a day by their names, because TfL publishes no calendar."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise

from fingerpost.transit.remote.kit.answers import list_first
from fingerpost.transit.remote.tfl.shapes import Schedule

GOOD_FRIDAY, CHRISTMAS = "Good Friday", "Christmas Day"
_SATURDAY = 5


def find_public_holiday(day: date) -> str | None:
    """Return the name of the public holiday on a day; holidays proclaimed for a single year are not included."""
    return _list_holidays(day.year).get(day)


def is_school_holiday(day: date) -> bool:
    """Whether all schools are closed: on weekends and public holidays, in August, and from 24 December to 1 January.

    Other school holidays differ by borough.
    """
    is_christmas = (day.month, day.day) >= (12, 24) or (day.month, day.day) == (1, 1)
    return day.weekday() >= _SATURDAY or day.month == 8 or is_christmas or find_public_holiday(day) is not None


@lru_cache(maxsize=16)
def _list_holidays(year: int) -> dict[date, str]:
    """Return the holidays under the Banking and Financial Dealings Act, plus Good Friday and Christmas."""
    easter = _compute_easter_sunday(year)
    holidays = {
        easter - timedelta(days=2): GOOD_FRIDAY,
        easter + timedelta(days=1): "Easter Monday",
        _find_last_monday(date(year, 5, 7)): "the early May bank holiday",
        _find_last_monday(date(year, 5, 31)): "the spring bank holiday",
        _find_last_monday(date(year, 8, 31)): "the summer bank holiday",
    }
    fixed = {date(year, 1, 1): "New Year's Day", date(year, 12, 25): CHRISTMAS, date(year, 12, 26): "Boxing Day"}
    holidays |= fixed
    for day, name in fixed.items():
        if day.weekday() >= _SATURDAY:
            substitute = day
            while substitute.weekday() >= _SATURDAY or substitute in holidays:
                substitute += timedelta(days=1)
            holidays[substitute] = f"the bank holiday for {name}"
    return holidays


def _find_last_monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _compute_easter_sunday(year: int) -> date:
    """Compute Easter Sunday with the Meeus/Jones/Butcher algorithm."""
    golden, century, year_of_century = year % 19, year // 100, year % 100
    leap_centuries, century_mod_4 = divmod(century, 4)
    moon = (century - (century + 8) // 25 + 1) // 3
    epact = (19 * golden + century - leap_centuries - moon + 15) % 30
    quarter, quarter_rest = divmod(year_of_century, 4)
    weekday = (32 + 2 * century_mod_4 + 2 * quarter - epact - quarter_rest) % 7
    late = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * late + 114, 31)
    return date(year, month, day + 1)


_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_EVERY_DAY, _WORKING_DAYS, _WEEKEND = frozenset(range(7)), frozenset(range(5)), frozenset({5, 6})
_GROUPS = {
    _EVERY_DAY: "daily everyday nightly",
    _WORKING_DAYS: "weekday weekdays",
    _WEEKEND: "weekend weekends",
}
_SHORT = {1: "tues", 2: "weds", 3: "thur thurs"}
_DAYS = {word: days for days, words in _GROUPS.items() for word in words.split()} | {
    word: frozenset({weekday})
    for weekday, day in enumerate(_WEEK)
    for word in (day, f"{day}s", day[:3], day[:2], *_SHORT.get(weekday, "").split())
}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_GOOD_FRIDAY = re.compile(r"\(?\b(?:also )?good friday\b\)?")
_ALSO_HOLIDAYS = re.compile(r"(?:\band|\balso|&|,|/|\()\s*(?:also |other )*(?:public|bank) holidays?\b\)?")
_ONLY_HOLIDAYS = re.compile(r"(?:other )?(?:public|bank) holidays?")
# The mornings on which nights end, such as ``/Tu-Sat Morning``.
_MORNING = re.compile(r"/\s*[a-z]+(?:\s*(?:-|to)\s*[a-z]+)?\s+mornings?\b")
_NIGHT = re.compile(r"\bnights?\b")
_NO_SCHOOL = re.compile(r"\bnon[- ]?school(?:[- ]?days?)?\b")
_SCHOOL = re.compile(r"\bschool(?:[- ]?days?)?\b")
_COMMA, _DASH = re.compile(r"[,&/]|\band\b"), re.compile(r"-|\bto\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedDays:
    """The days on which a timetable applies, according to its name.

    ``weekdays`` holds 0 (Monday) to 6 (Sunday), and is empty if the name covers only holidays. ``is_night`` is True
    for the night that begins on such a day. ``school`` is True for school days only, False for non-school days only.
    """

    weekdays: frozenset[int]
    is_night: bool = False
    school: bool | None = None
    also_good_friday: bool = False
    also_holidays: bool = False


@lru_cache(maxsize=512)
def parse_named_days(name: str) -> NamedDays | None:
    """Parse a timetable's name; return None if it contains an unknown word."""
    text = " ".join(_CAMEL.sub(" ", name).replace("\u2013", "-").lower().split())
    if _ONLY_HOLIDAYS.fullmatch(text):
        return NamedDays(weekdays=frozenset(), also_holidays=True)
    text, good_fridays = _GOOD_FRIDAY.subn(" ", text)
    text, holidays = _ALSO_HOLIDAYS.subn(" ", text)
    text = _MORNING.sub(" ", text)
    text, nights = _NIGHT.subn(" ", text)
    text, without_school = _NO_SCHOOL.subn(" ", text)
    text, with_school = _SCHOOL.subn(" ", text)
    school = False if without_school else True if with_school else None
    weekdays = _read_weekdays(text)
    if weekdays == frozenset() and school is not None:
        weekdays = _WORKING_DAYS
    if weekdays is None or not (weekdays or good_fridays):
        return None
    return NamedDays(
        weekdays=weekdays,
        is_night=bool(nights),
        school=school,
        also_good_friday=bool(good_fridays),
        also_holidays=bool(holidays),
    )


def _read_weekdays(text: str) -> frozenset[int] | None:
    """Parse a list such as ``monday - thursday , sunday``; return None if a word is not a day."""
    weekdays: set[int] = set()
    for part in _COMMA.split(text):
        sides = [[_DAYS.get(word) for word in side.split()] for side in _DASH.split(part)]
        known_words = [[days for days in side if days is not None] for side in sides]
        if known_words != sides:
            return None
        weekdays.update(weekday for side in known_words for days in side for weekday in days)
        for left, right in pairwise(known_words):
            if not left or not right or len(left[-1]) > 1 or len(right[0]) > 1:
                return None
            (begin,), (end,) = left[-1], right[0]
            weekdays.update((begin + step) % 7 for step in range((end - begin) % 7))
    return frozenset(weekdays)


_SUNDAY = 6
_MAX_NAMED = 12


class RemarkKind(StrEnum):
    """Notes on timetables; each is followed by the names of the lines that it concerns."""

    NO_TIMETABLE = "TfL has no timetable at this stop for"
    NO_ANSWER = "TfL did not return the timetables for"
    NOT_REQUESTED = "There are too many lines to request all of their timetables; the missing ones are"
    DIRECTIONS_NOT_REQUESTED = "There are too many directions to request all of their timetables; some are missing for"
    DAYS_UNKNOWN = "Some timetables were skipped, because the days in their names could not be parsed:"
    FREQUENCY_ONLY = "Parts of timetables were skipped, because TfL says only how often trips run:"
    HOLIDAY = "TfL does not say which timetable applies on each public holiday; these were assumed:"
    CHRISTMAS = "TfL usually runs no service on Christmas Day, so there are no departures for"
    WHOLE_STATION = "TfL's timetables have no platforms; the departures shown are from the whole station for"
    SCHOOL = "TfL does not say when schools are open; a school day was assumed for"


Remarks = defaultdict[RemarkKind, set[str]]
"""Texts that name lines, keyed by kind of remark."""


def choose_schedules(
    schedules: Sequence[Schedule], day: date, line: str, remarks: Remarks
) -> list[tuple[Schedule, bool]]:
    """Return the timetables for a day as (timetable, whether it is for the night); add remarks about the choice.

    For the day and for the night, the most specific timetable applies: ``School Friday`` overrides
    ``Mon-Fri Schooldays``.
    """
    named = [(schedule, parse_named_days(schedule.name)) for schedule in schedules]
    remarks[RemarkKind.DAYS_UNKNOWN] |= {f"{line} ('{schedule.name}')" for schedule, days in named if days is None}
    chosen: list[tuple[Schedule, bool]] = []
    for is_night in (False, True):
        candidates = [(schedule, days) for schedule, days in named if days is not None and days.is_night is is_night]
        chosen += [(schedule, is_night) for schedule in _choose(candidates, day, line, remarks)]
    return chosen


def _choose(named: Sequence[tuple[Schedule, NamedDays]], day: date, line: str, remarks: Remarks) -> list[Schedule]:
    holiday = find_public_holiday(day)
    if holiday is None:
        return _choose_by_weekday(named, day, day.weekday(), line, remarks)
    chosen = [
        schedule for schedule, days in named if days.also_holidays or (holiday == GOOD_FRIDAY and days.also_good_friday)
    ]
    if not chosen and named:
        if holiday == CHRISTMAS:
            remarks[RemarkKind.CHRISTMAS].add(f"{line} ({day})")
            return []
        # Most lines run their Sunday service on holidays, and showing too few trips is safer than too many.
        is_by_day = not any(days.is_night for _, days in named)
        has_sunday = any(_SUNDAY in days.weekdays for _, days in named)
        weekday = _SUNDAY if is_by_day and has_sunday else day.weekday()
        chosen = _choose_by_weekday(named, day, weekday, line, remarks)
    remarks[RemarkKind.HOLIDAY] |= {f"{line} ('{schedule.name}', {holiday})" for schedule in chosen}
    return chosen


def _choose_by_weekday(
    named: Sequence[tuple[Schedule, NamedDays]], day: date, weekday: int, line: str, remarks: Remarks
) -> list[Schedule]:
    on_weekday = [(schedule, days) for schedule, days in named if weekday in days.weekdays]
    is_school = not is_school_holiday(day)
    in_force = [(schedule, days) for schedule, days in on_weekday if days.school in (None, is_school)]
    narrowest = min((_rank_days(days) for _, days in in_force), default=None)
    # Days on which all schools are closed need no assumption.
    if is_school and any(days.school is not None for _, days in on_weekday):
        remarks[RemarkKind.SCHOOL].add(f"{line} ({day})")
    return [schedule for schedule, days in in_force if _rank_days(days) == narrowest]


def _rank_days(days: NamedDays) -> tuple[bool, int]:
    """Return a sort key that puts names that mention schools first, then names with fewer days."""
    return days.school is None, len(days.weekdays)


def format_remarks(remarks: Remarks) -> list[str]:
    return [f"{kind.value} {list_first(sorted(remarks[kind]), _MAX_NAMED)}." for kind in RemarkKind if remarks[kind]]
