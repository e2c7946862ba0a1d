"""A home with one drawn network and a realtime file, and its tools. The clock is fixed."""

import asyncio
import json
from datetime import UTC, datetime

import pytest

from fingerpost.apps.wiring import list_tools
from fingerpost.store.variables import VariableStore
from tests.feeds import timetable_from_drawing
from tests.homes import keep_network, open_networks, write_record
from tests.realtime.messages import NOW, message

DRAWING = """
rail R   | Alpha 08:10 | Beta 08:20 | Gamma 08:30
rail R   | Alpha 08:40 | Beta 08:50 | Gamma 09:00
line B   | Alpha 08:15 | Delta 08:30
line C   | Delta 08:34 | Gamma 08:55
"""
# Too far from each other to walk.
COORDINATES = {"Delta": (60.25, 24.96), "Gamma": (60.17, 25.1)}


class Town:
    def __init__(self, home, drawing=DRAWING, open_client=None, entities=(), **drawn):
        self.home = home
        self.file = home / "updates.pb"
        self.followed = ()
        drawn.setdefault("coordinates", COORDINATES)
        keep_network(home, "TEST", timetable_from_drawing(drawing, **drawn))
        self.networks = open_networks(home, open_client)
        self.tools = {tool.name: tool for tool in list_tools(self.networks, VariableStore(home / "variables.sqlite"))}
        if entities:
            self.publish(*entities)

    def publish(self, *entities):
        """Publish realtime entities in one message, or the bytes of a message."""
        data = entities[0] if isinstance(entities[0], bytes) else message(*entities, timestamp=NOW)
        draft = self.file.with_suffix(".draft")
        draft.write_bytes(data)
        draft.replace(self.file)
        self.follow(str(self.file))

    def follow(self, *sources):
        if self.followed != sources:
            self.followed = sources
            write_record(self.home, "TEST", realtime=sources)

    def ask(self, tool, **arguments):
        answer = asyncio.run(self.tools[tool].answer(arguments, user="ann"))
        self.text = answer.text
        return answer.body

    def plan(self, origin="TEST:ALPHA", destination="TEST:GAMMA", **more):
        ends = {"origin": {"type": "label", "value": origin}, "destination": {"type": "label", "value": destination}}
        return self.ask("plan_trip", **ends, **more)

    def board(self, stop="TEST:ALPHA", **more):
        return self.ask("get_departures", stop={"type": "id", "value": stop}, **more)

    def close(self):
        asyncio.run(self.networks.close())


@pytest.fixture
def clock(monkeypatch):
    def set_clock(instant):
        monkeypatch.setenv("FINGERPOST_NOW", datetime.fromtimestamp(instant, UTC).isoformat())

    set_clock(NOW)
    return set_clock


@pytest.fixture
def towns(tmp_path, clock):
    drawn = []

    def draw(drawing=DRAWING, open_client=None, **more):
        drawn.append(Town(tmp_path, drawing, open_client, **more))
        return drawn[-1]

    yield draw
    for town in drawn:
        town.close()


@pytest.fixture
def town(towns):
    return towns()


def rows(body):
    return [
        (row["line"], row["scheduledTime"][11:16], row["status"], row.get("delaySeconds")) for row in body["departures"]
    ]


def trips(body):
    return [
        " ".join(f"{leg['line']} {leg['departureTime'][11:16]}" for leg in each["legs"] if leg["mode"] != "WALK")
        for each in body["itineraries"]
    ]


def warnings(body):
    return {warning["code"]: warning["message"] for warning in body.get("warnings", [])}


def without_realtime_words(body):
    copy = json.loads(json.dumps(body))
    copy["meta"].pop("realtimeAgeSeconds", None)
    copy["warnings"] = [each for each in copy.get("warnings", []) if each["code"] != "realtime-stale"]
    return copy
