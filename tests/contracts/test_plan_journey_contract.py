"""planJourney (planJourney contract, rules E1 to E3) with our own engines; tests/tfl covers TfL."""

import asyncio
import json
from datetime import date

import pytest

from fingerpost.apps.wiring import list_tools
from fingerpost.errors import NoItinerary, new_outside_calendar_error
from fingerpost.store.variables import VariableStore
from fingerpost.transit.model.itinerary import ServiceAlert
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.model.provenance import Provenance
from fingerpost.transit.tools import plan_journey
from fingerpost.transit.tools.plan_journey import JourneyOptions
from tests.contracts.conftest import ANN, asker_of, stop_place
from tests.fakes import FakeNetwork, FakeNetworks, Journeys
from tests.homes import open_networks
from tests.rules.drawing import T0, ride, trip, walk

FIELDS = ["success", "code", "message", "topJourneys", "fromLocationDisambiguation", "toLocationDisambiguation"]
TRIP = {"from": "A", "to": "B"}
# 06:00 UTC of tests.contracts.conftest.NOW, by London's clock.
SIX = "2022-02-22T06:00:00+00:00"


def place(stop_id, name, score=1.0, lat=51.50):
    return stop_place(stop_id, name, score, lat, lon=-0.12)


def london(*itineraries, places=None, **wishes):
    known = {"A": [place("T:A", "A")], "B": [place("T:B", "B", lat=51.52)], **(places or {})}
    return FakeNetwork(zone="Europe/London", places=known, journeys=wishes.pop("journeys", (itineraries,)), **wishes)


def hop(begin_min, end_min, line="7", **wishes):
    return trip(ride(line, "A", "B", begin_min, end_min, **wishes))


def shown(answer):
    return [
        (each["durationMinutes"], each["startDateTime"][11:16], each["arrivalDateTime"][11:16], each["legCount"])
        for each in answer.body["topJourneys"]
    ]


def test_the_five_fastest_are_sorted_by_duration(over):
    """J1, J11, J12, E1: of six, by duration in whole minutes rounded up, arrival, start; the slowest is left out."""
    found = [hop(0, 30, "1"), hop(5, 15, "2"), hop(2, 12, "3"), hop(1, 9, "4"), hop(0, 21, "5"), hop(3, 23, "6")]
    answer = over(london(*found))("planJourney", TRIP)

    assert shown(answer) == [
        (8, "06:01", "06:09", 1), (10, "06:02", "06:12", 1), (10, "06:05", "06:15", 1),
        (20, "06:03", "06:23", 1), (21, "06:00", "06:21", 1),
    ]  # fmt: skip
    assert (answer.body["success"], answer.body["code"], answer.is_error) == (True, "OK", False)
    assert answer.body["message"].startswith("5 journeys, the fastest 8 min; 1 left out. ")
    equals = over(london(hop(0.5, 10, "1"), hop(0, 10, "2")))("planJourney", TRIP).body["topJourneys"]
    assert [(each["durationMinutes"], each["startDateTime"][17:19]) for each in equals] == [(10, "00"), (10, "30")]


def test_a_success_has_all_six_fields(over):
    body = over(london(hop(0, 10)))("planJourney", {**TRIP, "needAccessibleRoute": None}).body

    assert list(body) == FIELDS
    assert (body["success"], *[body[field] for field in FIELDS[4:]]) == (True, None, None)


def test_times_have_londons_offset(over, monkeypatch):
    winter = over(london(hop(0, 10)))("planJourney", TRIP).body["topJourneys"][0]
    monkeypatch.setenv("FINGERPOST_NOW", "2022-07-01T05:00:00Z")
    summer_s = 129 * 86_400 - 3600
    summer = over(london(hop(summer_s / 60, summer_s / 60 + 10)))("planJourney", TRIP).body["topJourneys"][0]

    assert (winter["startDateTime"], winter["arrivalDateTime"]) == (SIX, "2022-02-22T06:10:00+00:00")
    assert summer["startDateTime"] == "2022-07-01T06:00:00+01:00"


def test_legs_count_with_walks_and_rides_have_lines(over):
    itinerary = trip(walk("A", "C", 0, 3), ride("7", "C", "B", 3, 9))
    answer = over(london(itinerary))("planJourney", TRIP)
    [journey] = answer.body["topJourneys"]

    assert (journey["legCount"], journey["lines"]) == (2, [{"mode": "BUS", "line": "7"}])
    assert "9 min, 2 legs: BUS 7" in answer.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"to": "B"}, "from is missing."),
        ({"from": "A", "to": " "}, "to must not be empty."),
        ({**TRIP, "needAccessibleRoute": "yes"}, 'needAccessibleRoute must be true or false, not the text "yes".'),
        ({**TRIP, "date": "x"}, "unknown field 'date'; allowed: from, needAccessibleRoute, to."),
        ({"from": "A", "to": "A"}, "from and to must differ."),
        ({"from": "Nowhere", "to": "B"}, "from 'Nowhere' matches no saved variable, stop or place. Only places in"),
        ({"from": "A", "to": "Nowhere"}, "to 'Nowhere' matches no saved variable, stop or place"),
    ],
)
def test_bad_input_is_a_validation_error(over, arguments, message):
    answer = over(london(hop(0, 10)))("planJourney", arguments)

    assert answer.body["message"].startswith(message)
    assert [answer.body[field] for field in FIELDS if field != "message"] == [
        False,
        "VALIDATION_ERROR",
        None,
        None,
        None,
    ]
    assert answer.is_error


