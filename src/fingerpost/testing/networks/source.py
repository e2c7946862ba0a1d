"""The adapter that a source's author writes: serve the town, open its network, and declare gaps."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from fingerpost.testing.networks.town import Town
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.port import Network


@dataclass(frozen=True)
class Gap:
    """A fact or an ability that a source lacks, and why; use one of the three kinds below."""

    reason: str
    word: ClassVar[str] = "gap"

    def __str__(self) -> str:
        return f"{self.word}: {self.reason}"


class NotYetOurs(Gap):
    """The upstream could; we have not built it."""

    word = "not yet ours"


class NotYetTheirs(Gap):
    """The upstream lacks it today."""

    word = "not yet theirs"


class Never(Gap):
    """It cannot be, by what the source is."""

    word = "never"


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
        gaps: what it lacks, by the name of a fact or by ability; every ability that the profile does not declare
            needs one. A declared gap that is none fails the suite.
    """

    name: ClassVar[str]
    gaps: ClassVar[Mapping[str | Ability, Gap]] = {}

    @abstractmethod
    def open(self, town: Town) -> AbstractAsyncContextManager[Network]:
        """Return a context in which the source serves the town and its network is open; it leaves no task behind."""

    @asynccontextmanager
    async def open_in_trouble(self, town: Town, trouble: Trouble) -> AsyncIterator[Network]:
        """Open the network while its server has a fault; limit its waits, because ``SILENT`` waits them out."""
        raise NotImplementedError(f"{self.name} cannot say what happens where {trouble.value}")
        async with self.open(town) as network:
            yield network
