"""The lookup contract: the arguments and answers of findAddressOrStop."""

import pytest

from tests.contracts.conftest import stop_place
from tests.fakes import FakeNetwork

CENTRE = {"lat": 60.17, "lon": 24.94}
KAMPPI = "DEMO-HELSINKI:KAMPPI"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "rawText is missing"),
        ({"rawText": "   "}, "rawText must not be empty"),
        ({"rawText": "x", "maxDistanceMeters": 100}, "maxDistanceMeters requires focusPoint"),
        ({"rawText": "x", "focusPoint": {"lat": 91, "lon": 0}}, "focusPoint.lat must be at most 90; you sent 91"),
        (
            {"rawText": "x", "limit": 1},
            "unknown field 'limit'; allowed: focusPoint, languagePreference, maxDistanceMeters, rawText",
        ),
    ],
)
def test_bad_input_is_a_validation_payload(demo, arguments, message):
    error = demo("findAddressOrStop", arguments).body["error"]

    assert (error["category"], error["code"], error["message"]) == ("VALIDATION", "INVALID_PARAMETER", message)


def test_a_sure_text_is_a_resolved_location(demo):
    assert demo("findAddressOrStop", {"rawText": " kamppi "}).body == {
        "id": KAMPPI,
        "name": "Kamppi",
        "primaryLanguage": "fi",
        "names": {"fi": "Kamppi", "sv": "Kampen"},
        "type": "STOP",
        "coordinate": {"lat": 60.1689, "lon": 24.9314},
        "confidenceScore": 1,
        "rawQuery": "kamppi",
    }


@pytest.mark.parametrize("text", ["Kampen", "kampen", KAMPPI, KAMPPI.lower()])
def test_a_name_in_another_language_and_an_id_mean_the_same_place(demo, text):
    assert demo("findAddressOrStop", {"rawText": text}).body["id"] == KAMPPI


@pytest.mark.parametrize(("language", "name"), [("sv", "Kampen"), ("fi", "Kamppi"), ("en", "Kamppi")])
def test_the_language_preference_goes_down_the_chain(demo, language, name):
    body = demo("findAddressOrStop", {"rawText": KAMPPI, "languagePreference": language}).body

    assert (body["name"], body["primaryLanguage"]) == (name, "sv" if name == "Kampen" else "fi")


def test_a_position_outside_every_network_is_out_of_bounds(demo):
    error = demo("findAddressOrStop", {"rawText": "24.94,60.17"}).body["error"]

    assert (error["code"], "look swapped" in error["recommendation"]) == ("OUT_OF_BOUNDS", True)


def test_a_position_is_an_address_without_an_id(demo):
    assert demo("findAddressOrStop", {"rawText": "60.17,24.94"}).body == {
        "name": "60.17,24.94",
        "primaryLanguage": "default",
        "type": "ADDRESS",
        "coordinate": {"lat": 60.17, "lon": 24.94},
        "confidenceScore": 1,
        "rawQuery": "60.17,24.94",
    }


@pytest.mark.parametrize(("found", "shown", "truncated"), [(1, 1, False), (5, 5, False), (6, 5, True)])
def test_an_unsure_text_is_a_disambiguation_set(over, found, shown, truncated):
    matches = [stop_place(f"T:{number}", f"Stop {number}", 0.5, lat=60 + number / 10) for number in range(found)]
    answer = over(FakeNetwork(places={"stop": matches}))("findAddressOrStop", {"rawText": "stop"})
    candidates = answer.body.pop("candidates")
    reason = answer.body.pop("meta", {}).get("reason")

    assert len(candidates) == shown
    assert (reason is not None) == (found == 1)
    assert answer.body == {
        "totalCandidatesFound": found,
        "truncated": truncated,
        "needsClarification": True,
        "autoResolvedThreshold": 0.8,
    }
    assert answer.is_error is False


@pytest.mark.parametrize(("metres", "is_found"), [(112, True), (111, False)])
def test_the_distance_is_a_hard_filter(over, metres, is_found):
    network = FakeNetwork(places={"A": [stop_place("T:A", "A", lat=60.171)]})
    arguments = {"rawText": "A", "focusPoint": CENTRE, "maxDistanceMeters": metres}

    assert over(network)("findAddressOrStop", arguments).is_error is not is_found


FAR = {"focusPoint": {"lat": 60, "lon": 25}, "maxDistanceMeters": 100}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rawText": "zzzzqqq"}, "No stop, address or place matches 'zzzzqqq'"),
        ({"rawText": "Kamppi", **FAR}, "'Kamppi' matches 2 places, but none within maxDistanceMeters"),
    ],
)
def test_an_empty_result_is_no_match(demo, arguments, message):
    hint = "Check the spelling, or search around a coordinate with find_stops"
    assert demo("findAddressOrStop", arguments).body == {
        "error": {"category": "NO_RESULTS", "code": "NO_MATCH", "message": message, "recommendation": hint}
    }
