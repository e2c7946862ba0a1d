"""Where an answer says that no query finds a trip, sending the follow-up queries would change nothing."""

import random
from dataclasses import replace

import pytest

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.network import EmbeddedNetwork
from tests.worlds.feeds import draw_world
from tests.worlds.opening import open_world

QUESTIONS = 40
# Some of the places are farther from all stops than the longest walk of 3,000 m.
NORTH_DEGREES = (-0.04, -0.027, -0.02, -0.01, 0.0, 0.01, 0.02, 0.027, 0.04)


def draw_calls(dice, world):
    time = world.now.isoformat()
    for _ in range(QUESTIONS):
        ends = [f"{lat + dice.choice(NORTH_DEGREES)},{lon}" for lat, lon in dice.choices(world.stops, k=2)]
        kind, field = dice.choice((("depart", "departureTime"), ("arrive", "arrivalTime")))
        constraints = {
            "maxWalkingDistance": dice.choice((60, 1500, 3000)),
            "accessibility": {"stepFree": dice.random() < 0.3},
        }
        trip = {"when": {"type": kind, "time": time}, "constraints": constraints}
        yield "plan_trip", {"origin": ends[0], "destination": ends[1], **trip}
        yield "planRoute", {"origin": {"rawText": ends[0]}, "destination": {"rawText": ends[1]}, field: time}


# Odd seeds have streets; the questions of seeds 3 and 4 are about a day without a timetable.
@pytest.mark.parametrize("seed", [0, 1, 2, 5])
def test_skipped_queries_would_change_nothing(seed, tmp_path, monkeypatch):
    world, plan = draw_world(seed, with_streets=bool(seed % 2)), EmbeddedNetwork.plan_journeys
    monkeypatch.setenv("FINGERPOST_NOW", world.now.isoformat())
    opened, (lat, lon) = open_world(world, tmp_path), world.stops[0]
    bounds = (lat - 0.1, lon - 0.2, lat + 0.1, lon + 0.2)
    opened.network.configure(NetworkRecord(name="WORLD", source="gtfs", bounds=bounds))
    calls = list(draw_calls(random.Random(seed), world))
    skipped = []

    async def plan_further(network, query):
        answer = await plan(network, query)
        skipped.append(answer.is_final)
        return replace(answer, is_final=False)

    answers = [opened.call(*call) for call in calls]
    monkeypatch.setattr(EmbeddedNetwork, "plan_journeys", plan_further)

    assert [opened.call(*call) for call in calls] == answers
    assert any(skipped)
