"""From a question about two ends and an instant to the best journeys: the story of a search.

A window opens at the asked instant and widens until it holds enough journeys. Journeys that walk more than
the limit in sum are not simply dropped: the walk-limited search looks for what they hid.
"""

from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from fingerpost.transit.raptor.arrays import Question
from fingerpost.transit.raptor.buffers import memory_of_thread
from fingerpost.transit.raptor.endpoints import End, find_direct_walk_m
from fingerpost.transit.raptor.journeys import Journey
from fingerpost.transit.raptor.kernel.compiling import UNREACHED
from fingerpost.transit.raptor.kernel.lower_bounds import SPARE_S, look_ahead
from fingerpost.transit.raptor.kernel.mcraptor import search_walk_limited
from fingerpost.transit.raptor.kernel.range_raptor import search_window
from fingerpost.transit.raptor.kernel.transfer_points import tidy
from fingerpost.transit.raptor.reconstruct import journeys_of
from fingerpost.transit.raptor.search_timetable.build import DaySlice
from fingerpost.transit.raptor.search_timetable.cache import Slices
from fingerpost.transit.raptor.search_timetable.trip_instances import DAY_S
from fingerpost.transit.timetable.service_days import local_day
from fingerpost.transit.timetable.timetable import Int32, Timetable
from fingerpost.transit.timetable.walking import PACE_M_PER_S, straight_line_m

# The window in which journeys leave (or arrive), widened step by step until there are enough of them.
WINDOWS_S = (1800, 2 * 3600, 8 * 3600)
# Only where none leaves within the widest window is a journey of much later an answer at all.
LAST_WINDOW_S = 24 * 3600
Cost = tuple[int, int, int, int]
"""What a journey is judged by, the smaller the better: departure (its sign turned), arrival, rides, metres walked."""

# When a day offers nothing, the search goes on this many days further.
FURTHER_DAYS = (0, 2, 4, 6)
# Never look for more walk-limited journeys than this in one search.
LIMITED_TRIES = 8
# How fast a journey is guessed to be. Too fast costs little: bounds are easily made to reach further.
GUESSED_M_PER_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is asked. ``instant`` is the earliest departure, or the latest arrival where ``arrive_by``."""

    origin: End
    destination: End
    instant: int
    arrive_by: bool
    max_rides: int
    max_walk_m: int
    step_free: bool
    wanted: int


def find_journeys(timetable: Timetable, slices: Slices, wish: Wish) -> list[Journey]:
    """Return journeys that are best in time and changes, at least ``wanted`` of them where so many exist.

    None of them walks more than the limit in sum. The walk from end to end, where it is short enough, is one; then
    rides that arrive later than who walks are not promised. Nor is the order.
    """
    direct = _direct_walk(wish)
    day = local_day(wish.instant, timetable.feeds[0].zone)
    found: list[Journey] = []
    for further in FURTHER_DAYS:
        ahead = timedelta(days=-further if wish.arrive_by else further)
        piece = slices.get_slice(day + ahead, mirrored=wish.arrive_by, step_free=wish.step_free)
        earliest_s = piece.to_slice_s(wish.instant)
        if further:
            # What lies nearer has been searched: a mirrored slice reaches back a day before its own.
            earliest_s = max(earliest_s, -DAY_S if wish.arrive_by else 0)
        found = _search_slice(timetable, piece, wish, earliest_s, direct)
        if found or direct:
            break
    return found + ([direct] if direct else [])


def _direct_walk(wish: Wish) -> Journey | None:
    metres = find_direct_walk_m(wish.origin, wish.destination)
    if metres > wish.max_walk_m:
        return None
    seconds = int(np.ceil(metres / PACE_M_PER_S))
    departure = wish.instant - seconds if wish.arrive_by else wish.instant
    return Journey(departure=departure, arrival=departure + seconds, rides=(), egress_m=metres)


def _search_slice(
    timetable: Timetable, piece: DaySlice, wish: Wish, earliest_s: int, direct: Journey | None
) -> list[Journey]:
    near, far = (wish.destination, wish.origin) if wish.arrive_by else (wish.origin, wish.destination)
    direct_s = direct.arrival - direct.departure if direct else int(UNREACHED)
    ask = Question(
        near.stop, near.seconds, near.metres, far.stop, far.seconds, far.metres,
        earliest_s, earliest_s, int(UNREACHED) - 1, direct_s, wish.max_rides, wish.max_walk_m,
    )  # fmt: skip
    kept: list[Journey] = []
    is_walk_trouble = is_same_goal = False
    for window_s in (*WINDOWS_S, LAST_WINDOW_S):
        ask = ask._replace(window_end_s=earliest_s + window_s)
        journeys = run_kernel(timetable, piece, ask, is_same_goal=is_same_goal)
        is_same_goal = True
        within = [journey for journey in journeys if journey.walk_m <= wish.max_walk_m]
        if len(within) < len(journeys) and not is_walk_trouble:
            is_walk_trouble = True
            if not within and not run_kernel(timetable, piece, ask, _known_arrivals(piece, [], ask), is_same_goal=True):
                # Whoever waits loses nothing: what cannot be done now cannot be done later that day.
                return []
        kept = _prompt(piece, within, earliest_s)
        soon_count = sum(_wait_s(piece, journey, earliest_s) <= WINDOWS_S[-1] for journey in kept)
        if soon_count > wish.wanted or (soon_count and window_s == WINDOWS_S[-1]) or not journeys:
            break
    return _with_hidden(timetable, piece, ask, kept, wish.wanted) if is_walk_trouble else kept


def _prompt(piece: DaySlice, journeys: list[Journey], earliest_s: int) -> list[Journey]:
    """Leave out journeys of much later, unless they spare a change or there is nothing else."""
    soon = [journey for journey in journeys if _wait_s(piece, journey, earliest_s) <= WINDOWS_S[-1]]
    if not soon:
        return journeys
    fewest = min(journey.boardings for journey in soon)
    return soon + [journey for journey in journeys if journey.boardings < fewest]


def _wait_s(piece: DaySlice, journey: Journey, earliest_s: int) -> int:
    """Return how long after the asked instant a journey leaves, or before it arrives where the slice is mirrored."""
    return piece.to_slice_s(journey.arrival if piece.mirrored else journey.departure) - earliest_s


def _with_hidden(
    timetable: Timetable, piece: DaySlice, ask: Question, kept: list[Journey], wanted: int
) -> list[Journey]:
    """Add what journeys with too much walking hid: the best within the limit, leaving later and later."""
    together = _best(kept)
    leave_s = ask.earliest_s
    for _ in range(LIMITED_TRIES):
        known_s = _known_arrivals(piece, [each for each in together if _wait_s(piece, each, leave_s) >= 0], ask)
        limited = run_kernel(timetable, piece, ask._replace(earliest_s=leave_s), known_s, is_same_goal=True)
        together = _best([*together, *limited])
        later = [wait_s for each in together if (wait_s := _wait_s(piece, each, leave_s)) >= 0]
        if not later:
            break
        leave_s += 1 + min(later)
        if leave_s > ask.window_end_s or (len(together) > wanted and not limited):
            break
    return together


def _best(journeys: list[Journey]) -> list[Journey]:
    """Leave out journeys than which another is no worse in anything and better in something."""
    costs = {each: (-each.departure, each.arrival, each.boardings, each.walk_m) for each in journeys}
    different = set(costs.values())
    return [each for each, cost in costs.items() if not any(_beats(other, cost) for other in different)]


def _beats(other: Cost, cost: Cost) -> bool:
    return other[0] <= cost[0] and other[1] <= cost[1] and other[2] <= cost[2] and other[3] <= cost[3] and other != cost


def _known_arrivals(piece: DaySlice, journeys: list[Journey], ask: Question) -> Int32:
    """Return the earliest arrival already known for each number of rides, in the slice's count."""
    known_s = np.full(int(ask.max_rides) + 1, UNREACHED, np.int32)
    for journey in journeys:
        arrival_s = piece.to_slice_s(journey.departure if piece.mirrored else journey.arrival)
        known_s[journey.boardings :] = np.minimum(known_s[journey.boardings :], arrival_s)
    return known_s


