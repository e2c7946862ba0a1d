"""The complete text of plan_trip: an agent that sees only the text gets the same figures and times (rule A11)."""

from datetime import timedelta

import pytest

from fingerpost.transit.model.itinerary import Mode, ServiceAlert, StopPoint
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.model.provenance import Provenance
from tests.contracts.conftest import label, stop_place
from tests.contracts.test_plan_trip_answer import ENDS, bus, found
from tests.fakes import FakeNetwork
from tests.rules.drawing import DAY, T0, ride, trip, walk

DETOUR = ServiceAlert(id="1", header="Detour", effect="DETOUR")
HEAD = "60.1699,24.9384 to 60.2055,24.6559, depart 2022-02-22 08:00 (Europe/Helsinki)"


def lines(over, *journeys, **more):
    return over(FakeNetwork(journeys=journeys))("plan_trip", {**ENDS, **more}).text.splitlines()


def test_every_leg_is_printed_with_its_times_platform_and_status(over):
    """The trip takes 32.2 minutes; the times shown are 33 minutes apart."""
    boards, alights = (
        StopPoint(name=name, coordinate=Coordinate(60.17, 24.94), id=f"T:{name}", platform=platform)
        for name, platform in (("A", "3"), ("B", "5"))
    )
    first = ride("7", "A", "B", 5, 15, 120, headsign="Harbour")._replace(start=boards, end=alights)
    tram = ride("4", "B", "C", 20, 30, 0, mode=Mode.TRAM)
    journey = trip(walk("home", "A", 0.9, 5, 312.4), first, tram, walk("C", "work", 30, 33.1, 180))

    assert lines(over, found(journey)) == [
        HEAD,
        "1. 08:00 to 08:33, 33 min, 1 change, 492 m walk",
        "   walk 312 m, 08:00 to 08:05, to A",
        "   BUS 7 towards Harbour 08:07 A (platform 3) to B (platform 5) 08:17 delayed 120 s",
        "   wait 3 min, TRAM 4 08:20 B to C 08:30 on time",
        "   walk 180 m, 08:30 to 08:33, to work",
        '   refs for check_trip: ["T:A|:B|20220222.21900.600|trip", "T:B|:C|20220222.22800.600.0|trip"]',
        "For later trips, depart at 2022-02-22T08:01+02:00.",
    ]


@pytest.mark.parametrize(
    ("legs", "told"),
    [
        ([ride(None, "A", "B", 5, 15, mode=Mode.OTHER)], "   OTHER 08:05 A to B 08:15"),
        ([ride(None, "A", "B", 5, 15)], "   BUS 08:05 A to B 08:15"),
        ([ride(None, "A", "B", 5, 15, alerts=(DETOUR,))], "! Alert for 1: BUS: Detour"),
        ([walk("home", "A", 0, 5)._replace(distance_m=None), bus()], "   walk, 08:00 to 08:05, to A"),
    ],
)
def test_values_unknown_to_the_source_are_dropped(over, legs, told):
    assert told in lines(over, found(trip(*legs)))


def test_a_cancelled_ride_is_reported_with_its_note(over):
    text = lines(over, found(trip(bus("8", 30)), timetabled=(trip(bus(cancelled=True)),)), found())

    assert [text[row] for row in (1, 2, 4, 5)] == [
        (
            "1. 08:30 to 08:40, 10 min, 0 changes, 0 m walk "
            "[instead of a disrupted trip, 25 min later: Line 7 from A is cancelled (08:05).]"
        ),
        "   BUS 8 08:30 A to B 08:40",
        "2. 08:05 to 08:15, 10 min, 0 changes, 0 m walk [Line 7 from A is cancelled.]",
        "   BUS 7 08:05 A to B 08:15 CANCELLED",
    ]


@pytest.mark.parametrize(
    ("legs", "told"),
    [
        ([bus("8", 30)], "25 min later"),
        ([bus("8", 5)], "0 min later"),
        ([bus("8", 3)], "2 min earlier"),
        ([walk("A", "C", 0, 2, 120.0), ride("8", "C", "B", 5, 15)], "0 min later, 120 m more walking"),
        ([ride("8", "A", "C", 5, 8), ride("9", "C", "B", 11, 20)], "5 min later, 1 change more"),
        (
            [ride("8", "A", "C", 5, 8), ride("9", "C", "D", 11, 13), ride("1", "D", "B", 16, 20)],
            "5 min later, 2 changes more",
        ),
        ([ride("8", "A", "B", 5, 10), ride("9", "B", "C", 11, 20)], "5 min later, 1 change more"),
    ],
)
def test_a_replacement_of_a_disrupted_trip_states_its_cost(over, legs, told):
    text = lines(over, found(timetabled=(trip(bus(cancelled=True)),)), found(trip(*legs)))

    assert text[1].endswith(f" [instead of a disrupted trip, {told}: Line 7 from A is cancelled (08:05).]")


def test_times_of_another_day_have_their_date(over):
    assert lines(over, found(trip(ride("N", "A", "B", 955, 965))))[1:3] == [
        "1. 23:55 to 2022-02-23 00:05, 10 min, 0 changes, 0 m walk",
        "   BUS N 23:55 A to B 2022-02-23 00:05",
    ]


def test_ends_are_printed_by_name_and_a_wanted_arrival_as_one(over):
    network = FakeNetwork(
        places={"Market": [stop_place("T:M", "Market")], "Harbour": [stop_place("T:H", "Harbour", lat=60.3)]},
        journeys=[found(trip(bus()))],
        provenance=Provenance(
            network="FAKE", source="fake", zone="Europe/Helsinki", retrieved_at=T0, notes=("A demo.",),
            attribution=("Town", "Ferries"), last_day=DAY + timedelta(days=1), first_day=DAY, lost=("F is down.",),
        ),
    )  # fmt: skip
    answer = over(network)("plan_trip", {
        "origin": label("Market"), "destination": label("T:H"),
        "when": {"type": "arrive", "time": "2022-02-22T09:00:00+02:00"},
    })  # fmt: skip
    text = answer.text.splitlines()

    assert text[0] == "Market to Harbour, arrive 2022-02-22 09:00 (Europe/Helsinki)"
    assert text[3:] == [
        '   refs for check_trip: ["T:A|:B|20220222.21900.600|trip"]',
        "! origin 'Market' was resolved to Market (60.17000,24.94000).",
        "! F is down.",
        "! A demo.",
        "Data: Town; Ferries",
        "For earlier trips, arrive by 2022-02-22T08:14+02:00.",
    ]
    assert answer.body["meta"] == {
        "network": "FAKE", "source": "fake", "retrievedAt": "2022-02-22T08:00:00+02:00",
        "timeZone": "Europe/Helsinki", "language": "default", "attribution": ["Town", "Ferries"], "notes": ["A demo."],
        "lost": ["F is down."], "walking": "unknown",
    }  # fmt: skip
