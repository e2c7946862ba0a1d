"""The same question to every source that ships gives the same values; only provenance differs."""

import asyncio

import pytest

from fingerpost.testing.networks.checking import AskedNetwork
from fingerpost.testing.networks.town import NOW, new_town
from tests.conformance.embedded import EmbeddedConformance
from tests.conformance.test_conformance import SOURCES

OTHERS = [source for source in SOURCES if source is not EmbeddedConformance]


@pytest.fixture(autouse=True)
def _standing_clock(monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", NOW)


def point_of(point):
    return point.name, point.id, round(point.coordinate.lat, 5), round(point.coordinate.lon, 5)


def what_of(ride):
    return ride.mode, ride.line, ride.headsign, point_of(ride.start), point_of(ride.end)


def rides_of(answer):
    """Return each way as what a rider is told of its rides, in order."""
    told = [
        tuple(
            (
                ride.mode,
                ride.line,
                ride.headsign,
                ride.departure,
                ride.arrival,
                point_of(ride.start),
                point_of(ride.end),
            )
            for ride in itinerary.rides
        )
        for itinerary in answer.itineraries
    ]
    return sorted({each for each in told if each}, key=lambda rides: (rides[0][5], rides[-1][6], rides[0][1]))


async def ask_all(source):
    """Return what a source tells of a trip with a change, of one without, of a board and of what is near."""
    async with source().open(new_town()) as network:
        asked = AskedNetwork(network, new_town())
        plans = [
            await asked.plan("Alpha", "Gamma", "08:00"),
            await asked.plan("Alpha", "Älvsjö", "08:00", max_transfers=1),
            await asked.plan("Alpha", "Gamma", "09:00", arrive_by=True),
        ]
        board = await asked.board("Alpha", "08:00", "08:45")
        near = await network.list_stops_near(new_town().coordinate("Alpha"), 2000.0)
    rows = sorted((row.expected, row.line, row.mode, row.destination, row.stop_id) for row in board.departures)
    stops = [(point_of(each.stop), round(each.distance_m), each.modes) for each in near.stops]
    provenance = {(each.provenance.network, each.provenance.source) for each in plans}
    return {"plans": [rides_of(plan)[:1] for plan in plans], "board": rows, "stops": stops}, provenance


@pytest.mark.parametrize("source", OTHERS, ids=lambda source: source.name)
def test_every_source_tells_the_same(source):
    """Lines, modes, headsigns, stops, times, boards and distances; who told it is another source."""
    expected, from_engine = asyncio.run(ask_all(EmbeddedConformance))
    told, from_source = asyncio.run(ask_all(source))

    assert told == expected
    assert {name for name, _ in from_source} == {name for name, _ in from_engine}
    assert {kind for _, kind in from_source}.isdisjoint({kind for _, kind in from_engine})
