"""A server for each remote kind that answers every request, and all tools over it."""

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

from fingerpost.apps.wiring import list_tools
from fingerpost.errors import ToolError
from fingerpost.net.limiter import Limiter
from fingerpost.net.loop_clients import LoopClients
from fingerpost.store.limits import Limits
from fingerpost.store.network_records import NetworkRecord, NetworkRecordStore
from fingerpost.store.variables import VariableStore
from fingerpost.transit.learned_profile import LearnedProfile, LearnedProfiles
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.model.provenance import FeedVersion
from fingerpost.transit.networks.composite import AllNetworks
from fingerpost.transit.networks.wrappers import NetworkBreaker
from fingerpost.transit.remote.kit.server import new_limits
from fingerpost.transit.remote.motis.network import MotisSource
from fingerpost.transit.remote.opentripplanner.network import OpenTripPlannerSource
from fingerpost.transit.remote.tfl.network import TflSource
from fingerpost.transit.tools.plan_journey import JourneyOptions
from tests.homes import write_record
from tests.net import local_server
from tests.net.local_server import FakeTime, answer, anywhere
from tests.net.reply_server import serving_replies
from tests.opentripplanner.answers import a_board, a_page, a_ride, a_time
from tests.tfl.asking import a_leg, a_point, journeys

HOST, VARIABLE = "town.example", "MARKER_KEY"
URL = f"http://{HOST}"
NOW = "2026-06-10T08:00:00Z"
LEFT, ARRIVES = "2026-06-10T08:09:00Z", "2026-06-10T08:19:00Z"
# Large enough for a machine that is busy.
PATIENT = replace(new_limits(20.0), total_s=60.0)


def tell_tfl(asked, said):
    path = urlsplit(asked.target).path
    stop = {"id": "940GZZLUVIC", "naptanId": "940GZZLUVIC", "commonName": said, "stopType": "NaptanMetroStation"}
    stop |= {"lat": 51.5, "lon": -0.1, "lines": [{"id": "victoria", "name": said}], "modes": ["tube"]}
    ends = dict.fromkeys(("departurePoint", "arrivalPoint"), a_point(name=said))
    leg = a_leg("09:05", "09:14", 9, line=said, disruptions=[{"description": said}], **ends)
    arrival = {"id": said, "naptanId": "940GZZLUVIC", "lineId": "victoria", "lineName": said, "modeName": "tube"}
    told = {
        "/Line/Meta": [{"modeName": "tube", "isScheduledService": True}],
        "/Journey": journeys(leg, stopMessages=[said]),
        "/Line": [],
        "/StopPoint/Search": {"matches": [{"id": "940GZZLUVIC", "name": said, "lat": 51.5, "lon": -0.1}]},
        "/StopPoint/940GZZLUVIC/Arrivals": [
            {**arrival, "timestamp": NOW, "expectedArrival": LEFT, "destinationName": said}
        ],
        "/StopPoint/940GZZLUVIC/Disruption": [{"description": said}],
        "/StopPoint/940GZZLUVIC": stop,
        "/StopPoint": {"stopPoints": [stop]},
        "/Disruptions": [{"naptanCode": "940GZZLUVIC", "message": said}],
    }
    return told[max((prefix for prefix in told if path.startswith(prefix)), key=len)]


def tell_motis(asked, said):
    place = {"name": said, "stopId": "town_VIC", "lat": 51.5, "lon": -0.1, "tz": said, "departure": LEFT}
    leg = {"mode": "BUS", "from": place, "to": place, "startTime": LEFT, "endTime": ARRIVES, "tripId": said}
    leg |= {"scheduledStartTime": LEFT, "scheduledEndTime": ARRIVES, "routeShortName": said, "headsign": said}
    leg |= {"alerts": [{"headerText": said, "descriptionText": said}]}
    times = {"place": place, "mode": "BUS", "headsign": said, "routeShortName": said, "tripId": said}
    match = {"type": "STOP", "name": said, "id": "town_VIC", "lat": 51.5, "lon": -0.1, "areas": []}
    told = {
        "plan": {"itineraries": [{"legs": [leg]}], "direct": [], "previousPageCursor": said},
        "stoptimes": {"stopTimes": [times], "place": place, "nextPageCursor": said},
        "stops": [place],
        "initial": {"lat": 51.5, "lon": -0.1, "serverConfig": {"motisVersion": said}},
        "geocode": [match],
    }
    return told[urlsplit(asked.target).path.rsplit("/", 1)[-1]]


