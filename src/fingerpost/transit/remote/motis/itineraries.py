"""Itineraries, from the server's."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fingerpost.transit.model.itinerary import Itinerary, Mode
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.motis.legs import new_leg
from fingerpost.transit.remote.motis.modes import ON_STREET
from fingerpost.transit.remote.motis.shapes import FareTransfer, MotisItinerary, MotisLeg
from fingerpost.transit.remote.motis.stop_ids import MotisStopIds
from fingerpost.transit.rules.realtime_status import with_walk_delays


@dataclass(slots=True)
class Read:
    """The itineraries of a page, their fares, how many travel otherwise than asked, and whether walks lack lengths."""

    itineraries: list[Itinerary] = field(default_factory=list)
    fares: dict[Itinerary, Sequence[FareTransfer]] = field(default_factory=dict)
    not_asked_for: int = 0
    has_unmeasured_walk: bool = False


def read_itineraries(
    found: Iterable[MotisItinerary], query: JourneyQuery, ids: MotisStopIds, *, walks_as_expected: bool = True
) -> Read:
    """Return itineraries; one that needs a vehicle of the rider's, a rented or a booked one is left out and counted.

    ``walks_as_expected`` is False for a search on the timetable, whose walks are not moved by real time.
    """
    read = Read()
    for own in found:
        if any(leg.mode in ON_STREET and leg.trip_id is None for leg in own.legs):
            read.not_asked_for += 1
            continue
        legs = [leg for leg in own.legs if not _is_nothing(leg)]
        if not legs:
            continue
        last = len(legs) - 1
        read.has_unmeasured_walk |= any(leg.mode == Mode.WALK and leg.distance is None for leg in legs)
        made = [
            new_leg(leg, ids, query.origin if number == 0 else None, query.destination if number == last else None)
            for number, leg in enumerate(legs)
        ]
        itinerary = Itinerary(with_walk_delays(made) if walks_as_expected else tuple(made))
        read.itineraries.append(itinerary)
        read.fares[itinerary] = own.fare_transfers
    return read


def _is_nothing(leg: MotisLeg) -> bool:
    """Whether a leg is a walk of no time from a place to itself, as older servers put before the first ride."""
    here = (leg.from_.lat, leg.from_.lon) == (leg.to.lat, leg.to.lon)
    return leg.mode == Mode.WALK and leg.start_time == leg.end_time and here
