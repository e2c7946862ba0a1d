"""Questions for the demo network, all different, so that no cache can help."""

import asyncio
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import Application, build
from fingerpost.transit.model.place import Coordinate

NETWORK = "DEMO-HELSINKI"
# A weekday morning: everything runs.
NOW = "2026-03-10T08:00:00+02:00"
ROWS = 10
ITINERARIES = 2
SEED = 20260310
_RADIUS_M = 30_000.0


class Questions:
    """Draws questions that have full answers: ten rows, two itineraries."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._dice = random.Random(SEED)
        self._asked: set[str] = set()
        opened = asyncio.run(application.networks.open())
        network = next(each for each in opened.answering if each.profile.name == NETWORK)
        box = network.profile.bounds
        middle = Coordinate((box.south + box.north) / 2, (box.west + box.east) / 2)
        self._stops = asyncio.run(network.list_stops_near(middle, _RADIUS_M)).stops

    def draw_board(self) -> dict:
        return self._draw("get_departures", "departures", self._new_board)

    def draw_trip(self) -> dict:
        return self._draw("plan_trip", "itineraries", self._new_trip)

    def _draw(self, tool: str, part: str, new_question: Callable[[], dict]) -> dict:
        """Return a new question whose answer has as many entries as its limit."""
        while True:
            question = new_question()
            if repr(question) not in self._asked:
                self._asked.add(repr(question))
                body = self.find_answer(tool, question)
                if body and len(body[part]) == question["limit"]:
                    return question

    def _new_board(self) -> dict:
        stop = {"type": "id", "value": self._dice.choice(self._stops).stop.id}
        return {"stop": stop, "windowMinutes": self._dice.randint(30, 60), "limit": ROWS}

    def draw_named_board(self) -> dict:
        """Return a board for the name of a stop, at a local time without an offset."""
        return self._draw("get_departures", "departures", self._new_named_board)

    def _new_named_board(self) -> dict:
        leave = datetime.fromisoformat(NOW) + timedelta(minutes=self._dice.randint(0, 600))
        stop = {"type": "label", "value": self._dice.choice(self._stops).stop.name}
        return {"stop": stop, "at": leave.strftime("%Y-%m-%dT%H:%M:00"), "windowMinutes": 60, "limit": ROWS}

    def draw_timetable(self) -> dict:
        board = self.draw_board()
        return {"stopId": board["stop"]["value"], "at": NOW, "horizonMinutes": board["windowMinutes"]}

    def _new_trip(self) -> dict:
        """Return a trip between two positions near stops."""
        origin, destination = map(self._position, self._dice.sample(self._stops, 2))
        leave = datetime.fromisoformat(NOW) + timedelta(minutes=self._dice.randint(0, 600))
        when = {"type": "depart", "time": leave.isoformat()}
        return {"origin": origin, "destination": destination, "when": when, "limit": ITINERARIES}

    def _position(self, stop) -> dict:
        lat = stop.stop.coordinate.lat + self._dice.uniform(-0.002, 0.002)
        lon = stop.stop.coordinate.lon + self._dice.uniform(-0.004, 0.004)
        return {"type": "coords", "value": {"lat": round(lat, 6), "lon": round(lon, 6)}}

    def find_answer(self, tool: str, question: dict) -> dict | None:
        """Return the answer in this process, or None for an error."""
        answer = asyncio.run(self._application.tools[tool].answer(question, user=self._application.settings.user))
        return None if answer.is_error else answer.body


@contextmanager
def open_questions() -> Iterator[tuple[Questions, str]]:
    """Yield questions for a fresh home at ``NOW``, and the home, which is removed after the block."""
    os.environ["FINGERPOST_NOW"] = NOW
    with tempfile.TemporaryDirectory() as home:
        yield Questions(build(read_settings(home=home))), home
