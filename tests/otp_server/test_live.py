"""Realtime updates sent to the server appear in plan_trip and on the board, and disappear again."""

from dataclasses import dataclass

import pytest

from tests.otp_server.conftest import DATE, find_once, until
from tests.otp_server.running import FEED
from tests.otp_server.updates import AlertSays, TripSays

# Keskustori, and the hospital: many lines go there all day.
CITY, HOSPITAL = (61.4978, 23.7610), (61.5062, 23.8136)
# The first of the morning after FINGERPOST_NOW.
EIGHT = 1_645_509_600
STOPS = "{ nearest(lat: 61.4978, lon: 23.761, maxDistance: 300, first: 20, filterByPlaceTypes: [STOP]) "
STOPS += "{ edges { node { place { ... on Stop { gtfsId } } } } } }"
ROUTE = "query Route($id: String!) { trip(id: $id) { route { gtfsId } } }"
TRIPS = """
query Trips($id: String!, $start: Long!) {
  stop(id: $id) {
    stoptimesWithoutPatterns(startTime: $start, timeRange: 1800, numberOfDepartures: 20, omitNonPickups: true) {
      serviceDay scheduledDeparture trip { gtfsId route { shortName gtfsId } stoptimes { stop { gtfsId } } }
    }
  }
}
"""


@dataclass(frozen=True)
class Watched:
    stop_id: str
    line: str
    instant: int
    trip_id: str


@pytest.fixture
def watched(real):
    """The first departure of the busiest stop in the middle of the city that is at least ten minutes away."""
    edges = real.server.ask(STOPS)["data"]["nearest"]["edges"]
    for edge in edges:
        stop_id = edge["node"]["place"]["gtfsId"]
        told = real.server.ask(TRIPS, id=stop_id, start=EIGHT + 600)["data"]["stop"]["stoptimesWithoutPatterns"]
        if len(told) >= 10:
            first, trip = told[0], told[0]["trip"]
            return Watched(
                stop_id=stop_id,
                line=trip["route"]["shortName"],
                instant=first["serviceDay"] + first["scheduledDeparture"],
                trip_id=trip["gtfsId"].removeprefix(f"{FEED}:"),
            )
    raise AssertionError("no busy stop in the middle of the city")


async def find_row(ask, watched):
    stop = {"type": "id", "value": watched.stop_id}
    body = await ask("get_departures", stop=stop, windowMinutes=60, limit=50)
    wanted = watched.line, clock_of(watched.instant)
    return next((row for row in body["departures"] if (row["line"], row["scheduledTime"]) == wanted), None)


def clock_of(instant):
    hour, minute = divmod((instant - EIGHT) // 60 + 8 * 60, 60)
    return f"2022-02-22T{hour:02d}:{minute:02d}:{instant % 60:02d}+02:00"


async def test_a_delay_appears_on_the_board_and_disappears(real, asking, watched):
    async with asking() as ask:
        before = await find_row(ask, watched)
        real.updates.say(TripSays(trip=watched.trip_id, date=DATE, late_s=300))
        late = await find_once(lambda: find_row(ask, watched), lambda row: row and row.get("delaySeconds") == 300)
        real.updates.say()
        after = await find_once(lambda: find_row(ask, watched), lambda row: row and "delaySeconds" not in row)

    assert (before["status"], late["status"], late["realtimeTime"]) == (
        "scheduled_only",
        "delayed",
        clock_of(watched.instant + 300),
    )
    assert after == before


async def test_a_cancellation_appears_on_the_board_and_disappears(real, asking, watched):
    async with asking() as ask:
        before = await find_row(ask, watched)
        real.updates.say(TripSays(trip=watched.trip_id, date=DATE, cancelled=True))
        cancelled = await find_once(lambda: find_row(ask, watched), lambda row: row and row["status"] == "cancelled")
        real.updates.say()

        assert cancelled is not None
        assert "realtimeTime" not in cancelled
        assert await find_once(lambda: find_row(ask, watched), lambda row: row == before)


async def plan(ask, **given):
    ends = {
        side: {"type": "coords", "value": dict(zip(("lat", "lon"), where, strict=True))}
        for side, where in (("origin", CITY), ("destination", HOSPITAL))
    }
    return await ask("plan_trip", **ends, **given)


def find_ride(body):
    return next(leg for leg in body["itineraries"][0]["legs"] if leg["mode"] != "WALK")


def rides(body):
    return [leg for each in body["itineraries"] for leg in each["legs"] if leg["mode"] != "WALK"]


async def test_a_cancellation_appears_in_the_plan_and_disappears(real, asking):
    """Rule B5: the best trip of the timetable is cancelled; nobody is sent onto it, and the answer says so."""
    async with asking() as ask:
        before = await plan(ask)
        ride = find_ride(before)
        real.updates.say(TripSays(trip=ride["tripId"].removeprefix(f"{FEED}:"), date=DATE, cancelled=True))

        def is_told(body):
            statuses = {leg["status"] for leg in rides(body) if leg["tripId"] == ride["tripId"]}
            dropped = any(each["code"] == "disrupted-itinerary-replaced" for each in body.get("warnings", ()))
            return statuses == {"cancelled"} or (dropped and not statuses)

        told = await find_once(lambda: plan(ask), is_told)
        real.updates.say()

        trips = [leg["tripId"] for leg in rides(before)]
        assert told is not None
        assert find_ride(told)["tripId"] != ride["tripId"]
        assert await find_once(lambda: plan(ask), lambda body: [leg["tripId"] for leg in rides(body)] == trips)


async def test_a_delay_appears_in_the_plan_and_disappears(real, asking):
    async with asking() as ask:
        before = await plan(ask, limit=3)
        ride = find_ride(before)
        real.updates.say(TripSays(trip=ride["tripId"].removeprefix(f"{FEED}:"), date=DATE, late_s=90))

        async def find_late():
            body = await plan(ask, limit=3)
            return next((leg for leg in rides(body) if leg["tripId"] == ride["tripId"] and "delaySeconds" in leg), None)

        late = await until(find_late)
        real.updates.say()

        assert (late["status"], late["delaySeconds"]) == ("delayed", 90)
        assert await find_once(lambda: plan(ask, limit=3), lambda body: find_ride(body) == ride)


def headers(body):
    return [each["header"] for each in body["meta"].get("alerts", ())]


async def test_an_alert_appears_on_the_board_and_in_the_plan_and_disappears(real, asking, watched):
    """Rule B13: works at the stop and on the line, in force now, with no trip late; then all is quiet again."""
    stop = {"type": "id", "value": watched.stop_id}
    local = watched.stop_id.removeprefix(f"{FEED}:")
    during = {"since": EIGHT - 3600, "until": EIGHT + 7200}
    async with asking() as ask:
        ride = find_ride(await plan(ask))
        route = real.server.ask(ROUTE, id=ride["tripId"])["data"]["trip"]["route"]["gtfsId"].removeprefix(f"{FEED}:")
        real.updates.say(
            AlertSays(header="Works at the stop", stop=local, **during),
            AlertSays(header="Works on the line", route=route, **during),
        )

        async def has_both():
            board, trip = await ask("get_departures", stop=stop), await plan(ask)
            return "Works at the stop" in headers(board) and "Works on the line" in headers(trip)

        appeared = await until(has_both)
        real.updates.say()

        async def has_neither():
            return not headers(await ask("get_departures", stop=stop)) and not headers(await plan(ask))

        assert appeared
        assert await until(has_neither)
