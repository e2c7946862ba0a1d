"""The plan_trip contract: the ends of a trip, given by coordinates, by variable, by name or by token."""

import pytest

from tests.contracts.conftest import ANN, EVE, at, codes, label, refusal

HOME = {"lat": 60.1699, "lon": 24.9384, "name": "Home", "address": "Street 1"}


def test_coordinates_are_returned_as_sent(demo):
    body = demo("plan_trip", {"origin": at(60.1699, 24.9384), "destination": at(60.2055, 24.6559)}).body

    assert body["origin"] == {"coordinate": {"lat": 60.1699, "lon": 24.9384}, "rawSource": "input"}
    assert body["destination"] == {"coordinate": {"lat": 60.2055, "lon": 24.6559}, "rawSource": "input"}


@pytest.mark.parametrize("key", ["home", "Kamppi"])
def test_a_saved_place_is_a_label(demo, key):
    """P16, P34, B10: a key takes precedence over a place name; name and address are as stored."""
    demo("save_user_variable", {"key": key, "type": "location", "value": HOME})
    body = demo("plan_trip", {"origin": label(key), "destination": at(60.2055, 24.6559)}).body

    assert body["origin"] == {
        "coordinate": {"lat": 60.1699, "lon": 24.9384},
        "rawSource": "user-variable",
        "label": key,
        "name": "Home",
        "address": "Street 1",
    }
    assert demo("plan_trip", {"origin": label("Home"), "destination": label("Espoo")}).is_error, "keys have a case"


@pytest.mark.parametrize(
    ("saved", "user", "message", "hint"),
    [
        (
            {"type": "location", "value": HOME},
            EVE,
            "origin 'zuhause' matches no saved variable, stop or place",
            "Look the place up with findAddressOrStop, or give its position as lat,lon",
        ),
        (
            {"type": "preference", "value": "slow"},
            ANN,
            "the variable 'zuhause' is of type preference and does not contain a place",
            "Save it again with save_user_variable: a stop by its id, a place as a location with lat and lon",
        ),
    ],
)
def test_a_variable_of_another_user_or_of_no_place_is_refused(demo, saved, user, message, hint):
    """P16, A12: a variable belongs to the user who saved it; a preference is not a place."""
    demo("save_user_variable", {"key": "zuhause", **saved})
    answer = demo("plan_trip", {"origin": label("zuhause"), "destination": label("Espoo")}, user=user)

    assert refusal(answer) == ("validation-error", message, hint)


def test_a_place_name_is_resolved_and_reported(demo):
    answer = demo("plan_trip", {"origin": label("Kamppi"), "destination": label("Espoo")})

    assert answer.body["origin"] == {
        "coordinate": {"lat": 60.1689, "lon": 24.9314},
        "rawSource": "geocode",
        "label": "Kamppi",
        "name": "Kamppi",
    }
    assert answer.body["warnings"][0] == {
        "code": "label-geocoded",
        "message": "origin 'Kamppi' was resolved to Kamppi (60.16890,24.93140). "
        "destination 'Espoo' was resolved to Espoo (60.20530,24.65630).",
    }


@pytest.mark.parametrize("text", ["DEMO-HELSINKI:KAMPPI", "demo-helsinki:kamppi", "60.1689,24.9314"])
def test_a_token_is_a_label(demo, text):
    answer = demo("plan_trip", {"origin": label(text), "destination": at(60.2055, 24.6559)})

    assert answer.body["origin"]["coordinate"] == {"lat": 60.1689, "lon": 24.9314}
    assert "label-geocoded" not in codes(answer)


def test_an_ambiguous_name_returns_candidates_whose_tokens_work(demo):
    answer = demo("plan_trip", {"origin": label("asema"), "destination": label("Espoo")})
    candidates = answer.body["error"]["candidates"]
    again = [demo("plan_trip", {"origin": label(each["token"]), "destination": label("Espoo")}) for each in candidates]

    assert refusal(answer) == (
        "validation-error",
        "origin 'asema' is ambiguous; 13 places match, and the best 5 are shown",
        "Choose a candidate and use its token as the label",
    )
    assert [each["name"] for each in candidates] == [each.body["origin"]["name"] for each in again]
    assert len(candidates) == 5
