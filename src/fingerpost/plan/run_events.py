"""The events of one run as it is executed: numbered, recorded, and told to whoever watches."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from fingerpost import clock
from fingerpost.plan.journal import Event, Journal

Watch = Callable[[Event], None]
"""Callback for a run's events; it must not raise or block."""

_STAMP_S = 0.001


class RunEvents:
    """Numbers a run's events on from the last that is recorded."""

    def __init__(self, run_id: str, last_seq: int, journal: Journal) -> None:
        self._run_id = run_id
        self._seq = last_seq
        self._journal = journal
        self._watches: Sequence[Watch] = ()
        self._unreported: deque[list[Any]] = deque()
        self._stamp = ""
        self._stamped_at = -1.0

    def tell(self, watches: Sequence[Watch]) -> None:
        """Report every event to these; one that is added to them later receives events from then on."""
        self._watches = watches

    def draw(self, kind: str, number: int | None, data: str | None = None) -> Event:
        """Return the next event, which the caller records and then reports."""
        self._seq += 1
        event = Event(self._seq, self.now(), kind, number, data)
        if self._watches:
            self._unreported.append([event, False])
        return event

    def append_undurable(self, kind: str, number: int | None, data: str | None = None) -> None:
        """Record and report an event that a crash may lose."""
        event = self.draw(kind, number, data)
        self._journal.append_event(self._run_id, event)
        self.report(event)

    def report(self, *events: Event) -> None:
        """Report events to the watchers once they and all events before them are recorded."""
        if not self._unreported:
            return
        for entry in self._unreported:
            if any(entry[0] is event for event in events):
                entry[1] = True
        while self._unreported and self._unreported[0][1]:
            event = self._unreported.popleft()[0]
            for watch in self._watches:
                watch(event)

    def now(self) -> str:
        """Return the current instant; events within a millisecond share it."""
        moment = asyncio.get_running_loop().time()
        if moment - self._stamped_at > _STAMP_S:
            self._stamp = clock.now().isoformat().replace("+00:00", "Z")
            self._stamped_at = moment
        return self._stamp
