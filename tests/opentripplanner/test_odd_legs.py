"""Legs of which the server knows less than others: they are told with what is left."""

import pytest

from fingerpost import clock
from tests.opentripplanner.answers import a_ride, a_walk, at
from tests.opentripplanner.odd_server import NOW, plan


@pytest.fixture(autouse=True)
def _now(monkeypatch):
    monkeypatch.setenv(clock.VARIABLE, NOW)


@pytest.mark.parametrize(
    ("leg", "told"),
    [
        (a_walk(mode="CAR"), "OTHER 12:00 Origin to Kamppi 12:05, 200 m"),
        (a_walk(mode=None), "OTHER 12:00 Origin to Kamppi 12:05, 200 m"),
        (a_ride(0, route=None), "BUS towards Tapiola 12:00 Kamppi (platform 44) to Otaniemi 12:10, 5000 m"),
    ],
)
async def test_a_leg_of_a_mode_or_a_line_that_nobody_knows_is_told_without_it(tmp_path, leg, told):
    """A newer server has modes that an older client lacks, and a ride may have no route."""
    answered = await plan(tmp_path, [leg])

    assert answered.text.splitlines()[2].strip() == told


@pytest.mark.parametrize(
    "odd",
    [
        [a_ride(20, end=at(-40))],
        [a_ride(20, start=at(20, "PT15M"), end=at(30, "PT0S"), realTime=True)],
        # Each may be ridden, and the last ends before the first begins.
        [a_walk(minute=120), a_ride()],
    ],
)
async def test_a_ride_that_ends_before_it_begins_is_not_offered(tmp_path, odd):
    """It would be the quickest of all; a note counts it. One that ends when it begins is offered."""
    answered = await plan(tmp_path, odd, [a_walk(), a_ride(end=at(5))])

    assert [each["totalDuration"] for each in answered.body["itineraries"]] == [300]
    assert answered.body["meta"]["notes"] == [
        "1 itinerary was left out, because by the server's times it ends before it begins."
    ]


async def test_impossible_trips_alone_are_no_answer(tmp_path):
    """Nothing was found to be wrong with the question."""
    answered = await plan(tmp_path, [a_ride(20, end=at(-40))])

    assert answered.body["error"]["code"] == "upstream-error"


@pytest.mark.parametrize("metres", [None, -5000])
async def test_a_walk_of_a_length_that_is_not_known_is_a_straight_line(tmp_path, metres):
    """1.2 km are told, counted, and said to be a guess; 3.4 km are beyond the limit."""
    away = {"name": "Kamppi", "lat": 60.18, "lon": 24.95, "stop": None}
    answered = await plan(tmp_path, [a_walk(metres, to=away), a_ride()])

    assert (answered.body["itineraries"][0]["walkingDistance"], "walk 1242 m" in answered.text) == (1242, True)
    assert answered.body["meta"]["notes"][-1] == (
        "The server does not say how long some walks are; they are counted as straight lines."
    )
    beyond = await plan(tmp_path, [a_walk(metres, to={**away, "lat": 60.20}), a_ride()])
    assert beyond.body["error"]["code"] == "no-itinerary-found"