def test_an_unclear_end_is_answered_with_suggestions(over):
    rivals = [place(f"T:{n}", f"Vic {n}", 0.9 - n / 100, lat=51.4 + n / 20) for n in range(6)]
    answer = over(london(places={"Vic": rivals}))("planJourney", {"from": "A", "to": "Vic"})

    assert answer.body["toLocationDisambiguation"] == [
        {"parameterValue": f"T:{n}", "matchQuality": 900 - 10 * n} for n in range(5)
    ]
    assert (answer.body["fromLocationDisambiguation"], answer.body["topJourneys"]) == ([], None)
    assert (answer.body["success"], answer.body["code"]) == (False, "DISAMBIGUATION_REQUIRED")
    assert "Vic 0 (T:0," in answer.body["message"], "the suggestions have no names, so the message names them (A10)"


def test_both_ends_may_be_ambiguous_and_a_suggestion_is_accepted(over):
    rivals = [place("T:1", "Vic 1", 0.9), place("T:2", "Vic 2", 0.9, lat=51.6)]
    others = [place("T:3", "Ham 3", 0.5, lat=51.7)]
    ask = over(london(hop(0, 10), places={"Vic": rivals, "Ham": others}))
    body = ask("planJourney", {"from": "Vic", "to": "Ham"}).body
    values = [[each["parameterValue"] for each in body[field]] for field in FIELDS[4:]]

    assert values == [["T:1", "T:2"], ["T:3"]]
    assert [ask("planJourney", {"from": each, "to": "B"}).body["code"] for each in values[0]] == ["OK", "OK"]


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ((), "No journey was found: More walking (3000 m) or changes (8) would not help; try another time or place."),
        (NoItinerary("none", hint="Nothing runs at night"), "No journey was found: Nothing runs at night."),
        (
            new_outside_calendar_error("T", date(2022, 1, 1), date(2022, 2, 1)),
            (
                "No journey was found: The timetable of T covers 2022-01-01 to 2022-02-01 only. "
                "Choose a date from 2022-01-01 to 2022-02-01."
            ),
        ),
    ],
)
def test_an_empty_result_is_a_success_with_the_reason(over, found, reason):
    answer = over(london(journeys=[found]))("planJourney", TRIP)

    assert (answer.body["success"], answer.body["code"], answer.body["topJourneys"]) == (True, "OK", [])
    assert (answer.body["message"][: len(reason)], answer.is_error) == (reason, False)


def test_the_sixth_call_in_a_second_is_refused_at_once(tmp_path):
    network = london(hop(0, 10))
    tools = {tool.name: tool for tool in list_tools(FakeNetworks(network), VariableStore(tmp_path / "v.sqlite"))}

    async def call_six_times():
        return [await tools["planJourney"].answer(TRIP, user=ANN) for _ in range(6)]

    tools["planJourney"]._limit._clock_ms = lambda: 100_000
    answers = asyncio.run(call_six_times())

    assert [each.body["code"] for each in answers] == ["OK"] * 5 + ["RATE_LIMIT_EXCEEDED"]
    assert answers[5].body["message"] == "planJourney allows 5 calls per second. Wait 1 s before the next call."
    assert len(network.journeys_asked) == 5


def test_an_untravellable_itinerary_is_dropped_and_reported(over):
    """Principle 3, A10, B13: a cancelled ride is not boarded, however fast; which, when it was to leave, and why."""
    strike = ServiceAlert(id="strike", header="No trains")
    body = over(london(hop(0, 5, "1", cancelled=True, alerts=(strike,)), hop(0, 10, "2")))("planJourney", TRIP).body

    assert [each["durationMinutes"] for each in body["topJourneys"]] == [10]
    assert "1 journey, 10 min. Left out because it is disrupted: Line 1 from A is cancelled (06:00)." in body["message"]
    assert "Alert: No trains." in body["message"]


def test_without_a_usable_journey_the_next_one_is_named(over):
    network = london(journeys=[[hop(0, 5, cancelled=True)], [], [hop(90, 99)]])
    message = over(network)("planJourney", TRIP).body["message"]

    assert "The next usable trip leaves at 2022-02-22T07:30:00+00:00" in message


