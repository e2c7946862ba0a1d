"""Ask the server of a network for the names of positions, which a trip or an answer can do without."""

import asyncio
from dataclasses import dataclass, replace

from fingerpost import clock
from fingerpost.errors import SourceChanged, StorageUnavailable
from fingerpost.transit.model.place import Coordinate, Location, LocationSource, Place
from fingerpost.transit.port import Network

# How long a trip waits for the names of its ends, while it is planned and after.
ENDS_NAMED_WITHIN_S = 1.0


@dataclass(frozen=True, slots=True)
class PositionAnswer:
    """A server's name of a position; ``failure`` is a sentence on why there is none, None if the server answered."""

    place: Place | None = None
    failure: str | None = None


async def ask_position(
    network: Network, coordinate: Coordinate, language: str | None, limit_s: float | None
) -> PositionAnswer:
    """Look up the name of a position on a network's server, if it has one; failures are not raised.

    Without a ``limit_s`` the network's own limits hold.
    """
    if not network.profile.names_positions:
        return PositionAnswer()
    try:
        async with clock.time_limit(limit_s):
            return PositionAnswer(await network.find_address(coordinate, language=language, may_ask=True))
    except TimeoutError:
        return PositionAnswer(failure=f"{network.profile.name} did not name a position in time.")
    except (StorageUnavailable, SourceChanged) as error:
        return PositionAnswer(failure=f"{network.profile.name} did not name a position: {error.message}.")


@dataclass(frozen=True, slots=True)
class NamedEnds:
    """The ends of a trip, under the names that its server knows; ``notes`` say why it named none."""

    origin: Location
    destination: Location
    notes: tuple[str, ...] = ()
    attribution: tuple[str, ...] = ()


async def name_ends(network: Network, origin: Location, destination: Location, language: str) -> NamedEnds:
    """Name the ends of a trip that are bare positions; sent to the server that plans the trip, and to no other."""
    named = await asyncio.gather(*(_name_end(network, end, language) for end in (origin, destination)))
    (origin, first), (destination, second) = named
    failures = dict.fromkeys(answer.failure for answer in (first, second) if answer.failure is not None)
    attribution = [line for answer in (first, second) if answer.place for line in answer.place.attribution]
    return NamedEnds(origin, destination, tuple(failures), tuple(dict.fromkeys(attribution)))


async def _name_end(network: Network, end: Location, language: str) -> tuple[Location, PositionAnswer]:
    if end.name is not None or end.stop_ids or end.source is not LocationSource.INPUT:
        return end, PositionAnswer()
    answer = await ask_position(network, end.coordinate, language, ENDS_NAMED_WITHIN_S)
    return (end if answer.place is None else replace(end, name=answer.place.name)), answer
