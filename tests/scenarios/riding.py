"""Query the embedded engine about a drawing, and spell out the answers."""

import asyncio
from datetime import date, datetime
from zoneinfo import ZoneInfo

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.model.place import Location, LocationSource
from fingerpost.transit.port import JourneyQuery
from tests.feeds import stop_id_of, timetable_from_drawing

DAY = date(2026, 5, 6)


def ride(
    drawing,
    origin,
    destination,
    time,
    *,
    day=DAY,
    days=(DAY,),
    zone="Europe/Helsinki",
    coordinates=None,
    max_walk_m=600.0,
    tables=None,
    **asked,
):
    """Return every itinerary of a drawing as one line of text, earliest arrival first.

    ``origin`` and ``destination`` are stop names; ``time`` is ``HH:MM[:SS]`` on the day, in the zone.
    A line reads ``Alpha 08:00 A Beta 08:10``; a walk is ``walk NNNm``, and ``=`` stands before a ride for which one
    stays seated. Unplaced stops are too far apart to walk.
    """
    timetable = timetable_from_drawing(drawing, zone=zone, days=list(days), coordinates=coordinates, tables=tables)
    network = EmbeddedNetwork(NetworkRecord(name="TEST"), timetable)
    instant = int(datetime.fromisoformat(f"{day}T{time}").replace(tzinfo=ZoneInfo(zone)).timestamp())

    async def answer():
        ends = [await _at(network, name) for name in (origin, destination)]
        return await network.plan_journeys(
            JourneyQuery(origin=ends[0], destination=ends[1], instant=instant, max_walk_m=max_walk_m, **asked)
        )

    found = asyncio.run(answer())
    ordered = sorted(found.itineraries, key=lambda each: (each.arrival, -each.departure, each.transfers))
    return [_spell(each, zone) for each in ordered]


async def _at(network, name):
    place = await network.find_stop(f"TEST:{stop_id_of(name)}")
    return Location(coordinate=place.coordinate, source=LocationSource.GEOCODE, name=name, stop_ids=place.member_ids)


def _spell(itinerary, zone):
    return " ".join(_spell_leg(leg, zone) for leg in itinerary.legs)


def _spell_leg(leg, zone):
    if leg.mode is Mode.WALK:
        return f"walk {leg.distance_m:.0f}m"
    begin, end = (datetime.fromtimestamp(instant, ZoneInfo(zone)) for instant in (leg.departure, leg.arrival))
    return f"{'= ' * leg.stays_seated}{leg.start.name} {begin:%H:%M} {leg.line} {leg.end.name} {end:%H:%M}"
