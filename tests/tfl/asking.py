"""A network whose server returns answers written by a test, and the tools over it."""

import json
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from urllib.parse import parse_qsl, unquote, urlsplit

from fingerpost.apps.wiring import list_tools
from fingerpost.store.network_records import NetworkRecord
from fingerpost.store.variables import VariableStore
from fingerpost.transit.learned_profile import LearnedProfile
from fingerpost.transit.port import DepartureQuery
from fingerpost.transit.remote.tfl.network import TflSource
from fingerpost.transit.remote.tfl.unified_api import ATTRIBUTION, BOUNDS, LANGUAGE, ZONE
from fingerpost.transit.tools.plan_journey import JourneyOptions
from tests.fakes import FakeNetworks
from tests.net.local_server import answer
from tests.net.reply_server import ENVIRON, LIMITS, new_town_client, serving_replies

URL, KEY = "http://town.example", "TOWN_KEY"
SECRET = ENVIRON[KEY]
RECORD = NetworkRecord(name="TFL", source="tfl", url=URL, key=KEY)
LEARNED = LearnedProfile(
    bounds=BOUNDS,
    zone=ZONE,
    languages=(LANGUAGE,),
    attribution=ATTRIBUTION,
    learned_at=datetime(2026, 6, 10, tzinfo=UTC),
)
NO_JOURNEY = {"message": "No journey found for your inputs.", "httpStatusCode": 404}


class Told:
    """Answers by the beginning of a path, the longest first; ``paths`` are those that were asked for.

    An answer that can be called is, with the request.
    """

    def __init__(self, answers):
        self._answers = {"/Disruptions/Lifts": [], "/Line/": [], **answers}
        self.asked = []

    @property
    def paths(self):
        return [unquote(urlsplit(each.target).path) for each in self.asked]

    @property
    def questions(self):
        targets = [urlsplit(each.target) for each in self.asked]
        return [dict(parse_qsl(each.query)) for each in targets if each.path.startswith("/Journey/")]

    async def answer(self, asked):
        self.asked.append(asked)
        path = unquote(urlsplit(asked.target).path)
        best = max((prefix for prefix in self._answers if path.startswith(prefix)), key=len, default=None)
        told = self._answers.get(best, (404, {"message": f"The following stop point is not recognised: {path}"}))
        if callable(told):
            told = await told(asked)
        if isinstance(told, bytes):
            return told
        status, body = told if isinstance(told, tuple) else (200, told)
        return answer(f"{status} Said", json.dumps(body).encode(), Content_Type="application/json")


@asynccontextmanager
async def asking(answers, record=RECORD):
    told = Told(answers)
    async with serving_replies(told.answer) as port, new_town_client(port) as client:
        yield TflSource(client.fetch, LIMITS).open(record, LEARNED), told


async def list_board(network, stop_id, instant, window_s):
    query = DepartureQuery(stop_ids=[stop_id], instant=instant, window_s=window_s, wanted=50)
    return await network.list_departures(query)


@asynccontextmanager
async def planning(answers, tmp_path, **options):
    """Yield ``ask(arguments)`` for planJourney, whose limit is out of the way, and what the server is told."""
    async with asking(answers) as (network, told):
        tools = list_tools(
            FakeNetworks(network),
            VariableStore(tmp_path / "variables.sqlite"),
            journeys=JourneyOptions(per_second=1000, **options),
        )
        tool = next(tool for tool in tools if tool.name == "planJourney")

        async def ask(origin, destination, **more):
            return await tool.answer({"from": origin, "to": destination, **more}, user="ann")

        yield ask, told


def a_point(naptan_id=None, name="Place", lat=51.5, lon=-0.1, **more):
    return {"commonName": name, "lat": lat, "lon": lon, **({"naptanId": naptan_id} if naptan_id else {}), **more}


def a_leg(departure, arrival, minutes, mode="tube", line="Victoria", **more):
    """Draw a leg from HH:MM to HH:MM of 2026-06-10, or between whole texts."""
    times = [text if "T" in text else f"2026-06-10T{text}:00" for text in (departure, arrival)]
    route = {"name": line, "directions": ["Brixton"], "lineIdentifier": {"id": line.lower(), "name": line}}
    return {
        "duration": minutes,
        "departureTime": times[0],
        "arrivalTime": times[1],
        "departurePoint": a_point("940GZZLUVIC", "Victoria Underground Station"),
        "arrivalPoint": a_point("940GZZLUOXC", "Oxford Circus Underground Station", 51.515, -0.141),
        "mode": {"id": mode, "name": mode},
        "routeOptions": [] if mode == "walking" else [route],
        **more,
    }


def journeys(*legs, **more):
    made = [
        {
            "startDateTime": leg["departureTime"],
            "arrivalDateTime": leg["arrivalTime"],
            "duration": leg["duration"],
            "legs": [leg],
        }
        for leg in legs
    ]
    return {"journeys": made, "lines": [], "stopMessages": [], **more}
