"""The departures of a line's day, as a demo network's file writes them."""

import re

from fingerpost.transit.engine.demo.entry import TableEntry

_CLOCK = re.compile(r"(\d\d):([0-5]\d)")
_EVERY = re.compile(r"/([1-9]\d*)")


def read_departures(entry: TableEntry, key: str, text: str) -> tuple[int, ...]:
    """Return the departures of a line's day such as ``05:30 /10 07:00 /5 09:00``, in seconds, ascending.

    ``entry`` and ``key`` say where the text stands. The grammar is described in ``tables.py``.

    Raises:
        SettingsInvalid: the text is malformed, or a time is not later than the one before it.
    """
    times: list[int] = []
    every_s = 0
    for word in text.split():
        if (every := _EVERY.fullmatch(word)) and times and not every_s:
            every_s = int(every[1]) * 60
        elif clock := _CLOCK.fullmatch(word):
            anchor = int(clock[1]) * 3600 + int(clock[2]) * 60
            if times and anchor <= times[-1]:
                entry.refuse(f"'{key}' goes back in time at '{word}'")
            if every_s:
                times += range(times[-1] + every_s, anchor, every_s)
            times.append(anchor)
            every_s = 0
        else:
            entry.refuse(f"'{key}' should be times such as 05:30 and steps such as /10 between them, not '{word}'")
    if not times or every_s:
        entry.refuse(f"'{key}' should begin and end with a time")
    return tuple(times)
