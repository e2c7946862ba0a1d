"""The demo's simulated disruptions as a realtime overlay."""

from fingerpost.transit.engine.demo.simulator import Scenario, simulate
from fingerpost.transit.engine.gtfs.realtime import FeedBytes, RealtimeIndex, read_realtime
from fingerpost.transit.engine.timetable.overlay import Overlay
from fingerpost.transit.engine.timetable.timetable import Timetable


def simulate_overlay(timetable: Timetable, index: RealtimeIndex, now: int, scenario: Scenario | None = None) -> Overlay:
    """Return the simulated overlay at an instant (Unix seconds), for the default scenario if none is given."""
    return read_realtime(timetable, index, [FeedBytes(simulate(timetable, now, scenario), now)], now)
