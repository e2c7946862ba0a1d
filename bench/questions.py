"""Questions for the demo network, no two alike, so that no cache could help."""

import asyncio
import random
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from fingerpost.apps.wiring import Application
from fingerpost.transit.model.place import Bounds, Coordinate

NETWORK = "DEMO-HELSINKI"
# A weekday morning: everything runs.
NOW = "2026-03-10T08:00:00+02:00"
ROWS = 10
ITINERARIES = 2
_RADIUS_M = 30_000.0


class Questions:
    """Draws questions whose answers are full: ten rows, two itineraries."""

    def __init__(self, application: Application, seed: int) -> None:
        self._application = application
        self._dice = random.Random(seed)
        self._asked: set[str] = set()
        opened = asyncio.run(application.networks.open())
        network = next(each for each in opened.answering if each.profile.name == NETWORK)
        near = asyncio.run(network.list_stops_near(_middle(network.profile.bounds), _RADIUS_M))
        self._stops = near.stops

    def draw_board(self) -> dict:
        """Return a board that has ten rows to show."""
        while True:
            question = {
                "stop": {"type": "id", "value": self._dice.choice(self._stops).stop.id},
                "windowMinutes": self._dice.randint(30, 60),
                "limit": ROWS,
            }
            body = self._new_answer("get_departures", question)
            if body and len(body["departures"]) == ROWS:
                return question

    def draw_trip(self) -> dict:
        """Return a trip between two positions, some way apart, that can be made in two ways."""
        while True:
            origin, destination = self._dice.sample(self._stops, 2)
            leave = datetime.fromisoformat(NOW).astimezone(ZoneInfo("Europe/Helsinki"))
            leave += timedelta(minutes=self._dice.randint(0, 600))
            question = {
                "origin": self._position(origin),
                "destination": self._position(destination),
                "when": {"type": "depart", "time": leave.isoformat()},
                "limit": ITINERARIES,
            }
            body = self._new_answer("plan_trip", question)
            if body and len(body["itineraries"]) == ITINERARIES:
                return question

    def _position(self, stop) -> dict:
        """Return a place within a short walk of a stop."""
        lat = stop.stop.coordinate.lat + self._dice.uniform(-0.002, 0.002)
        lon = stop.stop.coordinate.lon + self._dice.uniform(-0.004, 0.004)
        return {"type": "coords", "value": {"lat": round(lat, 6), "lon": round(lon, 6)}}

    def _new_answer(self, tool: str, question: dict) -> dict | None:
        """Return the answer in this process, None for an error or a question that was asked before."""
        if repr(question) in self._asked:
            return None
        self._asked.add(repr(question))
        return self.find_answer(tool, question)

    def find_answer(self, tool: str, question: dict) -> dict | None:
        """Return what the tool answers in this process, without the protocol."""
        answer = asyncio.run(self._application.tools[tool].answer(question, user=self._application.settings.user))
        return None if answer.is_error else answer.body


def _middle(bounds: Bounds) -> Coordinate:
    return Coordinate((bounds.south + bounds.north) / 2, (bounds.west + bounds.east) / 2)
