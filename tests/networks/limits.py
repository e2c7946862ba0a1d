"""Time limits that a test lets expire, and networks that wait for each other before they answer."""

import asyncio
from dataclasses import dataclass, field

from fingerpost import clock
from fingerpost.errors import ToolError
from tests.fakes import FakeNetwork


class Limits:
    """Stands in for ``clock.time_limit``: no limit expires by itself, and each is remembered with its seconds."""

    def __init__(self, monkeypatch):
        self._of_task = {}
        self.seconds = []
        monkeypatch.setattr(clock, "time_limit", self._open)

    def _open(self, seconds):
        limit = asyncio.timeout(None)
        self.seconds.append(seconds)
        self._of_task[asyncio.current_task()] = limit
        return limit

    async def expire_mine(self):
        self._of_task[asyncio.current_task()].reschedule(asyncio.get_running_loop().time())
        await asyncio.Event().wait()


@dataclass(kw_only=True)
class MeetingNetwork(FakeNetwork):
    """A fake whose names come only once all networks of the ``meeting``, if any, have been asked.

    With ``limits`` it never answers and its limit expires; a ``failure`` is raised; ``calls`` counts queries for names.
    """

    meeting: asyncio.Barrier | None = None
    limits: Limits | None = None
    failure: Exception | None = None
    calls: int = field(default=0)

    async def find_places(self, text, *, language=None, focus=None):
        self.calls += 1
        if self.meeting is not None:
            await self.meeting.wait()
        if self.failure is not None:
            raise self.failure
        if self.limits is not None:
            await self.limits.expire_mine()
        return await super().find_places(text, language=language, focus=focus)

    async def plan_journeys(self, query):
        if self.limits is not None:
            await self.limits.expire_mine()
        if isinstance(self.failure, ToolError):
            raise self.failure
        return await super().plan_journeys(query)