def run_kernel(
    timetable: Timetable, piece: DaySlice, ask: Question, known_s: Int32 | None = None, *, is_same_goal: bool = False
) -> list[Journey]:
    """Ask a search kernel and read its answer: the walk-limited one where arrivals are already known.

    ``is_same_goal``: this thread's last search was on this slice with the same ends, ``max_rides`` and ``max_walk_m``,
    and this one begins no earlier.
    """
    reach_s = _guess_reach_s(timetable, ask)
    ask = _on_slice(piece, ask)
    memory = memory_of_thread(piece, int(ask.max_rides))
    while True:
        look_ahead(piece.chains, ask, memory.work, reach_s, is_same_goal)
        if known_s is None:
            count = search_window(piece.chains, ask, memory.work, memory.found)
        else:
            count = search_walk_limited(piece.chains, ask, known_s, memory.work, memory.labels, memory.found)
        if count >= 0:
            break
        memory.grow()
        # The new memory has no bounds.
        is_same_goal = False
    tidy(piece.chains, ask, memory.work, memory.found, count)
    return journeys_of(timetable, piece, memory.found, count)


def _on_slice(piece: DaySlice, ask: Question) -> Question:
    """Return a question about stops as one about what these stops are to the slice."""
    if not piece.changing.is_split:
        return ask
    near, access_stop = piece.changing.expand(ask.access_stop)
    far, egress_stop = piece.changing.expand(ask.egress_stop)
    return ask._replace(
        access_stop=access_stop, access_s=ask.access_s[near], access_m=ask.access_m[near],
        egress_stop=egress_stop, egress_s=ask.egress_s[far], egress_m=ask.egress_m[far],
    )  # fmt: skip


def _guess_reach_s(timetable: Timetable, ask: Question) -> int:
    """Return about how long the journey may take, for ``look_ahead``."""
    if not len(ask.access_stop) or not len(ask.egress_stop):
        return 0
    origin, goal = int(ask.access_stop[0]), ask.egress_stop[:1]
    lat, lon = timetable.stop_lat, timetable.stop_lon
    metres = straight_line_m(float(lat[origin]), float(lon[origin]), lat[goal], lon[goal])
    return int(metres[0] / GUESSED_M_PER_S) + SPARE_S
