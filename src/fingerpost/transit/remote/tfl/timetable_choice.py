"""Which of a route's timetables holds on a day; what cannot be known from their names is remarked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from fingerpost.transit.remote.tfl.english_holidays import (
    CHRISTMAS,
    GOOD_FRIDAY,
    find_public_holiday,
    is_without_school,
)
from fingerpost.transit.remote.tfl.timetable_days import NamedDays, find_named_days
from fingerpost.transit.remote.tfl.timetable_shapes import Schedule

_SUNDAY = 6
_MOST_NAMED = 12


class RemarkKind(StrEnum):
    """What must be said of a timetable; the sentence before the lines that it holds for."""

    NO_TIMETABLE = "TfL has no timetable here of"
    NOT_TOLD = "TfL did not answer for the timetables of"
    NOT_ASKED = "Too many lines call here to ask for all at once; left out are"
    DAYS_UNKNOWN = "Left out, because the days that their names mean are not known, are timetables of"
    FREQUENCY_UNKNOWN = "Left out, because TfL tells a frequency of unknown meaning, are parts of the timetables of"
    HOLIDAY_FOLLOWED = "Taken because their names mention public holidays were timetables of"
    HOLIDAY_GUESSED = "TfL does not say what runs on a public holiday; what is shown is a guess of"
    CHRISTMAS = "Nothing is shown, because TfL ordinarily runs nothing on Christmas Day, of"
    WHOLE_STATION = "TfL's timetables tell no platforms; listed is what leaves the whole station by"
    SCHOOL = "TfL does not say when schools are open; a school day was assumed of"


@dataclass(frozen=True, slots=True)
class TimetableRemark:
    """Something that must be said of a line; ``detail`` is a name or a day."""

    kind: RemarkKind
    line: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ChosenSchedule:
    """A timetable that holds on a day; ``is_night`` where its early hours are the next day's."""

    schedule: Schedule
    is_night: bool


def choose_schedules(
    schedules: Sequence[Schedule], day: date, line: str
) -> tuple[list[ChosenSchedule], tuple[TimetableRemark, ...]]:
    """Return the timetables that hold on a day, and what must be said of the choice.

    By day and by night the one for the fewest days holds: ``School Friday`` goes before ``Mon-Fri Schooldays``.
    """
    remarks = [
        TimetableRemark(RemarkKind.DAYS_UNKNOWN, line, f"'{each.name}'")
        for each in schedules
        if find_named_days(each.name) is None
    ]
    known = [(each, days) for each in schedules if (days := find_named_days(each.name)) is not None]
    chosen: list[ChosenSchedule] = []
    for is_night in (False, True):
        of_kind = [(each, days) for each, days in known if days.is_night is is_night]
        found, remark = _choose(of_kind, day, line)
        chosen += [ChosenSchedule(each, is_night) for each in found]
        remarks += remark
    return chosen, tuple(remarks)


def _choose(
    known: Sequence[tuple[Schedule, NamedDays]], day: date, line: str
) -> tuple[list[Schedule], list[TimetableRemark]]:
    """Return which of one kind, day or night, hold on a day."""
    holiday = find_public_holiday(day)
    if holiday is None:
        return _choose_by_weekday(known, day, day.weekday(), line)
    named = [each for each, days in known if _names(days, holiday)]
    if named:
        return named, [
            TimetableRemark(RemarkKind.HOLIDAY_FOLLOWED, line, f"'{each.name}', {holiday}") for each in named
        ]
    if not known:
        return [], []
    if holiday == CHRISTMAS:
        return [], [TimetableRemark(RemarkKind.CHRISTMAS, line, str(day))]
    # Most lines run on a holiday what they run on a Sunday; to promise less is safer than to promise more.
    is_by_day = not any(days.is_night for _, days in known)
    has_sunday = any(_SUNDAY in days.weekdays for _, days in known)
    weekday = _SUNDAY if is_by_day and has_sunday else day.weekday()
    found, remarks = _choose_by_weekday(known, day, weekday, line)
    guess = [TimetableRemark(RemarkKind.HOLIDAY_GUESSED, line, f"'{each.name}', {holiday}") for each in found]
    return found, remarks + guess


def _choose_by_weekday(
    known: Sequence[tuple[Schedule, NamedDays]], day: date, weekday: int, line: str
) -> tuple[list[Schedule], list[TimetableRemark]]:
    """Return which hold on a weekday: of those for schooldays or other days the fitting ones, and the most special."""
    of_weekday = [(each, days) for each, days in known if weekday in days.weekdays]
    is_school = not is_without_school(day)
    holding = [(each, days) for each, days in of_weekday if days.school in (None, is_school)]
    narrowest = min((_width(days) for _, days in holding), default=None)
    # Of days that are surely without school nothing has to be guessed.
    is_guess = is_school and any(days.school is not None for _, days in of_weekday)
    remarks = [TimetableRemark(RemarkKind.SCHOOL, line, str(day))] if is_guess else []
    return [each for each, days in holding if _width(days) == narrowest], remarks


def _names(days: NamedDays, holiday: str) -> bool:
    """Whether a timetable's name says that it holds on a holiday."""
    return days.also_holidays or (holiday == GOOD_FRIDAY and days.also_good_friday)


def _width(days: NamedDays) -> tuple[bool, int]:
    """Return how general a name is: what speaks of schools goes first, then what is for fewer days."""
    return days.school is None, len(days.weekdays)


def say_remarks(remarks: Iterable[TimetableRemark]) -> list[str]:
    """Return a sentence for each kind of remark, with its lines, each once and bounded."""
    by_kind: dict[RemarkKind, dict[str, list[str]]] = {}
    for each in dict.fromkeys(remarks):
        details = by_kind.setdefault(each.kind, {}).setdefault(each.line, [])
        details += [each.detail] if each.detail else []
    return [f"{kind.value} {_say_lines(by_kind[kind])}." for kind in RemarkKind if kind in by_kind]


def _say_lines(by_line: dict[str, list[str]]) -> str:
    named = [f"{line} ({'; '.join(details)})" if details else line for line, details in sorted(by_line.items())]
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    return ", ".join(named[:_MOST_NAMED]) + more
