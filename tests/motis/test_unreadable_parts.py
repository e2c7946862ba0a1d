"""An answer of which a part cannot be read: the rest is answered, and what is left out is said."""

import pytest

from fingerpost.errors import SourceChanged
from tests.motis.answers import Told, a_board, a_board_query, a_place, a_plan, a_query, a_ride, a_time, a_walk, asking


@pytest.mark.parametrize("odd", [{"lat": 999}, {"lon": None}, {"lat": "north"}])
async def test_a_leg_that_cannot_be_read_costs_its_own_itinerary_alone(odd):
    """Without it the itinerary would lead nowhere."""
    broken = a_ride(**{"from": {**a_place(), **odd}})
    async with asking(Told(plan=a_plan([a_walk(), broken], [a_walk(10), a_ride(15)]))) as network:
        answered = await network.plan_journeys(a_query())

    assert [len(each.legs) for each in answered.itineraries] == [2]
    assert answered.provenance.notes == ("The server said what cannot be read, and it is left out: itineraries (1).",)


async def test_a_departure_that_cannot_be_read_is_left_out_of_its_board():
    """The other one is shown."""
    told = Told(stoptimes=a_board(a_time(5, place={**a_place(), "lat": 999}), a_time(15)))
    async with asking(told) as network:
        board = await network.list_departures(a_board_query())

    assert len(board.departures) == 1
    assert board.provenance.notes == ("The server said what cannot be read, and it is left out: stopTimes (1).",)


async def test_an_answer_of_which_nothing_can_be_read_is_none():
    """So that the network that stands in is asked."""
    async with asking(Told(plan=a_plan([a_ride(startTime="9999-12-31T23:59:59-12:00")]))) as network:
        with pytest.raises(SourceChanged, match="no itinerary that can be read"):
            await network.plan_journeys(a_query())


async def test_a_ticket_without_what_it_costs_makes_the_fare_unknown():
    """Left out it would make the trip cheaper than it is."""
    ride = a_ride(fareTransferIndex=0, effectiveFareLegIndex=0)
    ticket = {"name": "Single", "amount": float("nan"), "currency": "EUR"}
    told = a_plan({"legs": [ride], "fareTransfers": [{"effectiveFareLegProducts": [[[ticket]]]}]})
    async with asking(Told(plan=told)) as network:
        answered = await network.plan_journeys(a_query())

    assert answered.price(answered.itineraries[0]).unknown == "the server names a ticket without what it costs"
