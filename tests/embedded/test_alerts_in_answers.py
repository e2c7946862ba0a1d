"""Every leg and board has the alerts that affect it at the time when the rider is there (rule B13)."""

import json

import pytest

from fingerpost.transit.rules.alerts import TEXT_CHARS
from tests.embedded.conftest import rows, trips, warnings
from tests.realtime.messages import alert, call, update

DRAWING = """
rail R   | Alpha 08:10 | Beta 08:20 | Gamma 08:30
rail R   | Alpha 09:10 | Beta 09:20 | Gamma 09:30
line B   | Alpha 08:15 | Delta 08:30
line C   | Delta 08:40 | Gamma 09:05
change | Delta 60
"""
COORDINATES = {"Beta": (60.17, 25.0), "Delta": (60.25, 24.96), "Gamma": (60.17, 25.1)}
AGENCIES = """agency_id,agency_name,agency_url,agency_timezone
AGENCY,Town Transport,https://example.org,Europe/Helsinki
"""
ROUTE, TRIP, AGENCY = {"route_id": "R"}, {"trip": {"trip_id": "R-1"}}, {"agency_id": "AGENCY"}


def touches(body):
    return {alert["header"]: alert["touches"] for alert in body["meta"].get("alerts", ())}


@pytest.fixture
def town_with(towns):
    def draw(*entities):
        return towns(DRAWING, coordinates=COORDINATES, tables={"agency.txt": AGENCIES}, entities=entities)

    return draw


@pytest.mark.parametrize(
    ("selector", "period", "expected"),
    [
        (ROUTE, (), ["itineraries/0/legs/0", "itineraries/2/legs/0"]),
        (TRIP, (), ["itineraries/0/legs/0"]),
        ({"trip": {"trip_id": "R-1", "start_date": "20260310"}}, (), ["itineraries/0/legs/0"]),
        ({"trip": {"trip_id": "R-1", "start_date": "20260311"}}, (), None),
        ({"route_type": 2}, (), ["itineraries/0/legs/0", "itineraries/2/legs/0"]),
        ({"stop_id": "DELTA"}, (), ["itineraries/1/legs/0", "itineraries/1/legs/1"]),
        ({"stop_id": "GAMMA"}, (), ["itineraries/0/legs/0", "itineraries/1/legs/1", "itineraries/2/legs/0"]),
        ({"stop_id": "BETA"}, (), None),
        ({"route_id": "C", "stop_id": "DELTA"}, (), ["itineraries/1/legs/1"]),
        ({"route_id": "R", "stop_id": "BETA"}, (), None),
        ({"trip": {"trip_id": "B-1"}, "stop_id": "DELTA"}, (), ["itineraries/1/legs/0"]),
        # The ride lasts from 08:10 to 08:30, including both ends.
        (TRIP, ("06:00", "08:09:59"), None),
        (TRIP, ("06:00", "08:10"), ["itineraries/0/legs/0"]),
        (TRIP, ("08:30", "10:00"), ["itineraries/0/legs/0"]),
        (TRIP, ("08:30:01", "10:00"), None),
        # The train leaves Alpha at 08:10, and the bus at 08:15; the train arrives at Gamma at 08:30.
        ({"stop_id": "ALPHA"}, ("08:00", "08:09:59"), None),
        ({"stop_id": "ALPHA"}, ("08:10", "08:11"), ["itineraries/0/legs/0"]),
        ({"stop_id": "ALPHA"}, ("08:10:01", "08:29"), ["itineraries/1/legs/0"]),
        ({"stop_id": "GAMMA"}, ("08:10", "08:29:59"), None),
        ({"stop_id": "GAMMA"}, ("08:30", "08:31"), ["itineraries/0/legs/0"]),
    ],
)
def test_a_trip_has_the_alerts_in_force_when_the_rider_is_there(town_with, selector, period, expected):
    """Trips on time: the 08:10, then B and C, then the 09:10; no rider alights at Beta."""
    body = town_with(alert(period=period, **selector)).plan(limit=3)
    assert trips(body) == ["R 08:10", "B 08:15 C 08:40", "R 09:10"]
    assert (warnings(body), [each for each in body["itineraries"] if "DisruptionNote" in each]) == ({}, [])
    assert touches(body) == ({} if expected is None else {"Works": expected})


