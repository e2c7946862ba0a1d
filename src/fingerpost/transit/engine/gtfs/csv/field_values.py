"""Parse the fields of GTFS tables and messages."""

import re
from datetime import date
from functools import lru_cache

INTEGER_LIMIT = 1_000_000_000
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)")
# Dates in other years are errors; publishers write 2099 for "no end".
_DAY = re.compile(r"(?:199[0-9]|20[0-9]{2}|2100)[0-9]{4}")
_TIME = re.compile(r"[0-9]{1,2}:[0-5][0-9]|[0-9]{1,3}:[0-5][0-9]:[0-5][0-9]")


def parse_integer(text: str) -> int | None:
    """Parse an integer of at most nine digits; accept 3.0, but not 2,000."""
    value = None if "," in text else parse_decimal(text)
    return int(value) if value is not None and value.is_integer() and abs(value) < INTEGER_LIMIT else None


def parse_decimal(text: str) -> float | None:
    return float(text.replace(",", ".")) if _DECIMAL.fullmatch(text) else None


@lru_cache(maxsize=4096)
def parse_day(text: str) -> date | None:
    if not _DAY.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def parse_time_s(text: str) -> int | None:
    """Convert an H:MM:SS or H:MM time to seconds; hours past 24 are allowed."""
    if not _TIME.fullmatch(text):
        return None
    hours, minutes, seconds = map(int, f"{text}:0".split(":")[:3])
    return hours * 3600 + minutes * 60 + seconds
