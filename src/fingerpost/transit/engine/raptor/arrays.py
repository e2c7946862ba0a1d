"""The arrays that the RAPTOR kernels read and write, and the scratch memory of each thread.

Times are in seconds, as in ``search_timetable.build.SearchTimetable``; UNREACHED marks a missing time.
A *pattern* is a list of trip instances that serve the same stops and never overtake one another (a *route* in the
RAPTOR papers); a *trip instance* is a trip on one service day; a *position* is one stop of a pattern.
"""

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.timetable import Bool, Int32, Int64, UInt8
from fingerpost.transit.engine.timetable.walks import StopWalks

if TYPE_CHECKING:
    from fingerpost.transit.engine.raptor.search_timetable.build import SearchTimetable

UInt16 = npt.NDArray[np.uint16]
# Arrays that inner loops use as indices are unsigned.
UInt32 = npt.NDArray[np.uint32]


class PathsOfStops(NamedTuple):
    """Footpaths by stop: those of stop s are rows ``first[s] .. first[s + 1]``; ``stop`` is the other end."""

    first: UInt32
    stop: UInt32
    seconds: Int32
    metres: Int32


class Patterns(NamedTuple):
    """The patterns of a search timetable, and the footpaths and hops between its stops.

    The positions of pattern p are rows ``pattern_first[p] .. pattern_first[p + 1]``, and its trip instances are rows
    ``instance_first[p] .. instance_first[p + 1]``; the times of its j-th instance begin at ``stop_time_base[p] + j *
    (number of positions)``.
    """

    pattern_first: Int32
    position_stop: UInt32
    position_flags: UInt8
    instance_first: Int32
    stop_time_base: Int64
    arrival_s: Int32
    departure_s: Int32
    stop_first: UInt32  # where each stop's (pattern, position) pairs begin
    stop_pattern: UInt32
    stop_position: Int32
    paths: PathsOfStops  # the footpaths from each stop, and where they lead
    arriving: PathsOfStops  # the footpaths to each stop, and where they begin
    change_s: Int32
    hop_first: UInt32  # where each stop's incoming hops begin
    hop_from: UInt32  # the stop where a hop begins
    hop_s: UInt16  # (spans, hops): the shortest ride that leaves in a span, or NO_HOP
    spans_since_s: Any  # int: start of the first span; the first and last spans include earlier and later rides


class KernelQuery(NamedTuple):
    """A kernel query for the best journeys that leave in [earliest_s, window_end_s], for each number of rides.

    ``access`` holds the walks from the origin, and ``egress`` those to the destination. ``direct_s`` is the duration of
    the direct walk, or UNREACHED if it is too long. Range RAPTOR skips journeys that leave before ``window_begin_s``.
    """

    access: StopWalks
    egress: StopWalks
    earliest_s: Any  # int
    window_end_s: Any  # int
    latest_s: Any  # int: latest arrival
    direct_s: Any  # int
    max_rides: Any  # int
    max_walk_m: Any  # int
    window_begin_s: Any = -(1 << 30)  # int


class Workspace(NamedTuple):
    """Scratch memory of one thread.

    Only the arrays for the target (``egress_*``, ``bound_s``, ``horizon_s``, ``rides_*``) may outlive a search.
    """

    arrived: Int32  # (rides + 1, stops): earliest arrival with at most that many rides
    ready: Int32  # (rides + 1, stops): earliest time to board after at most that many rides
    ready_from: Int32  # (rides + 1, stops): the stop where the rider alighted, -1 at the start
    ride_pattern: Int32  # (rides + 1, stops)
    ride_instance: Int32
    ride_board: Int32
    ride_alight: Int32
    is_marked: Bool  # (2, stops)
    marked: UInt32  # (2, stops)
    is_touched: Bool
    touched: UInt32
    queue: UInt32  # patterns
    queue_position: Int32  # patterns: first position to scan from, -1 when not queued
    queue_last: Int32  # patterns: last position where riders can board, -1 when not queued
    reached_instance: Int32  # (rides + 1, patterns): this and later instances lead nowhere new after ``reached_from``
    reached_from: Int32  # (rides + 1, patterns): a position
    egress_s: Int32  # stops: UNREACHED if there is no walk to the target
    egress_m: Int32
    bound_s: Int32  # stops: least time to the target with rides that leave before ``horizon_s``
    horizon_s: Int32  # a single number
    rides_from: Int32  # stops: least number of rides for riders who wait there
    rides_after: Int32  # stops: least number of further rides for riders who alight there
    target: Int32  # rides + 1: earliest known arrival at the target, with at most that many rides
    target_stop: Int32
    is_improved: Bool  # rides + 1: whether the current departure improved ``target``


