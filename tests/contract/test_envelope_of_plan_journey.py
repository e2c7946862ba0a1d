"""The planJourney contract's own envelope: six fields, whatever happened (rules E1 and E2)."""

import pytest

from fingerpost.contract.envelope import Family, render_error
from fingerpost.errors import DataNotFound, ParameterError, PlaceAmbiguous

CANDIDATES = [
    {"name": "Asema", "token": "HSL:1", "matchQuality": 900},
    {"name": "Asematie", "token": "60.200000,24.900000"},
]


@pytest.mark.parametrize(
    ("side", "of_origin", "of_destination"),
    [("from", True, False), ("to", False, True), ("origin", True, False), ("destination", False, True)],
)
def test_the_plan_journey_contract_fills_the_side_that_is_unclear(side, of_origin, of_destination):
    """J10, J14, J16, J23, E1: suggestions on one side, an empty list on the other."""
    suggestions = [{"parameterValue": "HSL:1", "matchQuality": 900}, {"parameterValue": "60.200000,24.900000"}]
    error = PlaceAmbiguous("Which one", {"side": side, "candidates": CANDIDATES})
    assert render_error(error, Family.LONDON, "id") == {
        "success": False,
        "code": "DISAMBIGUATION_REQUIRED",
        "message": "Which one. Candidates: Asema (HSL:1); Asematie (60.200000,24.900000).",
        "topJourneys": None,
        "fromLocationDisambiguation": suggestions if of_origin else [],
        "toLocationDisambiguation": suggestions if of_destination else [],
    }


def test_the_plan_journey_contract_fills_both_sides_where_both_are_unclear():
    """J10, J14, E1: the second side stands in ``other``; the message tells the two apart."""
    other = {"side": "to", "candidates": CANDIDATES[:1]}
    error = PlaceAmbiguous("Which one", {"side": "from", "candidates": CANDIDATES[1:], "other": other})
    body = render_error(error, Family.LONDON, "id")
    assert [body["fromLocationDisambiguation"], body["toLocationDisambiguation"], body["message"]] == [
        [{"parameterValue": "60.200000,24.900000"}],
        [{"parameterValue": "HSL:1", "matchQuality": 900}],
        "Which one. Candidates for from: Asematie (60.200000,24.900000). Candidates for to: Asema (HSL:1).",
    ]


def test_the_plan_journey_contract_has_all_six_fields():
    """A2, J5-J10, J13: nulls are written."""
    assert render_error(ParameterError("from is missing"), Family.LONDON, "id") == {
        "success": False,
        "code": "VALIDATION_ERROR",
        "message": "from is missing.",
        "topJourneys": None,
        "fromLocationDisambiguation": None,
        "toLocationDisambiguation": None,
    }


def test_the_plan_journey_contract_finds_nothing_with_success():
    """A5, E2: an empty list, and the reason in the message."""
    body = render_error(DataNotFound("No journey tonight"), Family.LONDON, "id")
    assert (body["success"], body["topJourneys"], body["message"]) == (True, [], "No journey tonight.")
