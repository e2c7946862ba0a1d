"""The tools over a server whose answer to each document is drawn by hand: whole ones, and one odd value in them."""

import json

from fingerpost import clock
from fingerpost.apps import error_boundary
from fingerpost.apps.wiring import list_tools
from fingerpost.net.response import Response
from fingerpost.store.network_records import NetworkRecord, NetworkRecordStore
from fingerpost.store.variables import VariableStore
from fingerpost.transit.learned_profile import LearnedProfiles
from fingerpost.transit.networks.composite import AllNetworks
from fingerpost.transit.remote.opentripplanner.network import OpenTripPlannerSource
from tests.homes import write_record
from tests.opentripplanner.answers import HERE, LEARNED, THERE, a_board, a_page, a_ride, a_time, a_walk

NOW = "2026-03-10T12:00:00+02:00"
ENDS = {
    "origin": {"type": "coords", "value": {"lat": HERE.lat, "lon": HERE.lon}},
    "destination": {"type": "coords", "value": {"lat": THERE.lat, "lon": THERE.lon}},
}
STOP = {"gtfsId": "HSL:1040601", "name": "Kamppi", "lat": 60.169, "lon": 24.931}
TRIP = [a_walk(), a_ride()]
# The word of each document that no other has.
_PLAN, _BOARD, _BY_ID, _IN_BOX = "query Plan(", "query Board(", "query StopsById(", "query StopsInBox("


def a_plan(*itineraries):
    return {"live": a_page(*itineraries)}


def a_whole_board():
    return {"stops": [a_board(a_time(3), a_time(13))]}


class OddServer:
    """Answers each document with its own data; ``down`` makes every answer one in HTML."""

    def __init__(self, *, plan=None, board=None, box=None, every=None, down=False):
        self._down = down
        self._told = {
            _PLAN: a_plan(TRIP) if plan is None else plan,
            _BOARD: a_whole_board() if board is None else board,
            _BY_ID: {"stops": [STOP], "stations": []},
            _IN_BOX: {"stopsByBbox": [STOP] if box is None else box},
        }
        self._every = {"stops": [STOP] if every is None else every, "stations": []}

    async def fetch(self, request, known=None):
        asked = json.loads(request.content)["query"]
        told = next((told for word, told in self._told.items() if word in asked), self._every)
        body = b"<html>" if self._down else json.dumps({"data": told}).encode()
        return Response(status=200, headers={}, body=body, redacted_url=request.url, retrieved_at=clock.now())


def open_tools(home, **servers):
    """Return the tools by name over networks by name; all but the first stand in for the first."""
    by_host = {f"{name.lower()}.example": server for name, server in servers.items()}

    async def fetch(request, known=None):
        return await by_host[request.url.split("/")[2]].fetch(request, known)

    first, *others = servers
    for name in (*others, first):
        record = NetworkRecord(name=name, source="opentripplanner", url=f"http://{name.lower()}.example/otp/gtfs/v1")
        LearnedProfiles(home).put(record, LEARNED)
        more = {"fallback": others[0]} if name == first and others else {}
        write_record(home, name, source=record.source, url=record.url, **more)
    source = OpenTripPlannerSource(fetch)
    networks = AllNetworks(NetworkRecordStore(home), lambda: {source.kind: source}, learned=LearnedProfiles(home))
    return {tool.name: tool for tool in list_tools(networks, VariableStore(home / "variables.sqlite"))}


async def ask(home, tool, arguments, *, wants=(), **odd):
    """Return what a tool answers over one server with odd answers."""
    tools = open_tools(home, TOWN=OddServer(**odd))
    return await error_boundary.answer(tools, tool, arguments, user=None, wants=wants)


async def plan(home, *itineraries, wants=()):
    """Return what plan_trip answers of some itineraries, each a list of legs."""
    return await ask(home, "plan_trip", ENDS, wants=wants, plan=a_plan(*itineraries))
