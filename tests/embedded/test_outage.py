"""The main line is closed for two hours: running alternatives come first, and the usual trip is explained."""

import pytest

from tests.embedded.conftest import trips, warnings
from tests.realtime.messages import DAY, alert, update

# A train every half hour until 10:35; a bus with a transfer is the alternative.
DRAWING = "\n".join(
    [
        f"rail R | Alpha {hour:02}:{minute:02} | Gamma {hour:02}:{minute + 20:02}"
        for hour in (8, 9, 10)
        for minute in (5, 35)
    ]
    + ["line B | Alpha 08:15 | Delta 08:30", "line C | Delta 08:34 | Gamma 08:55", "change | Delta 60"]
)
HEADER = "Point failure at Beta"


def failure(period=("08:00", "10:00")):
    return alert("points", HEADER, effect="NO_SERVICE", period=period, route_id="R")


OUTAGE = [update(f"R-{number}", relationship="CANCELED") for number in (1, 2, 3, 4)]


@pytest.fixture
def out(towns):
    return towns(DRAWING, entities=[*OUTAGE, failure()])


def test_running_trips_come_first_and_the_usual_one_is_named_with_its_reason(out):
    body = out.plan(limit=3)
    assert trips(body) == ["B 08:15 C 08:34", "R 10:05", "R 10:35"]
    assert warnings(body)["disrupted-itinerary-replaced"] == (
        "Left out because it is disrupted: Line R from Alpha is cancelled (08:05, 08:35, 09:05, 09:35)."
    )
    [shown] = body["meta"]["alerts"]
    assert (shown["header"], shown["touches"]) == (
        HEADER,
        [f"meta/differences/{at}" for at in (0, 1, 2)] + ["warnings/0"],
    )


def test_alternatives_state_their_cost_against_the_usual_trip(out):
    """The 08:05 would arrive at 08:25; the bus arrives at 08:55, with a transfer of four minutes."""
    body = out.plan(limit=1)
    [difference] = body["meta"]["differences"]
    assert difference == {
        "fingerprint": body["itineraries"][0]["fingerprint"],
        "insteadOf": difference["insteadOf"],
        "cause": {"id": "points", "text": "Line R from Alpha is cancelled (08:05)."},
        "laterMinutes": 30,
        "moreChanges": 1,
        "moreWalkMeters": 0,
    }


def test_without_a_disruption_nothing_is_compared(towns):
    town = towns(DRAWING, entities=[failure()])
    body = town.plan(limit=3)
    assert ("differences" in body["meta"], warnings(body).get("disrupted-itinerary-replaced")) == (False, None)


def test_without_usable_trips_the_disrupted_ones_are_marked(towns):
    town = towns("rail R | Alpha 08:05 | Gamma 08:25", days=[DAY])
    town.publish(update("R-1", relationship="CANCELED"), failure())
    body = town.plan(limit=3)
    [itinerary] = body["itineraries"]
    assert (itinerary["legs"][0]["status"], itinerary["DisruptionNote"], "DisruptionFlag" in itinerary) == (
        "cancelled",
        "Line R from Alpha is cancelled.",
        False,
    )
    assert [(each["header"], each["touches"]) for each in body["meta"]["alerts"]] == [
        (HEADER, ["itineraries/0/legs/0"])
    ]


def test_the_alert_nearest_to_the_ride_is_the_cause(towns):
    town = towns(DRAWING)
    own = alert("own", "No driver", effect="NO_SERVICE", period=("08:00", "10:00"), trip={"trip_id": "R-1"})
    town.publish(*OUTAGE, failure(), own)
    meta = town.plan(limit=1)["meta"]
    assert meta["differences"][0]["cause"]["id"] == "own"
    assert [each["header"] for each in meta["alerts"] if "meta/differences/0" in each["touches"]] == ["No driver"]


def test_a_lift_out_of_order_does_not_cancel_a_trip(towns):
    town = towns(DRAWING)
    lift = alert("lift", "Lift broken", effect="ACCESSIBILITY_ISSUE", period=("08:00", "10:00"), stop_id="ALPHA")
    town.publish(*OUTAGE, lift)
    meta = town.plan(limit=1)["meta"]
    assert meta["differences"][0]["cause"] == {"id": "TEST:R-1", "text": "Line R from Alpha is cancelled (08:05)."}
    assert [each["touches"] for each in meta["alerts"]] == [["itineraries/0/legs/0"]]