EXTRA = update(
    "X", call("ALPHA", depart="08:05"), call("GAMMA", arrive="08:25"), relationship="ADDED", route_id="R"
)  # fmt: skip


def test_an_alert_of_an_added_trip_is_reported(town_with):
    town = town_with(EXTRA, alert(trip={"trip_id": "X"}))
    assert touches(town.plan(limit=2)) == {"Works": ["itineraries/0/legs/0"]}
    assert touches(town.board()) == {"Works": ["departures/0"]}


@pytest.mark.parametrize(("stop", "first"), [("ALPHA", "R 08:10"), ("GAMMA", "R 08:10"), ("BETA", "R 08:05")])
def test_a_stop_that_is_closed_to_an_added_trip_is_closed(town_with, stop, first):
    town = town_with(EXTRA, alert(effect="NO_SERVICE", trip={"trip_id": "X"}, stop_id=stop))
    assert (trips(town.plan(limit=1)), rows(town.board())[0][:2]) == ([first], tuple(first.split()))


def test_an_alert_of_the_agency_touches_every_ride_and_no_walk(town_with):
    """The walk from the coordinates to the stop belongs to no agency."""
    town = town_with(alert(**AGENCY))
    body = town.ask(
        "plan_trip",
        origin={"type": "coords", "value": {"lat": 60.1702, "lon": 24.9402}},
        destination={"type": "label", "value": "TEST:GAMMA"},
        limit=1,
    )
    [itinerary] = body["itineraries"]
    rides = [f"itineraries/0/legs/{number}" for number, leg in enumerate(itinerary["legs"]) if leg["mode"] != "WALK"]
    assert (len(rides) < len(itinerary["legs"]), touches(body)) == (True, {"Works": rides})


def test_alerts_of_a_stop_come_before_those_of_the_agency(town_with):
    notices = [alert(f"m{number}", f"More {number}", **AGENCY) for number in range(6)]
    alerts = town_with(*notices, alert("s", "Stop moved", stop_id="ALPHA")).plan(limit=1)["meta"]["alerts"]
    assert [each["header"] for each in alerts[:2]] == ["Stop moved", "More 0"]


def test_riders_of_a_late_train_are_there_at_its_scheduled_departure(town_with):
    """The 08:10 leaves at 08:15; an alert that ends at 08:12 explains the delay."""
    late = update("R-1", call("ALPHA", 300, 300))
    body = town_with(late, alert(period=("07:00", "08:12"), **TRIP)).plan(limit=1)
    assert touches(body) == {"Works": ["itineraries/0/legs/0"]}


def test_the_shape_of_an_alert(town_with):
    works = alert("w", "Works at Beta", "Allow time.", period=("08:00", "18:00"), url="https://example.org/w", **TRIP)
    assert town_with(works).plan(limit=1)["meta"]["alerts"] == [
        {
            "header": "Works at Beta",
            "effect": "DETOUR",
            "touches": ["itineraries/0/legs/0"],
            "text": "Allow time.",
            "from": "2026-03-10T08:00:00+02:00",
            "until": "2026-03-10T18:00:00+02:00",
            "url": "https://example.org/w",
        }
    ]


def test_a_long_text_appears_once_and_within_its_bounds(town_with):
    paragraph = "Because of works between Beta and Gamma trains are few. " * 43
    entities = [update("R-1", relationship="CANCELED"), update("R-2", call("ALPHA", 900, 900))]
    for limit in (1, 2, 3):
        body = town_with(*entities, alert(header="", text=paragraph, **ROUTE)).plan(limit=limit)
        [shown] = body["meta"]["alerts"]
        assert shown["header"] == "Because of works between Beta and Gamma trains are few."
        assert len(shown["text"]) <= TEXT_CHARS
        written = json.dumps(body)
        assert written.count("Because of works") == 1 + shown["text"].count("Because of works")


