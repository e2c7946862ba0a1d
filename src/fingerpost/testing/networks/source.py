"""The adapter that a source's author writes: how to serve the town, open the network, and which gaps it has."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from fingerpost.testing.networks.town import Town
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.port import Network


@dataclass(frozen=True, slots=True)
class Gap:
    """A fact, or an ability, that a source is known to lack, and why. Take one of the three kinds below."""

    reason: str

    def __str__(self) -> str:
        """Return the word and the reason."""
        return f"{self.word}: {self.reason}"

    @property
    def word(self) -> str:
        """The kind of gap in words."""
        return _WORDS.get(type(self), "gap")


class NotYetOurs(Gap):
    """The upstream could; we have not built it."""

    __slots__ = ()


class NotYetTheirs(Gap):
    """The upstream lacks it today."""

    __slots__ = ()


class Never(Gap):
    """It cannot be, by what the source is."""

    __slots__ = ()


_WORDS: dict[type[Gap], str] = {NotYetOurs: "not yet ours", NotYetTheirs: "not yet theirs", Never: "never"}


class Trouble(StrEnum):
    """What may be wrong with the server behind a source."""

    UNREACHABLE = "its server cannot be reached"
    SILENT = "its server does not answer in time"
    FAILING = "its server answers with a failure"
    LIMITING = "its server asks us to wait"
    MALFORMED = "its server answers something that is not its format"


class ConformingSource(ABC):
    """One kind of source, as the suite meets it; subclass it once for each.

    Attributes:
        name: for people.
        gaps: what it does not do, by the name of a fact or by an ability. A gap that is declared and is none fails
            the suite, so take it out when it closes. An ability that the profile does not declare needs a gap.
    """

    name: ClassVar[str]
    gaps: ClassVar[Mapping[str | Ability, Gap]] = {}

    @abstractmethod
    def open(self, town: Town) -> AbstractAsyncContextManager[Network]:
        """Return a context in which the source serves the town and its network is open.

        When it is left, nothing of the source goes on.
        """

    @asynccontextmanager
    async def open_in_trouble(self, town: Town, trouble: Trouble) -> AsyncIterator[Network]:
        """Open the network while something is wrong with its server; not for sources that have none.

        Bound its waits to a few hundredths of a second: ``SILENT`` waits them out.
        """
        raise NotImplementedError(f"{self.name} cannot say what happens where {trouble.value}")
        async with self.open(town) as network:
            yield network
