"""find_stops (rule C3): stops near a point."""

import pytest

from fingerpost.transit.model.itinerary import Mode, NearbyStop, StopPoint
from fingerpost.transit.model.place import Coordinate
from tests.contracts.conftest import codes, refusal
from tests.fakes import FakeNetwork

CENTRE = {"lat": 60.17, "lon": 24.94}


def near(name, distance_m, *modes):
    point = StopPoint(name=name, coordinate=Coordinate(60.17, 24.94), id=f"T:{name.upper()}")
    return NearbyStop(stop=point, distance_m=distance_m, modes=modes or (Mode.BUS,))


def names(answer):
    return [stop["name"] for stop in answer.body["stops"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "coordinate is missing"),
        ({"coordinate": CENTRE, "radius": 0}, "radius must be at least 1; you sent 0"),
        ({"coordinate": CENTRE, "radius": 3001}, "radius must be at most 3000; you sent 3001"),
        (
            {"coordinate": {"lat": 95, "lon": 200}},
            "coordinate.lat must be at most 90; you sent 95; coordinate.lon must be at most 180; you sent 200",
        ),
        ({"coordinate": CENTRE, "maxResults": 0}, "maxResults must be at least 1; you sent 0"),
        ({"coordinate": CENTRE, "maxResults": 51}, "maxResults must be at most 50; you sent 51"),
    ],
)
def test_bad_input_is_a_validation_error(demo, arguments, message):
    assert refusal(demo("find_stops", arguments)) == ("validation-error", message, None)


def test_the_nearest_stops_come_first_with_their_lines(demo):
    body = demo("find_stops", {"coordinate": CENTRE, "maxResults": 2}).body

    assert body["stops"] == [
        {
            "id": "DEMO-HELSINKI:RAUTATIENTORI",
            "name": "Rautatientori",
            "coordinate": {"lat": 60.1707, "lon": 24.9408},
            "distance": 90,
            "modes": ["METRO"],
        },
        {
            "id": "DEMO-HELSINKI:RAUTATIEASEMA-TRAM",
            "name": "Rautatieasema",
            "coordinate": {"lat": 60.1706, "lon": 24.9415},
            "distance": 106,
            "modes": ["TRAM"],
        },
    ]


def test_stops_at_one_printed_distance_are_in_the_order_of_their_ids(over):
    """C3: 99.6 m and 100.4 m are both 100 m, so the id decides; 100.6 m is 101 m."""
    network = FakeNetwork(near=[near("c", 99.6), near("b", 100.4), near("a", 100.6)])

    assert names(over(network)("find_stops", {"coordinate": CENTRE})) == ["b", "c", "a"]


def test_a_filter_by_text_knows_no_accents(over):
    network = FakeNetwork(near=[near("Töölö", 10), near("Kallio", 20)])

    assert names(over(network)("find_stops", {"coordinate": CENTRE, "textFilter": "TOOL"})) == ["Töölö"]


def test_a_filter_by_mode_selects_stops_with_any_of_them(over):
    network = FakeNetwork(near=[near("m", 10, Mode.METRO), near("b", 20), near("both", 30, Mode.BUS, Mode.METRO)])
    answer = over(network)("find_stops", {"coordinate": CENTRE, "includeModes": ["METRO"]})

    assert names(answer) == ["m", "both"]


def test_filters_that_exclude_all_stops_are_named(over):
    answer = over(FakeNetwork(near=[near("b", 20)]))("find_stops", {"coordinate": CENTRE, "includeModes": ["FERRY"]})

    assert answer.text == "No stops found. The textFilter and includeModes exclude 1 stop within 500 m."


def test_a_point_outside_every_network_is_a_validation_error(demo):
    """A5: this contract has no error code for regions."""
    code, message, _ = refusal(demo("find_stops", {"coordinate": {"lat": 48.85, "lon": 2.35}}))

    assert (code, message) == ("validation-error", "coordinate lies outside every network")


def test_stops_are_looked_for_within_500_metres_and_ten_are_shown(over):
    network = FakeNetwork(near=[*(near(f"s{number:02}", number) for number in range(1, 12)), near("far", 500.5)])
    body = over(network)("find_stops", {"coordinate": CENTRE}).body

    assert [stop["distance"] for stop in body["stops"]] == list(range(1, 11))
    assert body["warnings"][0]["message"] == "11 stops are nearby; the nearest 10 are shown."


@pytest.mark.parametrize(("most", "expected"), [(1, ["truncated-results"]), (2, [])])
def test_filtered_rows_are_not_counted_as_cut(over, most, expected):
    network = FakeNetwork(near=[near("North Gate", 10), near("South Gate", 20), near("Market", 30)])

    assert (
        codes(over(network)("find_stops", {"coordinate": CENTRE, "textFilter": "gate", "maxResults": most})) == expected
    )
