"""Public holidays of England by rule, and the days on which no school is open."""

from datetime import date, timedelta
from functools import lru_cache

GOOD_FRIDAY, CHRISTMAS = "Good Friday", "Christmas Day"
_SATURDAY = 5


def find_public_holiday(day: date) -> str | None:
    """Return the name of the public holiday of a day, None where it is none.

    Holidays that are proclaimed for one year only are not known.
    """
    return _list_holidays(day.year).get(day)


def is_without_school(day: date) -> bool:
    """Whether surely no school is open: weekends, public holidays, August, and from 24 December to 1 January.

    The rest of the holidays differs from borough to borough, so any other day may be one too.
    """
    is_christmas = (day.month, day.day) >= (12, 24) or (day.month, day.day) == (1, 1)
    return day.weekday() >= _SATURDAY or day.month == 8 or is_christmas or find_public_holiday(day) is not None


@lru_cache(maxsize=16)
def _list_holidays(year: int) -> dict[date, str]:
    """Return the holidays of a year: those by the Banking and Financial Dealings Act, Good Friday and Christmas."""
    easter = _easter_sunday(year)
    found = {
        easter - timedelta(days=2): GOOD_FRIDAY,
        easter + timedelta(days=1): "Easter Monday",
        _first_monday(date(year, 5, 1)): "the early May bank holiday",
        _last_monday(date(year, 5, 31)): "the spring bank holiday",
        _last_monday(date(year, 8, 31)): "the summer bank holiday",
    }
    fixed = {date(year, 1, 1): "New Year's Day", date(year, 12, 25): CHRISTMAS, date(year, 12, 26): "Boxing Day"}
    found |= fixed
    for day, name in fixed.items():
        if day.weekday() >= _SATURDAY:
            free = day
            while free.weekday() >= _SATURDAY or free in found:
                free += timedelta(days=1)
            found[free] = f"the bank holiday for {name}"
    return found


def _first_monday(day: date) -> date:
    return day + timedelta(days=-day.weekday() % 7)


def _last_monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _easter_sunday(year: int) -> date:
    """Return Easter by the Gregorian computus in the form of Meeus, Jones and Butcher."""
    golden, century, rest = year % 19, year // 100, year % 100
    leap, leap_rest = divmod(century, 4)
    moon = (century - (century + 8) // 25 + 1) // 3
    epact = (19 * golden + century - leap - moon + 15) % 30
    quarter, quarter_rest = divmod(rest, 4)
    weekday = (32 + 2 * leap_rest + 2 * quarter - epact - quarter_rest) % 7
    late = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * late + 114, 31)
    return date(year, month, day + 1)
