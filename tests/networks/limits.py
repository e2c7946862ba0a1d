"""Time limits that expire on demand, networks that wait or hang, and queries for them."""

import asyncio
from dataclasses import dataclass, field, replace

from fingerpost import clock
from fingerpost.errors import ToolError
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.networks.querying import Deadline, try_in_order
from fingerpost.transit.port import DepartureQuery, JourneyQuery
from tests.fakes import FakeNetwork


class Limits:
    """Replaces ``clock.time_limit``: limits expire only on demand, and ``seconds`` lists them."""

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
    """A fake that returns names only after all networks of the ``meeting``, if any, have been queried.

    With ``limits`` it never answers and its limit expires; ``failure`` is raised; ``calls`` counts queries for names.
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


@dataclass(kw_only=True)
class HangingNetwork(FakeNetwork):
    """Never answers while ``hangs``; a deadline of 0 passes at once."""

    hangs: bool = True
    deadline_s: float | None = 0.0
    left_s: list = field(default_factory=list)

    @property
    def profile(self):
        return replace(super().profile, answer_deadline_s=self.deadline_s, names_deadline_s=self.deadline_s)

    async def plan_journeys(self, query):
        self.left_s.append(clock.find_remaining_s())
        if self.hangs:
            self.asked.append(query)
            await asyncio.Event().wait()
        return await super().plan_journeys(query)


def board(*stop_ids):
    return DepartureQuery(stop_ids=stop_ids, instant=0, window_s=60, wanted=1)


def trip(*, stop_ids=(), **more):
    end = Location(coordinate=Coordinate(60, 25), source=LocationSource.INPUT, stop_ids=stop_ids)
    return JourneyQuery(
        origin=end, destination=replace(end, coordinate=Coordinate(60.1, 25), stop_ids=()), instant=0, **more
    )


async def plan_in_turn(network, deadline=None):
    return await try_in_order([network], lambda queried: queried.plan_journeys(trip()), deadline or Deadline())


def live(**given):
    return FakeNetwork(name="LIVE", feed_names=frozenset({"LIVE"}), **given)


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 20))
