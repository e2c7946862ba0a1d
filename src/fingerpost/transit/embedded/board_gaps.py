"""Why a board is empty: when something leaves its stops behind a window in which nothing does."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import islice

from fingerpost.transit.embedded.board_calls import BoardCalls
from fingerpost.transit.embedded.boardings import Boardings
from fingerpost.transit.embedded.snapshot import Snapshot
from fingerpost.transit.engine.timetable.service_days import local_day
from fingerpost.transit.model.coverage import ServiceDays
from fingerpost.transit.port import BoardGap, DepartureQuery

# So far behind the window of an empty board its next departure is looked for; beyond that, the day is told.
_LOOK_AHEAD_S = 24 * 3600
# A stop may be closed for months: so many days of service are asked at most for what runs on them, and none
# any more behind so many departures.
_MOST_DAYS, _MOST_CALLS = 8, 1000
_DAY = timedelta(days=1)


def find_gap(snapshot: Snapshot, stops: Sequence[int], zone: str, query: DepartureQuery) -> BoardGap:
    """Return when something leaves stops behind the window of a board that has nothing."""
    end = query.instant + query.window_s
    ahead = BoardCalls(snapshot, stops, zone, replace(query, instant=end + 1, window_s=_LOOK_AHEAD_S))
    first = ahead.find_first()
    if first is not None:
        return BoardGap(next_departure=first)
    boardings = Boardings(snapshot.timetable, stops)
    days = boardings.find_days()
    beyond = ahead.last + 1
    added = ahead.find_added_from(beyond)
    since = local_day(end, zone) - _DAY  # The last evening's trips still run in the night.
    calls = () if days is None else boardings.list_after(end, islice(_days_from(days, since), _MOST_DAYS))
    off = None
    for looked_at, call in enumerate(filter(ahead.is_told, calls)):
        if looked_at > _MOST_CALLS and off is not None and local_day(call.departure, zone) > local_day(off, zone):
            break
        leaves = ahead.find_time(call)
        if ahead.is_off(call):
            off = call.departure
        elif leaves >= beyond:
            added = leaves if added is None else min(added, leaves)
            break
    last_day = None if days is None else days.last_day
    if added is not None:
        return BoardGap(next_day=local_day(added, zone), last_day=last_day)
    return BoardGap(last_day=last_day, cancelled_until=None if off is None else local_day(off, zone))


def leaves_within_a_day(snapshot: Snapshot, stops: Sequence[int], zone: str, instant: int) -> bool:
    """Whether anything leaves stops within a day of an instant."""
    query = DepartureQuery(stop_ids=(), instant=instant, window_s=_LOOK_AHEAD_S, wanted=1)
    return BoardCalls(snapshot, stops, zone, query).find_first() is not None


def _days_from(days: ServiceDays, day: date) -> Iterator[date]:
    """Yield the days of service from a day on."""
    following = days.find_next_day(day)
    while following is not None:
        yield following
        following = days.find_next_day(following + _DAY)
