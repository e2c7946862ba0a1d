"""A server that tells a network's answers in a simple JSON of its own, and may be in trouble."""

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import replace

import httpcore2
from pydantic import TypeAdapter

from fingerpost.errors import OutsideCalendar
from fingerpost.testing.networks.source import Trouble
from fingerpost.transit.model.itinerary import Departure, Itinerary, NearbyStop, ServiceAlert
from fingerpost.transit.model.place import Coordinate, Place, PlaceMatch
from fingerpost.transit.port import DepartureQuery, JourneyQuery
from tests.net.local_server import LOOPBACK, answer, read_request

URL = "http://town.example"
TROUBLED = {
    Trouble.FAILING: answer("500 Oh"),
    Trouble.LIMITING: answer("429 Slow Down", Retry_After="60"),
    Trouble.MALFORMED: answer(body=b"<html>Maintenance</html>"),
}


class Port(httpcore2.AnyIOBackend):
    """Finds the server at port 80, wherever it listens; None for nowhere."""

    def __init__(self, port):
        self.number = port

    async def connect_tcp(self, host, port, *rest):
        if self.number is None:
            raise httpcore2.ConnectError("refused")
        return await super().connect_tcp(host, self.number, *rest)


async def tell_about(network, _):
    box = network.profile.bounds
    told = {"bounds": [box.south, box.west, box.north, box.east], "zone": network.profile.zone}
    return {**told, "attribution": network.profile.attribution, "modes": sorted(network.profile.modes)}


async def tell_plan(network, asked):
    try:
        found = await network.plan_journeys(TypeAdapter(JourneyQuery).validate_python(asked))
    except OutsideCalendar as error:
        return {"outside": error.message}
    return {
        "itineraries": _itineraries(found.itineraries),
        "timetabled": _itineraries(found.timetabled),
        "stepFree": found.step_free_supported,
        "realtime": found.provenance.realtime_updated,
    }


async def tell_board(network, asked):
    found = await network.list_departures(TypeAdapter(DepartureQuery).validate_python(asked))
    rows = TypeAdapter(list[Departure]).dump_python(list(found.departures), mode="json")
    alerts = TypeAdapter(list[ServiceAlert]).dump_python(list(found.alerts), mode="json")
    realtime = found.provenance.realtime_updated
    return {"departures": rows, "count": found.found_count, "alerts": alerts, "realtime": realtime}


async def tell_places(network, asked):
    focus = None if asked["focus"] is None else Coordinate(*asked["focus"])
    found = await network.find_places(asked["text"], language=asked["language"], focus=focus)
    return {
        "places": TypeAdapter(list[PlaceMatch]).dump_python(
            _thawed_matches(found), mode="json", exclude={"__all__": {"describe"}}
        )
    }


async def tell_stop(network, asked):
    return _place(await network.find_stop(asked["id"], language=asked["language"]))


async def tell_place(network, asked):
    return _place(await network.find_stop_place(asked["id"], language=asked["language"]))


async def tell_near(network, asked):
    found = await network.list_stops_near(Coordinate(*asked["at"]), asked["metres"])
    return {"stops": TypeAdapter(list[NearbyStop]).dump_python(list(found.stops), mode="json")}


TELLERS = {
    "/about": tell_about,
    "/plan": tell_plan,
    "/board": tell_board,
    "/places": tell_places,
    "/stop": tell_stop,
    "/place": tell_place,
    "/near": tell_near,
}


@asynccontextmanager
async def serving_replies(reply, trouble=None):
    """Serve on a free port; ``reply`` turns a request into the bytes of an answer. Yield how to connect."""
    if trouble is Trouble.UNREACHABLE:
        yield Port(None)
        return
    tasks = set()

    async def serve(reader, writer):
        tasks.add(asyncio.current_task())
        try:
            while (asked := await read_request(reader)) is not None:
                if trouble is Trouble.SILENT:
                    await asyncio.Event().wait()
                writer.write(TROUBLED.get(trouble) or await reply(asked))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(serve, LOOPBACK, 0)
    try:
        yield Port(server.sockets[0].getsockname()[1])
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)


def serving_network(network, trouble=None):
    return serving_replies(lambda asked: _answer(network, asked), trouble)


async def _answer(network, asked):
    told = await TELLERS[asked.target](network, json.loads(asked.body))
    return answer(body=json.dumps(told).encode(), Content_Type="application/json")


def _itineraries(found):
    told = [Itinerary(tuple(replace(leg, handle=None) for leg in each.legs)) for each in found]
    return TypeAdapter(list[Itinerary]).dump_python(told, mode="json")


def _thawed(place):
    return replace(place, names=dict(place.names))


def _thawed_matches(found):
    return [replace(each, place=_thawed(each.place)) for each in found]


def _place(found):
    return {"place": None if found is None else TypeAdapter(Place).dump_python(_thawed(found), mode="json")}
