"""Places for runs of plans: so many are carried on at once by one process, and callers get them in turn."""

import asyncio
from collections import Counter
from enum import Enum, auto

from fingerpost.runtime.fair_queue import FairQueue


class RunPlaces:
    """The places of one process.

    Args:
        most: how many runs have one at once.
        most_of_caller: how many of one caller.
    """

    def __init__(self, most: int, most_of_caller: int) -> None:
        self._most = most
        self._most_of_caller = most_of_caller
        self._waiting: FairQueue[RunPlace] = FairQueue()
        self._taken: Counter[str] = Counter()
        self._resting: Counter[str] = Counter()

    def ask(self, caller: str) -> "RunPlace":
        """Return a place for a run of a caller, given at once or in its turn; it has to be left in the end."""
        place = RunPlace(self, caller)
        self.wait(place)
        return place

    def wait(self, place: "RunPlace", *, is_first: bool = False) -> None:
        """Let a place wait for its turn, behind the others of its caller or before them."""
        self._waiting.put(place.caller, place, is_first=is_first)
        self._give()

    def drop(self, place: "RunPlace") -> None:
        """Let a place wait no longer."""
        self._waiting.drop(place.caller, place)

    def take_back(self, place: "RunPlace") -> None:
        """Give a place that somebody had to whoever is next."""
        _count_down(self._taken, place.caller)
        self._give()

    def may_rest(self, place: "RunPlace") -> bool:
        """Count one more run of a caller as resting, unless as many rest as may be carried on: each is in memory."""
        if self._resting[place.caller] >= self._most_of_caller:
            return False
        self._resting[place.caller] += 1
        return True

    def end_rest(self, place: "RunPlace") -> None:
        """Count a run as resting no longer."""
        _count_down(self._resting, place.caller)

    def count_before(self, place: "RunPlace") -> int:
        """Return how many runs of the same caller are given a place before one that waits."""
        return self._waiting.count_before(place.caller, place)

    def _give(self) -> None:
        while self._taken.total() < self._most and (place := self._waiting.take(self._has_room)) is not None:
            self._taken[place.caller] += 1
            place.receive()

    def _has_room(self, caller: str) -> bool:
        return self._taken[caller] < self._most_of_caller


def _count_down(count: Counter[str], caller: str) -> None:
    count[caller] -= 1
    if count[caller] == 0:
        del count[caller]


class _Standing(Enum):
    """How a run stands to its place."""

    WAITS = auto()
    HAS_IT = auto()
    RESTS = auto()
    WAITS_AGAIN = auto()
    GOES_WITHOUT = auto()


class RunPlace:
    """The place of one run: asked for, given, given back while the run rests, and left."""

    def __init__(self, places: RunPlaces, caller: str) -> None:
        self.caller = caller
        self._places = places
        self._standing = _Standing.WAITS
        self._given: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def runs_before(self) -> int | None:
        """How many runs of the same caller are begun before this one; None once it may begin."""
        return self._places.count_before(self) if self._standing is _Standing.WAITS else None

    @property
    def is_resting(self) -> bool:
        """Whether the run has given its place back for a while."""
        return self._standing in (_Standing.RESTS, _Standing.WAITS_AGAIN)

    async def wait(self, longest_s: float | None = None) -> bool:
        """Wait until the run may go on, or for so long, and return whether it may."""
        await asyncio.wait([self._given], timeout=longest_s)
        return self._given.done()

    def receive(self) -> None:
        """Be given, by whoever shares the places out."""
        if self.is_resting:
            self._places.end_rest(self)
        self._standing = _Standing.HAS_IT
        self._given.set_result(None)

    def go_without(self) -> None:
        """Let a run that waits begin without a place: what is left to do takes no time, such as to be cancelled."""
        if self._standing is _Standing.WAITS:
            self._places.drop(self)
            self._standing = _Standing.GOES_WITHOUT
            self._given.set_result(None)

    def rest(self) -> None:
        """Give the place back for a while, where there is room for one more run that rests."""
        if self._standing is _Standing.HAS_IT and self._places.may_rest(self):
            self._standing = _Standing.RESTS
            self._given = asyncio.get_running_loop().create_future()
            self._places.take_back(self)

    async def resume(self) -> None:
        """End the rest: wait for the place anew, ahead of the caller's runs that have not begun."""
        if self._standing is _Standing.RESTS:
            self._standing = _Standing.WAITS_AGAIN
            self._places.wait(self, is_first=True)
        if self.is_resting:
            await self.wait()

    def leave(self) -> None:
        """Give the place up, or wait for it no longer."""
        before, self._standing = self._standing, _Standing.GOES_WITHOUT
        if before in (_Standing.RESTS, _Standing.WAITS_AGAIN):
            self._places.end_rest(self)
        if before is _Standing.HAS_IT:
            self._places.take_back(self)
        else:
            self._places.drop(self)