def test_at_most_five_are_reported_and_the_rest_is_counted(town_with):
    entities = [alert(f"a{number}", f"Note {number}", effect="OTHER_EFFECT", **AGENCY) for number in range(5)]
    entities += [alert("near", "Of the trip", effect="OTHER_EFFECT", **TRIP)]
    entities += [alert("grave", "Closed", effect="NO_SERVICE", **ROUTE)]
    body = town_with(*entities).plan(limit=1)
    assert list(touches(body)) == ["Closed", "Of the trip", "Note 0", "Note 1", "Note 2"]
    assert body["meta"]["alertsNotShown"] == 2


@pytest.mark.parametrize(
    ("selector", "period", "expected"),
    [
        (ROUTE, (), ["departures/0"]),
        (TRIP, (), ["departures/0"]),
        ({"route_id": "B"}, (), ["departures/1"]),
        ({"stop_id": "ALPHA"}, (), ["departures/0", "departures/1", "stopId"]),
        (AGENCY, (), ["departures/0", "departures/1"]),
        ({"route_id": "R", "stop_id": "ALPHA"}, (), ["departures/0"]),
        ({"stop_id": "GAMMA"}, (), None),
        ({"route_id": "C"}, (), None),
        # The window is half an hour from 08:00, including both ends; a row has the alerts at its departure.
        ({"stop_id": "ALPHA"}, ("06:00", "07:59:59"), None),
        ({"stop_id": "ALPHA"}, ("06:00", "08:00"), ["stopId"]),
        ({"stop_id": "ALPHA"}, ("08:10", "08:14"), ["departures/0", "stopId"]),
        ({"stop_id": "ALPHA"}, ("08:30", "09:00"), ["stopId"]),
        ({"stop_id": "ALPHA"}, ("08:30:01", "09:00"), None),
    ],
)
def test_a_board_has_the_alerts_of_its_rows_and_of_its_stop(town_with, selector, period, expected):
    body = town_with(alert(period=period, **selector)).board()
    assert rows(body) == [("R", "08:10", "scheduled_only", None), ("B", "08:15", "scheduled_only", None)]
    assert touches(body) == ({} if expected is None else {"Works": expected})


def test_an_empty_board_has_the_alert_of_its_stop(town_with):
    """No trip departs from Gamma."""
    body = town_with(alert(stop_id="GAMMA")).board("TEST:GAMMA")
    assert (body["departures"], touches(body)) == ([], {"Works": ["stopId"]})


@pytest.mark.parametrize(
    ("stop", "period", "found"),
    [
        ("GAMMA", ("08:30", "08:40"), ["B 08:15 C 08:40", "R 09:10", "R 08:10"]),
        ("GAMMA", ("08:31", "09:00"), ["R 08:10", "B 08:15 C 08:40", "R 09:10"]),
        ("ALPHA", ("08:00", "08:10"), ["B 08:15 C 08:40", "R 09:10", "R 08:10"]),
        ("ALPHA", ("08:00", "08:09"), ["R 08:10", "B 08:15 C 08:40", "R 09:10"]),
        ("BETA", ("08:00", "10:00"), ["R 08:10", "B 08:15 C 08:40", "R 09:10"]),
    ],
    ids=["closed on arrival", "closed later", "closed on departure", "open again", "only passed"],
)
def test_a_stop_closed_only_by_an_alert_is_avoided(town_with, stop, period, found):
    body = town_with(alert(effect="NO_SERVICE", period=period, stop_id=stop)).plan(limit=3)
    assert trips(body) == found


def test_a_trip_that_needs_a_closed_stop_is_reported_with_the_reason(town_with):
    body = town_with(
        alert(header="Gamma closed", effect="NO_SERVICE", period=("08:30", "08:40"), stop_id="GAMMA")
    ).plan(limit=3)
    last = body["itineraries"][2]
    assert (last["legs"][0]["status"], last["DisruptionNote"]) == ("cancelled", "Line R from Alpha is cancelled.")
    assert "itineraries/2/legs/0" in touches(body)["Gamma closed"]


