"""What trips cost, from the products that the server names (GTFS Fares v2)."""

import pytest

from tests.motis.answers import Told, a_place, a_plan, a_query, a_ride, a_walk, asking

ADULT, CHILD = {"isDefaultFareCategory": True}, {"isDefaultFareCategory": False}


def product(name, amount, currency="EUR", **category):
    return {"name": name, "amount": amount, "currency": currency, **category}


def transfer(*legs, rule=None, own=()):
    """Return what is bought for some legs: of each leg the products of one rule."""
    return {"rule": rule, "transferProducts": list(own), "effectiveFareLegProducts": [[list(each)] for each in legs]}


async def price(*transfers, legs=None):
    ride = a_ride(fareTransferIndex=0, effectiveFareLegIndex=0)
    itinerary = {"legs": legs or [a_walk(), ride], "fareTransfers": list(transfers)}
    async with asking(Told(plan=a_plan(itinerary))) as network:
        answer = await network.plan_journeys(a_query())
    return answer.itineraries[0].fare


BUS, METRO, CHANGE = product("bus", 2.0), product("metro", 3.1), product("change", 0.5)
CHILDS = product("child", 0.5, riderCategory=CHILD)


@pytest.mark.parametrize(
    ("bought", "amount", "tickets"),
    [
        ([transfer([BUS])], "2.00", ("bus",)),
        ([transfer([BUS], [METRO])], "5.10", ("bus", "metro")),
        ([transfer([BUS], [METRO], rule="A_AB_B", own=[CHANGE])], "5.60", ("bus", "metro", "change")),
        ([transfer([BUS], [METRO], rule="A_AB", own=[CHANGE])], "2.50", ("bus", "change")),
        # A change without a product is free.
        ([transfer([BUS], [METRO], rule="A_AB")], "2.00", ("bus",)),
        ([transfer([BUS], [METRO], rule="AB", own=[CHANGE])], "0.50", ("change",)),
        ([transfer([BUS]), transfer([METRO])], "5.10", ("bus", "metro")),
        ([transfer([product("day", 9.0), BUS])], "2.00", ("bus",)),
        ([transfer([CHILDS, product("adult", 2.0, riderCategory=ADULT)])], "2.00", ("adult",)),
    ],
)
async def test_a_transfer_states_what_is_bought_together(bought, amount, tickets):
    fare = await price(*bought)

    assert (fare.amount, fare.currency, fare.tickets, fare.unknown) == (amount, "EUR", tickets, None)


@pytest.mark.parametrize(
    ("bought", "words"),
    [
        ([], "names no ticket"),
        ([transfer([])], "no ticket for a part"),
        ([transfer([CHILDS])], "no ticket for a part"),
        ([transfer([BUS], rule="AB")], "no ticket for a part"),
        # Left out it would make the trip cheaper than it is.
        ([transfer([product("single", float("nan"))])], "names a ticket without what it costs"),
        ([transfer([BUS], [product("metro", 3.0, "CHF")])], "priced in CHF and EUR"),
    ],
)
async def test_values_that_cannot_be_summed_are_unknown(bought, words):
    fare = await price(*bought)

    assert (fare.amount, words in fare.unknown) == (None, True)


async def test_a_ride_without_a_fare_makes_the_trip_unknown():
    legs = [
        a_ride(fareTransferIndex=0, effectiveFareLegIndex=0),
        a_ride(15, routeShortName="N8", **{"from": a_place("Artis", "GVB_2")}),
    ]

    assert (await price(transfer([BUS]), legs=legs)).unknown == "the server states no fare for N8"


async def test_a_walk_costs_no_fare():
    assert await price(legs=[a_walk()]) is None
