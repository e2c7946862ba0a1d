"""Names are resolved near the rider; far places and ended networks are only suggested (rule A13)."""

from datetime import date
from functools import partial

import pytest

from fingerpost.transit.model.place import Bounds
from fingerpost.transit.places import region
from tests.contracts.conftest import NOW, asker, at, label, refusal, stop_place
from tests.fakes import FakeNetwork
from tests.networks.limits import MeetingNetwork

HERE, THERE = Bounds(south=60, west=24, north=61, east=26), Bounds(south=50, west=4, north=51, east=6)
FOCUS = {"lat": 60.5, "lon": 25.0}
ENDED = date(2022, 2, 1)


@pytest.fixture
def over(tmp_path, monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", NOW)
    return partial(asker, tmp_path)


def here(*names, **fields):
    return FakeNetwork(name="HERE", bounds=HERE, places=_places("H", 60.5, 25.0, names), **fields)


def there(*names, **fields):
    return FakeNetwork(name="THERE", bounds=THERE, places=_places("T", 50.5, 5.0, names), **fields)


def _places(feed, lat, lon, names):
    return {
        name: [stop_place(f"{feed}:{name}".upper(), name, lat=lat + row / 1000, lon=lon)]
        for row, name in enumerate(names)
    }


def candidates(body):
    return [(each["id"], body["meta"]["candidates"][each["id"]]["network"]) for each in body["candidates"]]


def test_a_place_far_from_the_focus_is_a_candidate_with_its_network_and_distance(over):
    body = over(here("Gate"), there("Mall"))("findAddressOrStop", {"rawText": "Mall", "focusPoint": FOCUS}).body

    assert (candidates(body), body["meta"]["candidates"]["T:MALL"]["distance"] // 1000) == ([("T:MALL", "THERE")], 1668)


@pytest.mark.parametrize(
    ("networks", "fields", "found"),
    [
        pytest.param([there("Mall"), here("Mall")], {"focusPoint": FOCUS}, "H:MALL", id="no-rival-far-from-the-focus"),
        pytest.param([there("Mall", last_day=ENDED)], {}, "T:MALL", id="an-ended-network-where-no-other-answers"),
        pytest.param(
            [FakeNetwork(name="HERE", bounds=HERE, places=_places("H", 61.5, 25.0, ["Mall"]))],
            {},
            "H:MALL",
            id="outside-its-networks-stops-without-an-anchor",
        ),
    ],
)
def test_a_name_resolves_where_it_has_no_rival(over, networks, fields, found):
    assert over(*networks)("findAddressOrStop", {"rawText": "Mall", **fields}).body["id"] == found


def test_a_name_in_two_regions_does_not_resolve_without_a_focus(over):
    body = over(here("Mall"), there("Mall"))("findAddressOrStop", {"rawText": "Mall"}).body

    assert candidates(body) == [("H:MALL", "HERE"), ("T:MALL", "THERE")]


def test_the_board_of_a_name_in_an_ended_network_far_away_is_refused(over):
    answer = over(here("Gate"), there("Mall", last_day=ENDED))("get_departures", {"stop": label("Mall")})

    message = "stop 'Mall' has no certain match: Mall is in THERE; no network in service has a place with that name"
    assert refusal(answer)[:2] == ("validation-error", message)


SIMILAR = FakeNetwork(name="HERE", bounds=HERE, places={
    "Mall": [stop_place("H:M", "Malaga", 0.74, lat=60.5, lon=25.0)], "Gate": [stop_place("H:G", "Gate", lat=60.6)],
})  # fmt: skip


def test_a_nearby_place_that_is_only_similar_does_not_hide_a_far_one_with_the_full_name(over):
    body = over(SIMILAR, there("Mall"))("findAddressOrStop", {"rawText": "Mall", "focusPoint": FOCUS}).body

    assert [each["id"] for each in body["candidates"]] == ["T:MALL", "H:M"]


def test_a_trip_between_two_regions_is_refused_as_such_despite_similar_names(over):
    answer = over(SIMILAR, there("Mall"))("plan_trip", {"origin": label("Gate"), "destination": label("Mall")})

    assert refusal(answer)[0] == "unsupported-region"


def test_a_trip_to_a_far_name_offers_it_beside_similar_nearby_names(over):
    answer = over(SIMILAR, there("Mall"))("plan_trip", {"origin": at(60.5, 25.0), "destination": label("Mall")})

    assert [each["token"] for each in answer.body["error"]["candidates"]] == ["T:MALL", "H:M"]


@pytest.mark.parametrize(
    ("ended", "code"),
    [
        (there("Mall", "Gate", last_day=ENDED), "no-itinerary-found"),
        (here("Mall", "Gate", last_day=ENDED), "validation-error"),
    ],
    ids=["elsewhere", "where-another-network-runs"],
)
def test_an_ended_network_answers_for_its_own_names_only_where_no_other_runs(over, ended, code):
    hardly_similar = {key: [stop_place("H:M", "Malaga", 0.65, lat=60.5, lon=25.0)] for key in ("Mall", "Gate")}
    running = FakeNetwork(name="NEW", bounds=HERE, places=hardly_similar)
    answer = over(running, ended)("plan_trip", {"origin": label("Mall"), "destination": label("Gate")})

    assert refusal(answer)[0] == code


def test_an_ended_network_offers_no_place_that_a_running_one_covers(over):
    ended = FakeNetwork(name="OLD", bounds=HERE, places=_places("O", 60.6, 25.0, ["Mall"]), last_day=ENDED)
    answer = over(here("Gate"), ended)("findAddressOrStop", {"rawText": "Mall"})

    assert refusal(answer)[0] == "NO_MATCH"


TWICE = [stop_place("T:1", "Gate", lat=50.5, lon=5.1), stop_place("T:2", "Gate", lat=50.7, lon=5.1)]
GATE_TWICE = FakeNetwork(name="THERE", bounds=THERE, places=_places("T", 50.5, 5.0, ["Mall"]) | {"Gate": TWICE})


@pytest.mark.parametrize("other", [there("Mall", "Gate"), GATE_TWICE], ids=["once", "twice"])
def test_a_trip_between_names_of_two_regions_is_not_planned_in_either(over, other):
    answer = over(here("Mall", "Gate"), other)("plan_trip", {"origin": label("Mall"), "destination": label("Gate")})

    assert [each["network"] for each in answer.body["error"]["candidates"]] == ["HERE", "THERE"]


def test_the_other_end_decides_the_region_of_a_name(over):
    ask = over(here("Mall", "Gate"), there("Mall"))
    answer = ask("plan_trip", {"origin": label("Gate"), "destination": label("Mall")})

    assert answer.body["error"]["code"] == "no-itinerary-found"


@pytest.mark.parametrize(
    ("tool", "arguments", "looked_up"),
    [
        ("get_departures", {"stop": label("Mall"), "at": "2026-03-10T23:00:00"}, 1),
        (
            "plan_trip",
            {
                "origin": label("Mall"),
                "destination": label("Gate"),
                "when": {"type": "depart", "time": "2026-03-10T23:00:00"},
            },
            2,
        ),
    ],
)
def test_a_local_time_does_not_look_up_a_name_twice(over, tool, arguments, looked_up):
    """The zone of the found place decides when 23:00 is; the place stays the same."""
    network = MeetingNetwork(places=_places("H", 60.5, 25.0, ["Mall", "Gate"]))
    over(network)(tool, arguments)

    at_23_in_helsinki = 1773176400
    assert (network.calls, network.asked[0].instant) == (looked_up, at_23_in_helsinki)


def test_a_local_time_decides_which_networks_are_in_service(over):
    """At 23:00 in Helsinki, the night after its last day, the old network still runs; at 23:00 UTC it does not."""
    old = FakeNetwork(name="OLD", places=_places("O", 60.5, 25.0, ["Mall"]), last_day=date(2026, 3, 9))
    board = over(old, here("Mall"))("get_departures", {"stop": label("Mall"), "at": "2026-03-10T23:00:00"})

    assert board.body["stopId"] == "O:MALL"


def test_places_of_two_networks_are_compared_only_with_nearby_ones(monkeypatch):
    """Every place is 200 m from its twin in the other network; 1,000 of them need fewer than 10,000 comparisons."""
    compared = []
    measure = region.distance_m
    monkeypatch.setattr(region, "distance_m", lambda *ends: compared.append(ends) or measure(*ends))
    bounds = Bounds(south=59, west=24, north=71, east=26)

    def network_of(name, north_deg):
        matches = [stop_place(f"{name}:{row}", "Mall", 0.7, lat=60 + row / 100 + north_deg) for row in range(1000)]
        return FakeNetwork(name=name, bounds=bounds), matches

    found = region.merge_by_region([network_of("A", 0.0), network_of("B", 0.0018)], "Mall", focus=None, instant=0)

    assert {match.network for match in found} == {"A"}
    assert (len(found), len(compared) < 10_000) == (1000, True)