class Labels(NamedTuple):
    """Scratch memory for McRAPTOR: labels in one linked list per stop.

    A head is the newest row in a stop's list, or -1 if the list is empty.
    """

    row: Int32  # (labels, 8): the columns are named in ``kernel.mcraptor``
    aboard: Int32  # (riders, 4): labels aboard a pattern
    ready_head: Int32  # stops: labels that can board there
    reached_head: Int32  # stops: labels that arrived there by a ride
    target_row: Int32  # rides + 1: the label that reaches the target, -1 for none
    is_full: Bool  # a single flag: labels or riders were dropped because there was no room for them


class JourneyRows(NamedTuple):
    """Journeys: ``journey`` rows are (leave_s, arrive_s, rides, first leg row, total metres walked, egress_m).

    ``leg`` rows are (pattern, instance, board position, alight position, walked_m before boarding).
    """

    journey: Int32
    leg: Int32


# Initial numbers of rows; both are doubled if either is too small.
INITIAL_JOURNEYS, INITIAL_LABELS = 256, 16_384
# The maximum number of SearchBuffers per thread.
MAX_BUFFERS = 16


class SearchBuffers:
    """Scratch memory for a fixed ``max_rides`` and a fixed number of stops."""

    def __init__(self, stop_count: int, max_rides: int) -> None:
        self.stop_count, self.max_rides = stop_count, max_rides
        self.pattern_count = 0
        self._allocate(INITIAL_JOURNEYS, INITIAL_LABELS)

    def resize(self, pattern_count: int) -> None:
        """Allocate memory for at least ``pattern_count`` patterns."""
        if pattern_count > self.pattern_count:
            self.pattern_count = pattern_count
            self._allocate(len(self.found.journey), len(self.labels.row))

    def grow(self) -> None:
        """Double the room for journeys and labels, and allocate new scratch memory."""
        self._allocate(2 * len(self.found.journey), 2 * len(self.labels.row))

    def _allocate(self, journey_count: int, label_count: int) -> None:
        round_count, stop_count, pattern_count = self.max_rides + 1, self.stop_count, self.pattern_count
        shapes: list[tuple[tuple[int, ...], str]] = [
            ((round_count, stop_count), "arrived ready ready_from ride_pattern ride_instance ride_board ride_alight"),
            ((round_count, pattern_count), "reached_instance reached_from"),
            ((stop_count,), "egress_s egress_m bound_s rides_from rides_after"),
            ((round_count,), "target target_stop"),
            ((1,), "horizon_s"),
        ]
        tables: dict[str, Any] = {name: np.zeros(shape, np.int32) for shape, names in shapes for name in names.split()}
        self.work = Workspace(
            **tables,
            is_improved=np.zeros(round_count, np.bool_),
            is_marked=np.zeros((2, stop_count), np.bool_),
            marked=np.zeros((2, stop_count), np.uint32),
            is_touched=np.zeros(stop_count, np.bool_),
            touched=np.zeros(stop_count, np.uint32),
            queue=np.zeros(pattern_count, np.uint32),
            queue_position=np.full(pattern_count, -1, np.int32),
            queue_last=np.full(pattern_count, -1, np.int32),
        )
        self.found = JourneyRows(np.zeros((journey_count, 6), np.int32), np.zeros((4 * journey_count, 5), np.int32))
        self.labels = Labels(
            row=np.zeros((label_count, 8), np.int32),
            aboard=np.zeros((max(1, label_count // 16), 4), np.int32),
            ready_head=np.zeros(self.stop_count, np.int32),
            reached_head=np.zeros(self.stop_count, np.int32),
            target_row=np.zeros(self.max_rides + 1, np.int32),
            is_full=np.zeros(1, np.bool_),
        )


_thread = threading.local()


def get_thread_buffers(search_timetable: "SearchTimetable", max_rides: int) -> SearchBuffers:
    buffers_by_size: dict[tuple[int, int], SearchBuffers] = _thread.__dict__.setdefault("buffers", {})
    key = (search_timetable.stop_count, max_rides)
    if key not in buffers_by_size:
        if len(buffers_by_size) >= MAX_BUFFERS:
            buffers_by_size.clear()
        buffers_by_size[key] = SearchBuffers(*key)
    buffers = buffers_by_size[key]
    buffers.resize(search_timetable.pattern_count)
    return buffers