@pytest.mark.parametrize(
    ("entities", "first"),
    [
        # The train arrives eleven minutes late, after Gamma has reopened.
        ([alert(effect="NO_SERVICE", period=("08:30", "08:40"), stop_id="GAMMA"), update("R-1", call("GAMMA", 660))],
         "R 08:10"),
        ([alert(effect="NO_SERVICE", route_id="R", stop_id="GAMMA")], "B 08:15 C 08:40"),
    ],
    ids=["open on late arrival", "closed to trains only"],
)  # fmt: skip
def test_an_alert_closes_a_stop_for_its_period_and_vehicles(town_with, entities, first):
    assert trips(town_with(*entities).plan(limit=3))[0] == first


def test_the_board_of_a_closed_stop_marks_skipped_departures(town_with):
    body = town_with(alert(effect="NO_SERVICE", period=("08:00", "08:12"), stop_id="ALPHA")).board()
    assert rows(body) == [("R", "08:10", "cancelled", None), ("B", "08:15", "scheduled_only", None)]
    assert touches(body) == {"Works": ["departures/0", "stopId"]}


def test_a_line_without_service_is_reported_and_left_to_trip_updates(town_with):
    """Alerts close stops; trip updates cancel trips."""
    body = town_with(alert(effect="NO_SERVICE", **ROUTE)).plan(limit=1)
    assert (trips(body), touches(body)) == (["R 08:10"], {"Works": ["itineraries/0/legs/0"]})


def test_the_text_of_a_plan_has_every_alert_once(town_with):
    town = town_with(
        alert("w", "Works", "Allow time.", period=("08:00", "18:00"), url="https://example.org/w", **ROUTE)
    )
    town.plan(limit=3)
    lines = town.text.splitlines()
    assert [line for line in lines if "Works" in line] == [
        "! Alert for 1: RAIL R, 3: RAIL R (Detour, 2026-03-10 08:00 to 18:00): Works. Allow time. https://example.org/w"
    ]


def test_the_text_of_a_board_has_every_alert_once(town_with):
    more = [alert(f"m{number}", f"More {number}", effect="NO_EFFECT", **AGENCY) for number in range(9)]
    town = town_with(alert("s", "Stop moved", effect="STOP_MOVED", stop_id="ALPHA"), alert("b", route_id="B"), *more)
    town.board()
    lines = town.text.splitlines()
    assert [line for line in lines if line.startswith("!")] == [
        "! Alert for this stop, every departure: Stop moved",
        "! Alert for BUS B to Delta (Detour): Works",
        "! Alert for every departure (No effect): More 0",
        "! Alert for every departure (No effect): More 1",
        "! Alert for every departure (No effect): More 2",
        "! 6 more alerts are not shown.",
    ]


@pytest.mark.parametrize(
    ("headers", "texts", "language", "expected"),
    [
        ({"en": "R diverted"}, {"": "Take bus 12"}, "en", ("R diverted", "Take bus 12")),
        ({"": "R diverted"}, {"en": "Take bus 12"}, "en", ("R diverted", "Take bus 12")),
        ({"fi": "Poikkeus", "sv": "Avvikelse"}, {"fi": "Bussi 12"}, "sv", ("Avvikelse", "Bussi 12")),
        ({"de": "Umleitung"}, {"fr": "Bus 12", "": "Bus B12"}, "fi", ("Umleitung", "Bus B12")),
    ],
)
def test_header_and_text_are_chosen_by_language(town_with, headers, texts, language, expected):
    """Rule A7 applies to each text separately, so neither is dropped if only the other has the language."""
    works = alert("w", "", **TRIP)
    for field, words in (("header_text", headers), ("description_text", texts)):
        for tag, text in words.items():
            getattr(works.alert, field).translation.add(text=text, **({"language": tag} if tag else {}))
    (shown,) = town_with(works).plan(limit=1, constraints={"language": language})["meta"]["alerts"]
    assert (shown["header"], shown.get("text")) == expected
