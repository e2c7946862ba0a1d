"""Parse and format RFC 3339 timestamps in a time zone."""

import re
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from fingerpost.errors import ParameterError

_RFC_3339 = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ](?P<minute>([01][0-9]|2[0-3]):[0-9]{2})"
    r"(:(?P<second>[0-5][0-9]|60)(\.[0-9]+)?)?(?P<offset>[Zz]|[+-][0-9]{2}:[0-9]{2})?"
)
# Converting a time in the first or last year to another zone may overflow.
_YEARS = range(2, 9999)
# Instants less than this many seconds in the past count as now (rule B12).
PAST_AFTER_S = 120
_OFFSET_HINT = "Write it like 2026-01-31T06:00:00Z, or with an offset like +02:00"
_HINT = "Write it like 2026-01-31T08:00:00+02:00, or now."


class QueryInstant(NamedTuple):
    """The instant of a query, and the earliest departure, which is None for past instants (rule B12).

    ``note`` says how a time without an offset was interpreted.
    """

    instant: int
    not_before: int | None
    note: str | None = None

    @property
    def is_past(self) -> bool:
        return self.not_before is None


def to_query_instant(instant: int, now: int, note: str | None = None) -> QueryInstant:
    if instant < now - PAST_AFTER_S:
        return QueryInstant(instant, None, note)
    return QueryInstant(max(instant, now), now, note)


def is_now(text: str) -> bool:
    return text.strip().lower() == "now"


def parse_instant(text: str, *, zone_name: str, now: int, field: str = "time") -> QueryInstant:
    """Parse ``now`` or an RFC 3339 timestamp with optional seconds and offset, or raise ParameterError.

    A timestamp without an offset is local time in the zone. Ambiguous times resolve to the earlier instant, skipped
    times move forward, and the note reports either case.
    """
    if is_now(text):
        return to_query_instant(now, now)
    match = _RFC_3339.fullmatch(text.strip())
    if match is None:
        raise _new_parameter_error(text, field, "is not a valid time")
    second, offset = int(match["second"] or 0), (match["offset"] or "").upper()
    try:
        # Python has no leap seconds, so use the next second.
        time = datetime.fromisoformat(f"{match['day']}T{match['minute']}:{min(second, 59):02d}{offset}")
    except ValueError:
        raise _new_parameter_error(text, field, "is not a valid time") from None
    if time.year not in _YEARS:
        raise _new_parameter_error(text, field, "is out of range")
    leap_s = second // 60
    if offset:
        return to_query_instant(int(time.timestamp()) + leap_s, now)
    instant, note = _parse_local_time(time, zone_name)
    return to_query_instant(instant + leap_s, now, note)


def parse_offset_instant(text: str, *, now: int, field: str) -> QueryInstant:
    """Parse ``now`` or an RFC 3339 timestamp with an offset (lookup contract)."""
    parsed = parse_instant(text, zone_name="UTC", now=now, field=field)
    if parsed.note is not None:
        raise ParameterError.about(field, f"{text!r} has no offset", hint=_OFFSET_HINT)
    return parsed


@lru_cache(maxsize=4_096)
def format_instant(instant: int, zone_name: str) -> str:
    return datetime.fromtimestamp(instant, ZoneInfo(zone_name)).isoformat()


@lru_cache(maxsize=4_096)
def format_utc(instant: int) -> str:
    return datetime.fromtimestamp(instant, UTC).isoformat().removesuffix("+00:00") + "Z"


@lru_cache(maxsize=4_096)
def to_local_date(instant: int, zone_name: str) -> date:
    return datetime.fromtimestamp(instant, ZoneInfo(zone_name)).date()


def _parse_local_time(naive: datetime, zone_name: str) -> tuple[int, str]:
    zone = ZoneInfo(zone_name)
    earlier, later = naive.replace(tzinfo=zone), naive.replace(tzinfo=zone, fold=1)
    instant = int(earlier.timestamp())
    interpreted = f"{format_instant(instant, zone_name)} ({zone_name})"
    note = f"{naive.isoformat()} has no offset and was interpreted as {interpreted}."
    is_clock_change = later.utcoffset() != earlier.utcoffset()
    if is_clock_change and datetime.fromtimestamp(instant, zone).replace(tzinfo=None) != naive:
        note += " Clocks skip that time on that day, so it was moved forward."
    elif is_clock_change:
        note += " Clocks show that time twice on that day; the earlier time was used."
    return instant, note


def _new_parameter_error(text: str, field: str, problem: str) -> ParameterError:
    excerpt = text if len(text) <= 40 else text[:40] + "…"
    return ParameterError(f"{excerpt!r} {problem}", {"field": field}, hint=_HINT)