def tell_opentripplanner(asked, said):
    document = json.loads(asked.body)["query"]
    stop = {"gtfsId": "TOWN:VIC", "name": said, "lat": 51.5, "lon": -0.1, "routes": [{"type": 3}]}
    ends = {end: {"name": said, "lat": 51.5, "lon": -0.1, "stop": None} for end in ("from", "to")}
    times = {"start": {"scheduledTime": LEFT}, "end": {"scheduledTime": ARRIVES}}
    agency = {"name": said, "timezone": "Europe/London", "lang": "en"}
    midnight = int(datetime(2026, 6, 9, 23, tzinfo=UTC).timestamp())
    row = a_time(serviceDay=midnight, scheduledDeparture=9 * 3600 + 540, headsign=said)
    told = {
        "query Network": {
            "feeds": [{"feedId": "TOWN", "publisher": {"name": said}, "agencies": [agency]}],
            "routes": [{"type": 3}],
        },
        "query Plan": {"live": a_page([a_ride(**ends, **times, headsign=said)])},
        "query Board": {"stops": [a_board(row, gtfs_id="TOWN:VIC", platform=said)]},
        "query StopsById": {"stops": [stop], "stations": []},
        "query StopsInBox": {"stopsByBbox": [stop]},
        "query AllStops": {"stops": [stop], "stations": []},
    }
    return {"data": next(data for name, data in told.items() if f"{name} " in document or f"{name}(" in document)}


@dataclass(frozen=True)
class Kind:
    new_source: object
    tell: object
    stop_id: str
    path: str = ""


KINDS = {
    "tfl": Kind(TflSource, tell_tfl, "940GZZLUVIC"),
    "motis": Kind(MotisSource, tell_motis, "VIC"),
    "opentripplanner": Kind(OpenTripPlannerSource, tell_opentripplanner, "VIC", "/otp/gtfs/v1"),
}
LEARNED = LearnedProfile(
    bounds=Bounds(south=51.25, west=-1.0, north=51.75, east=0.4),
    zone="Europe/London",
    feeds=(FeedVersion(name="town"),),
    attribution=("Town Transport",),
    learned_at=datetime(2026, 3, 1, tzinfo=UTC),
)


def list_questions(kind, name):
    here, there = ({"type": "coords", "value": {"lat": lat, "lon": -0.1}} for lat in (51.5, 51.52))
    stop_id = f"TOWN:{KINDS[kind].stop_id}"
    return {
        "trip": ("plan_trip", {"origin": here, "destination": there}),
        "trip from a name": ("plan_trip", {"origin": {"type": "label", "value": name}, "destination": there}),
        "route": (
            "planRoute",
            {"origin": {"rawText": "51.5,-0.1"}, "destination": {"rawText": "51.52,-0.1"}, "departureTime": NOW},
        ),
        "journey": ("planJourney", {"from": "Victoria", "to": "Oxford Circus"}),
        "board": ("get_departures", {"stop": {"type": "id", "value": stop_id}, "windowMinutes": 20}),
        "timetable": ("getStopTimetable", {"stopId": stop_id}),
        "name": ("findAddressOrStop", {"rawText": name}),
        "position": ("findAddressOrStop", {"rawText": "51.5,-0.1"}),
        "stops": ("find_stops", {"coordinate": {"lat": 51.5, "lon": -0.1}}),
    }


def new_record(kind, **given):
    return NetworkRecord(**{"name": "TOWN", "source": kind, "url": f"{URL}{KINDS[kind].path}", **given})


def new_client(home, port, environ, time=None):
    time = time or FakeTime()
    limiter = Limiter(Limits(home / "limits.sqlite"), clock_ms=time.clock_ms, sleep=time.sleep)
    given = {"private_hosts": [HOST], "resolve": anywhere, "inner": port, "environ": environ}
    return local_server.new_client(limiter=limiter, **given)


@asynccontextmanager
async def tools_over(home, port, record, *, environ, limits=PATIENT, time=None, learned=LEARNED):
    new_source = KINDS[record.source].new_source
    LearnedProfiles(home).put(record, learned)
    stated = {name: value for name, value in (("url", record.url), ("key", record.key)) if value}
    write_record(home, record.name, source=record.source, **stated)
    clients = LoopClients(lambda: new_client(home, port, environ, time))
    networks = AllNetworks(
        NetworkRecordStore(home),
        lambda: {record.source: new_source(clients.fetch, limits)},
        learned=LearnedProfiles(home),
        clients=clients,
        breaker=NetworkBreaker(threshold=1000),
    )
    options = JourneyOptions(per_second=1000, are_demos_enabled=lambda: False)
    tools = list_tools(networks, VariableStore(home / "variables.sqlite"), journeys=options)
    try:
        yield {tool.name: tool for tool in tools}, networks
    finally:
        await networks.close()


async def ask(tools, kind, word):
    tool, arguments = list_questions(kind, "Victoria")[word]
    return (await tools[tool].answer(arguments, user="ann")).body


async def ask_over(kind, home, reply, *words, **given):
    async with (
        serving_replies(reply) as port,
        tools_over(home, port, new_record(kind), environ={"TFL_API_KEY": "s3cr3t-k3y"}, **given) as (tools, _),
    ):
        return [await ask(tools, kind, word) for word in words]


def as_json(told):
    return answer(body=json.dumps(told).encode(), Content_Type="application/json")


def say_error(error):
    told = f"{error!r} {error} {getattr(error, 'details', '')} {getattr(error, 'hint', '')}"
    return told + (error.user_message() if isinstance(error, ToolError) else "")
