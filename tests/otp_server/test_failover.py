"""The server is killed during a hundred queries: the embedded network answers until the server is back."""

import asyncio
import random

from fingerpost.transit.networks.wrappers import COOLDOWN_S
from tests.otp_server.conftest import LIVE, OFFLINE, until

QUESTIONS, KILLED_AFTER = 100, 50
WARM = """
query Warm($lat: CoordinateValue!, $lon: CoordinateValue!) {
  planConnection(
    origin: {location: {coordinate: {latitude: $lat, longitude: $lon}}}
    destination: {location: {coordinate: {latitude: 61.46, longitude: 23.83}}}
    dateTime: {earliestDeparture: "2022-02-22T08:00:00+02:00"}
  ) { edges { node { start } } }
}
"""
CITY = (61.47, 61.52, 23.70, 23.87)


def new_questions(seed):
    """Return questions for trips across the city, no two alike, so that no memory answers them."""
    chance, (south, north, west, east) = random.Random(seed), CITY
    for _ in range(QUESTIONS):
        yield {
            side: {
                "type": "coords",
                "value": {"lat": round(chance.uniform(south, north), 5), "lon": round(chance.uniform(west, east), 5)},
            }
            for side in ("origin", "destination")
        }


def who_answered(body):
    if "error" in body:
        return body["error"]["code"]
    return OFFLINE if any(OFFLINE in lost for lost in body["meta"].get("lost", ())) else LIVE


async def test_killed_in_the_middle_of_a_hundred_questions(real, asking):
    """Before: the server. From the next question on: the fallback, labelled. After its return: the server again."""
    async with asking() as ask:
        answered = []
        for number, question in enumerate(new_questions(14)):
            if number == KILLED_AFTER:
                real.server.kill()
            answered.append(await ask("plan_trip", **question))
        lost = next(body["meta"]["lost"] for body in answered[KILLED_AFTER:] if "meta" in body)
        await asyncio.to_thread(_start_and_warm, real.server)

        async def is_back():
            ask.clock.ahead_s += COOLDOWN_S
            after.append(who_answered(await ask("plan_trip", **next(iter(new_questions(len(after)))))))
            return after[-1] == LIVE

        after = []
        assert await until(is_back, within_s=180.0), after

    told = [who_answered(body) for body in answered]
    honest_nothing = {"no-itinerary-found"}
    assert set(told[:KILLED_AFTER]) - honest_nothing == {LIVE}
    assert set(told[KILLED_AFTER:]) - honest_nothing == {OFFLINE}
    assert told.count(OFFLINE) >= (QUESTIONS - KILLED_AFTER) // 2
    assert lost[0].startswith(f"{LIVE} could not be queried (")
    assert f"its fallback {OFFLINE} answered, without " in lost[0]
    assert "real time" in lost[0]


def _start_and_warm(server):
    server.start()
    for _ in range(3):
        server.ask(WARM, lat=CITY[0] + 0.03, lon=CITY[2] + 0.06)
