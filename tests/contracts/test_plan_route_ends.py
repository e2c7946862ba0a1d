"""The lookup contract: the two ends of a route, and errors in planRoute's arguments or its source."""

import pytest

from fingerpost.transit.model.place import Bounds
from tests.contracts.conftest import label, stop_place
from tests.contracts.test_plan_route_contract import LEAVING, ask, tram
from tests.fakes import FakeNetwork
from tests.rules.drawing import trip

PLACES = {
    "alpha": [stop_place("T:A", "Alpha")],
    "beta": [stop_place("T:B", "Beta", lat=60.3)],
    "unsure": [stop_place("T:A", "Alpha", 0.7), stop_place("T:B", "Beta", 0.6, lat=60.3)],
}


def named_network(**more):
    return FakeNetwork(places=PLACES, journeys=[[trip(tram(5, 15))]], **more)


def candidate(stop_id, name, lat, score):
    return {
        "id": stop_id, "name": name, "primaryLanguage": "default", "type": "STOP",
        "coordinate": {"lat": lat, "lon": 24.94}, "confidenceScore": score, "rawQuery": "unsure",
    }  # fmt: skip


@pytest.mark.parametrize("side", ["origin", "destination"])
def test_an_ambiguous_end_names_its_side_and_its_candidates(over, side):
    ends = {"origin": {"rawText": "alpha"}, "destination": {"rawText": "beta"}, side: {"rawText": "unsure"}}
    answer = ask(over, named_network(), **ends)
    error = answer.body["error"]

    assert (error["category"], error["code"]) == ("DISAMBIGUATION_REQUIRED", "MULTIPLE_CANDIDATES")
    assert error["recommendation"] == f"Send the intended candidate as {side}"
    assert error["details"] == {
        "side": side,
        "candidates": [candidate("T:A", "Alpha", 60.17, 0.7), candidate("T:B", "Beta", 60.3, 0.6)],
        "totalCandidatesFound": 2,
        "truncated": False,
        "needsClarification": True,
        "autoResolvedThreshold": 0.8,
    }
    assert ("T:A" in answer.text, "T:B" in answer.text) == (True, True)


def resolved(**more):
    return {
        "name": "Alpha",
        "primaryLanguage": "fi",
        "type": "STOP",
        "coordinate": {"lat": 60.17, "lon": 24.94},
        "confidenceScore": 1,
        "rawQuery": "alpha",
        **more,
    }


def test_a_resolved_stop_is_that_stops_place(over):
    """M22, B10: its id decides, not its coordinate or a variable of the same name."""
    network = named_network()
    ask = over(network)
    ask("save_user_variable", {"key": "T:A", "type": "location", "value": {"lat": 61, "lon": 25}})
    ask("planRoute", {**LEAVING, "origin": resolved(id="T:A", coordinate={"lat": 1, "lon": 1})})

    assert network.journeys_asked[0].origin.stop_ids == ("T:A",)


def test_a_resolved_but_unknown_stop_is_refused(over):
    error = ask(over, named_network(), origin=resolved(id="T:X", name="alpha")).body["error"]

    assert (error["category"], error["code"]) == ("NOT_FOUND", "STOP_NOT_FOUND")
    assert error["message"] == "origin: no stop has the id 'T:X'"
    assert error["details"]["side"] == "origin"


def test_a_resolved_address_is_its_position_and_name(over):
    network = named_network()
    ask(over, network, origin=resolved(type="ADDRESS", name="Home street 1"))
    origin = network.journeys_asked[0].origin

    assert (origin.coordinate.lat, origin.name, origin.stop_ids) == (60.17, "Home street 1", ())


@pytest.mark.parametrize(
    ("origin", "stop"),
    [
        ({"rawText": "alpha"}, "T:A"),
        ({"rawText": "T:A"}, "T:A"),
        ({"rawText": "t:a"}, "T:A"),
        ({"rawText": "home"}, None),
    ],
)
def test_a_text_is_a_variable_a_token_or_a_name(over, origin, stop):
    network = named_network()
    ask = over(network)
    ask("save_user_variable", {"key": "home", "type": "location", "value": {"lat": 61, "lon": 25}})
    ask("planRoute", {**LEAVING, "origin": origin})
    found = network.journeys_asked[0].origin

    assert (found.stop_ids, found.coordinate.lat) == (((stop,), 60.17) if stop else ((), 61.0))


def test_a_resolved_name_is_reported(over):
    answer = ask(over, named_network(), origin={"rawText": "alpha"})

    assert answer.body["metadata"]["warnings"] == [
        {"code": "label-geocoded", "message": "origin 'alpha' was resolved to Alpha (60.17000,24.94000)."}
    ]


@pytest.mark.parametrize("text", ["alpha", "T:A", "60.17,24.94"])
@pytest.mark.parametrize(("metres", "is_found"), [(112, True), (111, False)])
def test_the_distance_is_a_hard_limit_for_an_end_too(over, text, metres, is_found):
    """M4, D2: 111.2 m from the focus point, as a name, a token or a position."""
    origin = {"rawText": text, "focusPoint": {"lat": 60.169, "lon": 24.94}, "maxDistanceMeters": metres}
    answer = ask(over, named_network(), origin=origin)

    assert answer.is_error is not is_found
    if not is_found:
        error = answer.body["error"]
        assert (error["code"], error["details"]["side"]) == ("NO_MATCH", "origin")


def test_a_text_that_resembles_no_place_is_no_match_as_in_the_lookup(over):
    """A5: in all tools of the lookup contract."""
    ask_over = over(named_network())
    answers = [ask(over, named_network(), origin={"rawText": "zzz"}), ask_over("findAddressOrStop", {"rawText": "zzz"})]

    assert {(a.body["error"]["category"], a.body["error"]["code"]) for a in answers} == {("NO_RESULTS", "NO_MATCH")}


@pytest.mark.parametrize(
    ("origin", "destination"),
    [
        ({"rawText": "60.17,24.94"}, {"rawText": "60.17,24.94"}),
        ({"rawText": "alpha"}, {"rawText": "T:A"}),
        (resolved(id="T:A"), resolved(id="T:A")),
        (resolved(), {"rawText": "60.170001,24.94"}),
    ],
)
def test_the_two_ends_must_differ(over, origin, destination):
    error = ask(over, named_network(), origin=origin, destination=destination).body["error"]

    assert (error["category"], error["message"]) == ("VALIDATION", "origin and destination must differ")


@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        ({"rawText": ""}, "origin.rawText must not be empty"),
        (resolved(coordinate=1), "origin.coordinate must be an object, not the number 1"),
    ],
)
def test_an_error_in_an_end_is_named_by_its_field(over, end, sentence):
    assert ask(over, named_network(), origin=end).body["error"]["message"] == sentence


def test_ends_outside_all_networks_are_out_of_bounds(over):
    error = ask(over, FakeNetwork(bounds=Bounds(south=0, west=0, north=1, east=1))).body["error"]

    assert (error["category"], error["code"]) == ("NO_RESULTS", "OUT_OF_BOUNDS")


@pytest.mark.parametrize(
    ("tool", "names"),
    [("plan_trip", {"origin": "alpha", "destination": "beta"}), ("get_departures", {"stop": "alpha"})],
)
def test_a_plain_text_is_a_label(over, tool, names):
    ask = over(named_network())
    labels = {field: label(name) for field, name in names.items()}
    bodies = [ask(tool, arguments).body for arguments in (labels, names)]

    assert [{**body, "correlationId": ""} for body in bodies] == [{**bodies[0], "correlationId": ""}] * 2
