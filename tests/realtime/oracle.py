"""The delays of one ride, computed slowly stop by stop, as a reference for ``realtime_delays``."""

from typing import NamedTuple


class Told(NamedTuple):
    """What is told of one planned call: ``kind`` is none, times, skipped or silent; delays are seconds or None."""

    kind: str = "none"
    arrival_s: int | None = None
    departure_s: int | None = None


class Expected(NamedTuple):
    """When a call is expected, and whether anything is known of it."""

    arrival: int
    departure: int
    is_known: bool


def expect(planned: list[tuple[int, int]], told: list[Told], trip_delay_s: int | None) -> list[Expected]:
    delays = _carry(planned, told, trip_delay_s)
    times = [
        time + (delay or 0)
        for call, pair in zip(planned, delays, strict=True)
        for time, delay in zip(call, pair, strict=True)
    ]
    stated = [
        call.kind == "times" and delay is not None for call in told for delay in (call.arrival_s, call.departure_s)
    ]
    latest: int | None = None
    for index, is_stated in enumerate(stated):
        if is_stated:
            times[index] = latest = times[index] if latest is None else max(times[index], latest)
    for index, is_stated in enumerate(stated):
        if not is_stated:
            behind = [times[later] for later in range(index + 1, len(times)) if stated[later]]
            times[index] = min([times[index], *behind])
    for index in range(1, len(times)):
        times[index] = max(times[index], times[index - 1])
    return [
        Expected(times[2 * row], times[2 * row + 1], None not in delays[row] or told[row].kind == "skipped")
        for row in range(len(planned))
    ]


def _carry(
    planned: list[tuple[int, int]], told: list[Told], trip_delay_s: int | None
) -> list[tuple[int | None, int | None]]:
    carried = trip_delay_s
    delays: list[tuple[int | None, int | None]] = []
    for (arrival, departure), call in zip(planned, told, strict=True):
        if call.kind == "silent":
            carried = None
            delays.append((None, None))
        elif call.kind == "times":
            departure_s = call.arrival_s if call.departure_s is None else call.departure_s
            arrival_s = call.arrival_s
            if arrival_s is None:
                arrival_s = departure_s if carried is None else min(carried, departure_s + departure - arrival)
            delays.append((arrival_s, departure_s))
            carried = departure_s
        else:
            delays.append((carried, carried))
    return delays
