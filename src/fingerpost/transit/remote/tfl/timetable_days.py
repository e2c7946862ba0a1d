"""Days of service, from the names that TfL gives its timetables: ``Monday - Thursday``, ``Mo-Th Nights/Tu-Fr Morning``.

TfL publishes no calendar: these names are all that it says of the days on which a timetable holds.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SHORT = {"thur": 3, "thurs": 3, "tues": 1, "weds": 2}
_EVERY_DAY, _WORKING_DAYS, _WEEKEND = frozenset(range(7)), frozenset(range(5)), frozenset({5, 6})
_GROUPS = {
    "daily": _EVERY_DAY,
    "everyday": _EVERY_DAY,
    "nightly": _EVERY_DAY,
    "weekday": _WORKING_DAYS,
    "weekdays": _WORKING_DAYS,
    "weekend": _WEEKEND,
    "weekends": _WEEKEND,
}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_GOOD_FRIDAY = re.compile(r"\(?\b(?:also )?good friday\b\)?")
_ALSO_HOLIDAYS = re.compile(r"(?:\band|\balso|&|,|/|\()\s*(?:also |other )*(?:public|bank) holidays?\b\)?")
_ONLY_HOLIDAYS = re.compile(r"(?:other )?(?:public|bank) holidays?")
# What a night is called by the day on which it ends: ``/Tu-Sat Morning``.
_MORNING = re.compile(r"/\s*[a-z]+(?:\s*(?:-|to)\s*[a-z]+)?\s+mornings?\b")
_NIGHT = re.compile(r"\bnights?\b")
_NO_SCHOOL = re.compile(r"\bnon[- ]?school(?:[- ]?days?)?\b")
_SCHOOL = re.compile(r"\bschool(?:[- ]?days?)?\b")
_TOKEN = re.compile(r"[a-z']+|[^\sa-z']")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedDays:
    """The days of a timetable by its name.

    ``weekdays`` count from Monday, 0, to Sunday, 6, and are empty where it holds on holidays alone.
    ``is_night`` is True for the night that begins on such a day, so that its early hours are the next day's.
    ``school`` is True for schooldays only, False for other days only, None where that does not matter.
    """

    weekdays: frozenset[int]
    is_night: bool = False
    school: bool | None = None
    also_good_friday: bool = False
    also_holidays: bool = False


@lru_cache(maxsize=512)
def find_named_days(name: str) -> NamedDays | None:
    """Return the days that a timetable's name means; None where any word of it is not understood."""
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
    weekdays = _read_weekdays(_TOKEN.findall(text))
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


def _read_weekdays(tokens: list[str]) -> frozenset[int] | None:
    """Return the weekdays of a list such as ``monday - thursday , sunday``; None where a word is no day."""
    found: set[int] = set()
    begin: int | None = None
    is_range = False
    for token in tokens:
        if token in ("-", "to"):
            if begin is None or is_range:
                return None
            is_range = True
            continue
        if token in (",", "&", "and", "/"):
            if is_range:
                return None
            continue
        if token in _GROUPS:
            found |= _GROUPS[token]
            continue
        weekday = _find_weekday(token)
        if weekday is None:
            return None
        if is_range and begin is not None:
            found |= {(begin + step) % 7 for step in range((weekday - begin) % 7 + 1)}
        found.add(weekday)
        begin, is_range = weekday, False
    return None if is_range else frozenset(found)


def _find_weekday(word: str) -> int | None:
    """Return the weekday of a word such as ``mo``, ``tue`` or ``thursdays``."""
    if word in _SHORT:
        return _SHORT[word]
    single = word.removesuffix("s") if len(word) > len("tues") else word
    for weekday, day in enumerate(_WEEK):
        if single in (day, day[:3], day[:2]):
            return weekday
    return None
