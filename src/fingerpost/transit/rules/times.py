"""Parse and format instants in a time zone."""

import re
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from fingerpost.errors import ParameterError

_RFC_3339 = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ](?P<minute>[0-9]{2}:[0-9]{2})(:(?P<second>[0-9]{2})(\.[0-9]+)?)?"
    r"(?P<offset>[Zz]|[+-][0-9]{2}:[0-9]{2})?"
)
# The first and the last year of the calendar cannot be moved into every zone.
_YEARS = range(2, 9999)
# Instants that passed less than this ago mean now (rule B12).
PAST_AFTER_S = 120
_OFFSET_HINT = "Write it like 2026-01-31T06:00:00Z, or with an offset like +02:00"
_HINT = "Write it like 2026-01-31T08:00:00+02:00, or now."


class ReadInstant(NamedTuple):
    instant: int
    note: str | None = None


class AskedInstant(NamedTuple):
    """The instant of a query, and the present, before which nobody can leave; None for a query about the past (B12)."""

    instant: int
    not_before: int | None

    @property
    def is_past(self) -> bool:
        return self.not_before is None


def place_in_time(instant: int, now: int) -> AskedInstant:
    if instant < now - PAST_AFTER_S:
        return AskedInstant(instant, None)
    return AskedInstant(max(instant, now), now)


def is_now(text: str) -> bool:
    return text.strip().lower() == "now"


def read_instant(text: str, *, zone_name: str, now: int, field: str = "time") -> ReadInstant:
    """Parse ``now`` or an RFC 3339 text; seconds and offset are optional.

    Without an offset the text is a local time of the zone. If clocks show it twice, the earlier instant is used; if
    they skip it, it moves forward. The note says so. Other texts raise ParameterError.
    """
    if is_now(text):
        return ReadInstant(now)
    match = _RFC_3339.fullmatch(text.strip())
    if match is None:
        raise _refusal(text, field, "is not an instant")
    second = int(match["second"] or 0)
    try:
        # RFC 3339 allows leap seconds; Python does not, so it is the second after.
        naive = datetime.fromisoformat(f"{match['day']}T{match['minute']}:{min(second, 59):02d}")
        offset = match["offset"]
        aware = datetime.fromisoformat(f"{naive.isoformat()}{offset.upper()}") if offset else None
    except ValueError:
        raise _refusal(text, field, "is not an instant") from None
    if second > 60:
        raise _refusal(text, field, "is not an instant")
    if naive.year not in _YEARS:
        raise _refusal(text, field, "is too far away")
    leap_s = second // 60
    if aware is not None:
        return ReadInstant(int(aware.timestamp()) + leap_s)
    instant, note = _read_in_zone(naive, zone_name)
    return ReadInstant(instant + leap_s, note)


def read_offset_instant(text: str, *, now: int, field: str) -> int:
    """Read ``now`` or an RFC 3339 text; a text without an offset is refused (lookup contract)."""
    read = read_instant(text, zone_name="UTC", now=now, field=field)
    if read.note is not None:
        raise ParameterError.about(field, f"{text!r} has no offset", hint=_OFFSET_HINT)
    return read.instant


# Legs that follow each other share an instant.
@lru_cache(maxsize=4_096)
def format_instant(instant: int, zone_name: str) -> str:
    return datetime.fromtimestamp(instant, _zone(zone_name)).isoformat()


def format_utc(instant: int) -> str:
    return datetime.fromtimestamp(instant, UTC).isoformat().removesuffix("+00:00") + "Z"


def local_date_of(instant: int, zone_name: str) -> date:
    return datetime.fromtimestamp(instant, _zone(zone_name)).date()


def _read_in_zone(naive: datetime, zone_name: str) -> tuple[int, str]:
    zone = _zone(zone_name)
    earlier, later = naive.replace(tzinfo=zone), naive.replace(tzinfo=zone, fold=1)
    instant = int(earlier.timestamp())
    note = f"{naive.isoformat()} has no offset and was read as {format_instant(instant, zone_name)} ({zone_name})."
    skipped = later.utcoffset() != earlier.utcoffset()
    if skipped and datetime.fromtimestamp(instant, zone).replace(tzinfo=None) != naive:
        note += " Clocks skip that time on that day, so it was moved forward."
    elif skipped:
        note += " Clocks show that time twice on that day; the earlier one was used."
    return instant, note


def _refusal(text: str, field: str, complaint: str) -> ParameterError:
    shown = text if len(text) <= 40 else text[:40] + "…"
    return ParameterError(f"{shown!r} {complaint}", {"field": field}, hint=_HINT)


@cache
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def is_zone(name: str | None) -> bool:
    try:
        return bool(name) and bool(ZoneInfo(name or "").key)
    except (OSError, ValueError, KeyError):
        return False
