"""The times of an answer in UTC, told to a reader in the zone of the place."""

import re
from collections.abc import Iterable
from datetime import datetime
from zoneinfo import ZoneInfo

_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def list_utc_times(sentence: str) -> list[str]:
    """Return the instants in UTC that a sentence names."""
    return _UTC.findall(sentence)


class LocalTimes:
    """Prints the instants of one answer (ISO 8601) in the zone of its place, dates where the day is another.

    Where the offset changes within an answer, each time has its own.
    """

    def __init__(self, zone: str, times: Iterable[str]) -> None:
        self._zone = ZoneInfo(zone)
        local = [self._read(time) for time in times]
        offsets = {each.strftime("%z") for each in local}
        self._offset = offsets.pop() if len(offsets) == 1 else None
        self._name = zone

    @property
    def zone(self) -> str:
        """The zone to name once: ``Europe/Helsinki, UTC+02:00``, without the offset where it changes."""
        return self._name if self._offset is None else f"{self._name}, UTC{self._offset[:3]}:{self._offset[3:]}"

    def local(self, time: str) -> str:
        """Return the instant in the zone, ISO 8601 with its offset."""
        return self._read(time).isoformat()

    def day(self, time: str) -> str:
        """Return the day: ``Sat 2026-03-14``."""
        return f"{self._read(time):%a %Y-%m-%d}"

    def clock(self, time: str, day: str) -> str:
        """Return HH:MM, the day before it on another day than ``day``; seconds where there are any."""
        local = self._read(time)
        text = f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"
        if self._offset is None:
            text += f"{local:%z}"
        own = self.day(time)
        return text if own == day else f"{own} {text}"

    def sentence(self, text: str) -> str:
        """Return a sentence with its instants in UTC as clock times, the day where it is not that of the one before."""
        day = ""

        def local(found: re.Match[str]) -> str:
            nonlocal day
            told, day = self.clock(found[0], day), self.day(found[0])
            return told

        return _UTC.sub(local, text)

    def _read(self, time: str) -> datetime:
        return datetime.fromisoformat(time).astimezone(self._zone)
