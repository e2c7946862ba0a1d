"""The demo's troubles as an overlay: what the simulator writes is read like any operator's message."""

from fingerpost.transit.demo.simulator import Scenario, simulate
from fingerpost.transit.gtfs.realtime import FeedBytes, RealtimeIndex, read_realtime
from fingerpost.transit.timetable.overlay import Overlay
from fingerpost.transit.timetable.timetable import Timetable


def simulate_overlay(timetable: Timetable, index: RealtimeIndex, now: int, scenario: Scenario | None = None) -> Overlay:
    """Return what the simulator says at an instant (Unix seconds); its own scenario stands where none is given."""
    return read_realtime(timetable, index, [FeedBytes(simulate(timetable, now, scenario), now)], now)
