"""The ride of a ref on a server whose journey search does not return it: the board has it, or it is gone."""

import pytest

from fingerpost.transit.model.ride_ref import RideRef, list_refs
from fingerpost.transit.remote.kit.network import find_ref_ride
from tests.contracts.conftest import leaving, provenance, stop_place
from tests.fakes import FakeNetwork
from tests.rules.drawing import at, ride, trip


async def look_up(*rows, journeys=(), stops=("A", "B")):
    [ref] = list_refs(trip(ride("7", "A", "B", 5, 15)._replace(trip_id="7-5")))
    network = FakeNetwork(
        places={name: [stop_place(f"T:{name}", name)] for name in stops}, departures=rows, journeys=[journeys]
    )
    return await find_ref_ride(network, RideRef.read(ref), "en", provenance())


@pytest.mark.parametrize(
    ("row", "expected", "notes"),
    [
        (
            leaving(5, departure_delay_s=90),
            (False, at(6.5), at(16.5)),
            ("FAKE does not report when 7 arrives; the arrival time assumes that the delay stays the same.",),
        ),
        (leaving(5, cancelled=True), (True, at(5), at(15)), ()),
    ],
)
async def test_a_ride_that_only_the_board_has_is_found(row, expected, notes):
    answer = await look_up(row)
    [leg] = answer.itineraries[0].legs
    assert (leg.cancelled, leg.departure, leg.arrival) == expected
    assert answer.provenance.notes == notes


async def test_a_ride_that_skips_the_last_stop_is_not_taken_for_the_same():
    elsewhere = trip(ride("7", "A", "C", 5, 20)._replace(trip_id="7-5"))
    answer = await look_up(leaving(5), journeys=[elsewhere])
    assert (answer.itineraries[0].legs[0].end.id, answer.provenance.notes != ()) == ("T:B", True)


@pytest.mark.parametrize(
    ("stops", "reason"), [(("A", "B"), "FAKE lists no such ride from A"), (("A",), "FAKE has no stop with the id T:B")]
)
async def test_a_ride_that_is_gone_gives_the_reason(stops, reason):
    answer = await look_up(leaving(7), stops=stops)
    assert (answer.itineraries, answer.no_result_reason) == ((), reason)
