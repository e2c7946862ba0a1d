"""The adapter that a source's author writes for the conformance suite: serve the town, open its network."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from enum import StrEnum
from typing import ClassVar

from fingerpost.testing.networks.town import Town
from fingerpost.transit.port import Network


class Trouble(StrEnum):
    """A fault of the server behind a source."""

    UNREACHABLE = "its server cannot be reached"
    SILENT = "its server does not answer in time"
    FAILING = "its server answers with a failure"
    LIMITING = "its server asks us to wait"
    MALFORMED = "its server answers something that is not its format"


class ConformingSource(ABC):
    """One kind of source under test.

    Attributes:
        name: for people.
        gaps: the reason of each missing feature, by the name of a fact, of a ``Trouble`` or an ability; every ability
            that the profile does not declare needs one. A gap that is none fails the suite.
    """

    name: ClassVar[str]
    gaps: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def open(self, town: Town) -> AbstractAsyncContextManager[Network]:
        """Return a context in which the source serves the town and its network is open; it leaves no task behind."""

    @asynccontextmanager
    async def open_in_trouble(self, town: Town, trouble: Trouble) -> AsyncIterator[Network]:
        """Open the network while its server has a fault; limit its waits, because ``SILENT`` waits them out."""
        raise NotImplementedError(f"{self.name} cannot show what happens if {trouble.value}")
        async with self.open(town) as network:
            yield network
