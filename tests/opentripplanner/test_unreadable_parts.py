"""An answer of which a part cannot be read: the rest is answered, what is left out is said, nothing is a fault."""

import json

import pytest

from fingerpost import clock
from fingerpost.apps import error_boundary
from tests.opentripplanner.answers import a_board, a_ride, a_time, a_walk, at
from tests.opentripplanner.odd_server import ENDS, NOW, STOP, OddServer, a_plan, ask, open_tools, plan

NEAR = {"coordinate": {"lat": 60.169, "lon": 24.931}, "radius": 500}
BOARD = {"stop": {"type": "id", "value": "HSL:1040601"}, "windowMinutes": 60}
PRICE = {"amount": 3.1, "currency": {"code": "EUR", "digits": 2}}
LARGEST = 2**63 - 1


@pytest.fixture(autouse=True)
def _now(monkeypatch):
    monkeypatch.setenv(clock.VARIABLE, NOW)


def left_out(answered):
    """Return what the notes of an answer say was left out."""
    notes = [note for note in answered.body["meta"].get("notes", ()) if "cannot be read" in note]
    return [note.partition("left out: ")[2].rstrip(".") for note in notes]


def moved(**place):
    return {"from": {**a_ride()["from"], **place}}


def priced(**price):
    return {"fareProducts": [{"id": "1", "product": {"id": "HSL:S", "price": {**PRICE, **price}}}]}


@pytest.mark.parametrize(
    ("odd", "named"),
    [
        ({"distance": float("nan")}, "distance"),
        ({"distance": -5}, "distance"),
        ({"start": {**at(5), "estimated": {"delay": "P9999999D"}}}, "start.estimated"),
        ({"start": {**at(5), "estimated": {"delay": f"PT{'9' * 400}S"}}}, "start.estimated"),
        ({"legGeometry": {"points": "_p~iF~ps|U_ulLnnqC_mqNvx"}}, "legGeometry.points"),
        (priced(amount=float("nan")), "fareProducts.product.price"),
        (priced(amount=float("inf")), "fareProducts.product.price"),
        (priced(currency={"code": "XAU", "digits": -1}), "fareProducts.product.price"),
        (priced(currency={"code": "EUR", "digits": 100_000_000}), "fareProducts.product.price"),
    ],
)
async def test_what_nobody_needs_is_unknown_where_it_cannot_be_read(tmp_path, odd, named):
    """Both itineraries are shown, and a note names the value."""
    answered = await plan(tmp_path, [a_walk(), a_ride(**odd)], [a_walk(200.0, 15), a_ride(20)], wants=("geometry",))

    assert len(answered.body["itineraries"]) == 2
    assert left_out(answered) == [f"live.edges.node.legs.{named} (1)"]
    assert json.dumps([answered.body, answered.beside], allow_nan=False)


@pytest.mark.parametrize("end", [LARGEST, 1_893_456_000_000, 253_402_300_799])
async def test_an_alert_until_the_end_of_the_world_is_open(tmp_path, end):
    """The largest number, milliseconds and the year 9999 are ways to say that nobody knows."""
    alert = {"id": "1", "alertHeaderText": "Detour", "effectiveStartDate": 0, "effectiveEndDate": end}
    answered = await plan(tmp_path, [a_ride(alerts=[alert])])

    assert ["until" in each for each in answered.body["meta"]["alerts"]] == [False]
    assert left_out(answered) == []


@pytest.mark.parametrize(
    ("tool", "arguments", "odd"),
    [
        ("plan_trip", ENDS, {"plan": a_plan([a_ride(**moved(lat=999))])}),
        ("get_departures", BOARD, {"board": {"stops": [a_board(a_time(3, serviceDay=10**12))]}}),
        ("find_stops", NEAR, {"box": [{**STOP, "lat": 999}]}),
        ("plan_trip", ENDS, {"down": True}),
    ],
)
async def test_an_answer_of_which_nothing_can_be_read_is_anothers_to_give(tmp_path, tool, arguments, odd):
    """The network that stands in answers, as where the server is down."""
    tools = open_tools(tmp_path, TOWN=OddServer(**odd), BACK=OddServer())
    answered = await error_boundary.answer(tools, tool, arguments, user=None)

    assert [each.rpartition("; ")[2] for each in answered.body["meta"]["lost"]] == ["its fallback BACK answered."]


async def test_more_faults_than_are_worth_the_time_are_an_unknown_answer(tmp_path):
    """Two thousand stops without a name are no stops."""
    answered = await ask(tmp_path, "find_stops", NEAR, box=[STOP, *({**STOP, "name": None} for _ in range(2001))])

    assert answered.body["error"]["code"] == "upstream-error"