@pytest.mark.parametrize(("minutes", "is_told"), [(60, False), (61, True)])
def test_a_wait_of_hours_is_reported(over, minutes, is_told):
    """B6: an hour is not a long wait."""
    message = over(london(hop(minutes, minutes + 10)))("planJourney", TRIP).body["message"]

    assert ("No usable trip departs soon" in message) is is_told


@pytest.mark.parametrize(
    ("is_known", "told"),
    [
        (True, ["Requested: step-free all the way.", "is not known to be step-free."]),
        (False, ["Step-free travel could not be considered"]),
    ],
)
def test_step_free_is_requested_from_the_engine_and_reported(over, is_known, told):
    network = london(journeys=[Journeys([hop(0, 10)], step_free_supported=is_known)])
    message = over(network)("planJourney", {**TRIP, "needAccessibleRoute": True}).body["message"]

    assert network.journeys_asked[0].step_free
    assert [sentence for sentence in told if sentence not in message] == []
    assert ("Requested: " in message) is is_known


def test_the_message_names_the_source_and_the_caveats(over):
    provenance = Provenance(
        network="T", source="fake", zone="Europe/London", retrieved_at=T0, attribution=("Feed of T",), notes=("Beware",)
    )
    alerts = tuple(ServiceAlert(id=str(n), header=f"Lift {n} is out of order") for n in range(6))
    network = london(hop(0, 10, alerts=alerts), provenance=provenance)
    message = over(network)("planJourney", TRIP).body["message"]

    assert "Planned from the timetable of network T, not by TfL." in message
    assert "Alert: Lift 4 is out of order. And 1 more alert." in message
    assert message.endswith("Beware. Data: Feed of T.")


def test_a_saved_place_is_an_end(over):
    network = london(hop(0, 10))
    ask = over(network)
    ask("save_user_variable", {"key": "home", "type": "location", "value": {"lat": 51.5, "lon": -0.2}})
    ask("planJourney", {"from": "home", "to": "B"})

    assert network.journeys_asked[0].origin.coordinate == Coordinate(51.5, -0.2)


def test_the_demo_answers_and_labels_its_answers(demo):
    """E3, A13: without TfL and without a network of one's own; the text alone has the same figures and times (A11)."""
    answer = demo("planJourney", {"from": "Victoria", "to": "King's Cross St. Pancras"})
    lines = answer.text.splitlines()

    assert shown(answer)[0] == (9, "06:01", "06:10", 1)
    assert "DEMO-LONDON, not by TfL." in answer.body["message"]
    assert "not for real trips" in answer.body["message"]
    assert len(json.dumps(answer.body, separators=(",", ":"))) < 4_000, "rule A11"
    assert lines[0].startswith("5 journeys, the fastest 9 min; ")
    assert lines[1] == "06:01 to 06:10 on 2022-02-22, 9 min, 1 leg: METRO Victoria"


def test_the_demo_does_not_answer_where_another_network_was_added(tmp_path):
    """E3, A13: riders of another city must not get drawn journeys in London."""
    networks = FakeNetworks(FakeNetwork())
    opened = asyncio.run(networks.open())
    helsinki = opened.answering[0]
    demo = asyncio.run(open_networks(tmp_path, demo="off").open()).by_token_only

    class Both:
        async def open(self):
            return type(opened)(answering=(helsinki,), by_token_only=demo)

    answer = asker_of(Both(), tmp_path)("planJourney", {"from": "Bank", "to": "Oval"})

    assert (answer.body["code"], "TFL_API_KEY" in answer.body["message"]) == ("UPSTREAM_ERROR", True)


def test_an_added_network_takes_precedence_over_the_demo(over):
    demo, own = london(hop(0, 20), name="DEMO-X", is_demo=True), london(hop(0, 10), name="OWN")

    assert "network OWN," in over(demo, own)("planJourney", TRIP).body["message"]


def test_without_a_network_of_london_the_key_is_named(tmp_path):
    networks = FakeNetworks(FakeNetwork())
    options = JourneyOptions(are_demos_enabled=lambda: False)
    tools = list_tools(networks, VariableStore(tmp_path / "v.sqlite"), ["london"], journeys=options)
    (tool,) = tools
    answer = asyncio.run(tool.answer(TRIP, user=ANN))

    assert (tool.name, asyncio.run(tool.is_available())) == ("planJourney", False)
    assert (answer.body["success"], answer.body["code"]) == (False, "UPSTREAM_ERROR")
    assert "TFL_API_KEY" in answer.body["message"]


def test_the_types_have_the_contracts_names():
    names = ["JourneyPlanRequest", "JourneyPlanToolResponse", "JourneyOptionSummary", "JourneyDisambiguationSuggestion"]

    assert [name for name in names if not hasattr(plan_journey, name)] == []
