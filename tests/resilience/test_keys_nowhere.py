"""A key goes to its server, and nowhere else: no log, answer, error or file of a home has it.

Every tool is asked over a server that repeats the key wherever it can, in every kind of trouble.
Digitransit has such a test of its own in ``tests/opentripplanner/test_keys.py``, because its addresses are fixed.
"""

import json
import logging
from urllib.parse import quote, urlsplit

import pytest

from fingerpost.apps.wiring import list_tools
from fingerpost.errors import SourceKeyRefused, ToolError
from fingerpost.net.addresses import CheckedBackend
from fingerpost.net.client import Client
from fingerpost.net.limiter import Limiter
from fingerpost.net.loop_clients import LoopClients
from fingerpost.net.request import RequestLimits
from fingerpost.net.transport import WireTransport
from fingerpost.runtime.circuit_breaker import Breaker
from fingerpost.store.limits import Limits
from fingerpost.store.network_records import NetworkRecord, NetworkRecordStore
from fingerpost.store.variables import VariableStore
from fingerpost.transit.learned_profile import LearnedProfiles
from fingerpost.transit.networks.composite import AllNetworks
from fingerpost.transit.remote.motis.network import MotisSource
from fingerpost.transit.remote.tfl.network import TflSource
from fingerpost.transit.tools.plan_journey import JourneyOptions
from tests.homes import write_record
from tests.net.local_server import LOOPBACK, FakeTime, answer
from tests.throwaway.server import serving_replies

# Characters that addresses, JSON and pages write differently.
KEY = "m4rk3r/k&y+0f=th1s"
VARIABLE = "MARKER_KEY"
FORMS = (KEY, quote(KEY, safe=""), "m4rk3r")
NOW = "2026-06-10T08:00:00Z"
URL = "http://town.example"
# Large enough for a machine that is busy; half an answer is waited for no longer than need be.
ONCE, BRIEFLY = (RequestLimits(read_s=read_s, total_s=60.0, attempts=1) for read_s in (60.0, 0.1))
ECHO = f"The key {KEY} ({quote(KEY, safe='')}) is not known"
# What a server may write for the key in JSON: as it is, as an address, with escapes.
SPELLINGS = {
    "plain": KEY,
    "of an address": quote(KEY, safe=""),
    "escaped": KEY.replace("/", "\\/"),
    "twice": f"{KEY}{KEY}",
}
BOUNDS = (51.25, -1.0, 51.75, 0.4)

TROUBLES = {
    **dict.fromkeys(f"none, with the key in every name, {spelling}" for spelling in SPELLINGS),
    "401": answer("401 Unauthorized", json.dumps({"message": ECHO}).encode()),
    "403": answer("403 Forbidden", ECHO.encode()),
    "404": answer("404 Not Found", json.dumps({"message": ECHO, "error": ECHO}).encode()),
    "404 of a page": answer("404 Not Found", f"<html>{ECHO}</html>".encode()),
    "409": answer("409 Conflict", json.dumps({"message": ECHO}).encode()),
    "422": answer("422 Unprocessable Entity", json.dumps({"error": ECHO}).encode()),
    "429": answer("429 Too Many Requests", json.dumps({"message": f"Invalid app_key {KEY}"}).encode(), Retry_After="1"),
    "500": answer("500 Oh", ECHO.encode()),
    "502 with headers": answer("502 Bad Gateway", b"", X_Told=quote(KEY, safe=""), Set_Cookie=f"k={quote(KEY)}"),
    "a page as success": answer(body=ECHO.encode()),
    "another shape": answer(body=json.dumps({"journeys": ECHO, "itineraries": ECHO, "message": ECHO}).encode()),
    "redirect elsewhere": answer("302 Found", Location=f"http://town.example/elsewhere?k={quote(KEY, safe='')}"),
    "redirect to nowhere": answer("301 Moved", Location=f"http://{quote(KEY, safe='')}.invalid/"),
    "half an answer": b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + ECHO.encode(),
    "no HTTP": ECHO.encode() + b"\r\n\r\n",
}


def _tell_tfl(path):
    """Answer in TfL's shapes, with the key in every text."""
    said = f"Stop {ECHO}"
    stop = {"id": "940GZZLUVIC", "naptanId": "940GZZLUVIC", "commonName": said, "stopType": "NaptanMetroStation"}
    stop |= {"lat": 51.5, "lon": -0.1, "lines": [{"id": "victoria", "name": said}], "modes": ["tube"]}
    leg = {"duration": 9, "departureTime": "2026-06-10T09:05:00", "arrivalTime": "2026-06-10T09:14:00"}
    leg |= {"mode": {"id": "tube", "name": said}, "disruptions": [{"description": said}]}
    leg |= {end: {"commonName": said, "lat": 51.5, "lon": -0.1} for end in ("departurePoint", "arrivalPoint")}
    journey = {"startDateTime": leg["departureTime"], "arrivalDateTime": leg["arrivalTime"], "duration": 9}
    journeys = {"journeys": [{**journey, "legs": [leg]}], "lines": [], "stopMessages": [said]}
    known = {"hour": "9", "minute": "40", "intervalId": 0}
    route = {"stationIntervals": [{"id": "0", "intervals": [{"stopId": "X"}]}]}
    route["schedules"] = [{"name": "Daily", "knownJourneys": [known]}, {"name": said, "knownJourneys": [known]}]
    timetable = {"stops": [{"id": "X", "name": said}], "timetable": {"routes": [route]}}
    arrival = {"id": KEY, "naptanId": "940GZZLUVIC", "lineId": "victoria", "lineName": said, "modeName": "tube"}
    arrival |= {"timestamp": NOW, "expectedArrival": "2026-06-10T08:09:00Z", "destinationName": said}
    told = {
        "/Line/Meta": [{"modeName": "tube", "isScheduledService": True}],
        "/Journey": journeys,
        "/Line/victoria/Timetable": timetable,
        "/Line": [],
        "/StopPoint/Search": {"matches": [{"id": "940GZZLUVIC", "name": said, "lat": 51.5, "lon": -0.1}]},
        "/StopPoint/940GZZLUVIC/Arrivals": [arrival],
        "/StopPoint/940GZZLUVIC/Disruption": [{"description": said}],
        "/StopPoint/940GZZLUVIC": stop,
        "/StopPoint": {"stopPoints": [stop]},
        "/Disruptions": [{"naptanCode": "940GZZLUVIC", "message": said}],
    }
    return told[max((each for each in told if path.startswith(each)), key=len)]


def _tell_motis(path):
    """Answer in MOTIS' shapes, with the key in every text."""
    said = f"Stop {ECHO}"
    place = {"name": said, "stopId": f"x_{KEY}", "lat": 51.5, "lon": -0.1, "vertexType": "TRANSIT", "tz": said}
    place |= {"departure": "2026-06-10T08:09:00Z", "scheduledDeparture": "2026-06-10T08:09:00Z"}
    place |= {"arrival": "2026-06-10T08:19:00Z", "scheduledArrival": "2026-06-10T08:19:00Z"}
    leg = {"mode": "BUS", "from": place, "to": place, "duration": 600, "realTime": False, "scheduled": True}
    leg |= {"startTime": "2026-06-10T08:09:00Z", "endTime": "2026-06-10T08:19:00Z"}
    leg |= {"scheduledStartTime": leg["startTime"], "scheduledEndTime": leg["endTime"], "routeShortName": said}
    leg |= {"legGeometry": {"points": "", "precision": 6, "length": 0}, "tripId": KEY, "headsign": said}
    leg |= {"alerts": [{"headerText": said, "descriptionText": said}]}
    times = {"place": place, "mode": "BUS", "realTime": False, "headsign": said, "routeShortName": said}
    times |= {"tripId": KEY, "cancelled": False, "tripCancelled": False, "agencyName": said}
    match = {"type": "STOP", "name": said, "id": f"x_{KEY}", "lat": 51.5, "lon": -0.1, "areas": []}
    itinerary = {"startTime": leg["startTime"], "endTime": leg["endTime"], "duration": 600, "transfers": 0}
    told = {
        "plan": {"itineraries": [{**itinerary, "legs": [leg]}], "direct": [], "previousPageCursor": KEY},
        "stoptimes": {"stopTimes": [times], "place": place, "previousPageCursor": KEY, "nextPageCursor": KEY},
        "stops": [place],
        "initial": {"lat": 51.5, "lon": -0.1, "serverConfig": {"motisVersion": ECHO}},
        "reverse-geocode": [match],
        "geocode": [match],
    }
    return told[path.rsplit("/", 1)[-1]]


@pytest.mark.parametrize(
    ("kind", "new_source", "tell", "given"),
    [
        ("tfl", TflSource, _tell_tfl, {"url": URL, "key": VARIABLE}),
        ("motis", MotisSource, _tell_motis, {"url": URL, "key": VARIABLE}),
        ("motis", MotisSource, _tell_motis, {"url": f"{URL}?apikey=${{{VARIABLE}}}"}),
    ],
    ids=["tfl, header", "motis, header", "motis, parameter"],
)
@pytest.mark.parametrize("trouble", TROUBLES)
async def test_a_key_is_nowhere_but_on_the_wire(kind, new_source, tell, given, trouble, tmp_path, caplog, monkeypatch):
    """Whatever the server answers, and should it repeat the key itself."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("FINGERPOST_NOW", NOW)
    monkeypatch.setenv("FINGERPOST_HOME", str(tmp_path))
    monkeypatch.setenv(VARIABLE, KEY)
    sent = []

    async def reply(asked):
        sent.append(asked)
        if TROUBLES[trouble] is not None:
            return TROUBLES[trouble]
        told = json.dumps(tell(urlsplit(asked.target).path)).replace(KEY, SPELLINGS[trouble.rpartition(", ")[2]])
        return answer(body=told.encode(), Content_Type="application/json")

    limits = BRIEFLY if trouble == "half an answer" else ONCE
    async with serving_replies(reply) as port:
        record = NetworkRecord(name="TOWN", source=kind, **given)
        answers = await _use_everything(tmp_path, port, lambda fetch: new_source(fetch, limits), record)
    # Answers may be read as JSON or as text, and a log is what a person sees.
    found = {
        "answers": [text for text in answers if _holds_key(text)],
        "log": [record.getMessage() for record in caplog.records if _holds_key(record.getMessage())],
        "files": [str(path) for path in tmp_path.rglob("*") if path.is_file() and _holds_key(_read(path))],
    }

    assert found == {"answers": [], "log": [], "files": []}
    assert sent
    assert [asked.target for asked in sent if not _has_key(asked)] == []


def _has_key(asked):
    """Whether a request had the key, where it belongs; what a redirect leads to must not have it."""
    if "elsewhere" in asked.target:
        return True
    in_header = KEY in (asked.headers.get("app_key"), asked.headers.get("authorization"))
    return in_header or f"apikey={quote(KEY, safe='')}" in asked.target


def _holds_key(text):
    return any(form.lower() in text.lower() for form in FORMS)


def _read(path):
    return path.read_bytes().decode(errors="replace")


async def _use_everything(home, port, new_source, record):
    """Add the network and ask each tool; return every answer and every error as text."""
    answers = []
    async with _new_client(home, port) as client:
        source = new_source(client.fetch)
        try:
            learned = await source.learn(record)
            LearnedProfiles(home).put(record, learned)
            answers.append(repr(learned))
        except (ToolError, ValueError) as error:
            answers.append(_tell_error(error))
    fields = {name: value for name, value in (("url", record.url), ("key", record.key)) if value}
    write_record(home, record.name, source=record.source, zone="Europe/London", bounds=BOUNDS, **fields)
    clients = LoopClients(lambda: _new_client(home, port))
    networks = AllNetworks(
        NetworkRecordStore(home),
        lambda: {record.source: new_source(clients.fetch)},
        learned=LearnedProfiles(home),
        clients=clients,
    )
    tools = list_tools(
        networks, VariableStore(home / "variables.sqlite"), journeys=JourneyOptions(per_second=1000, with_demo=False)
    )
    by_name = {tool.name: tool for tool in tools}
    try:
        for name, arguments in QUESTIONS:
            answered = await by_name[name].answer(arguments, user="ann")
            answers += [answered.text, json.dumps(answered.body, ensure_ascii=False), repr(answered)]
        opened = await networks.open()
        answers += [repr(opened), *(repr(network.profile) for network in opened.answering)]
    finally:
        await networks.close()
    return answers


def _new_client(home, port, environ=None):
    async def resolve(host, _):
        return [LOOPBACK]

    time = FakeTime()
    return Client(
        transport=WireTransport(CheckedBackend(["town.example"], resolve=resolve, inner=port)),
        limiter=Limiter(Limits(home / "limits.sqlite"), clock_ms=time.clock_ms, sleep=time.sleep),
        breaker=Breaker(threshold=1000),
        environ={VARIABLE: KEY} if environ is None else environ,
    )


def _tell_error(error):
    told = f"{error!r} {error} {getattr(error, 'details', '')} {getattr(error, 'hint', '')}"
    return told + (error.user_message() if isinstance(error, ToolError) else "")


HERE, THERE = ({"type": "coords", "value": {"lat": lat, "lon": -0.1}} for lat in (51.5, 51.52))
STOP = "TOWN:940GZZLUVIC"
QUESTIONS = [
    ("plan_trip", {"origin": HERE, "destination": THERE}),
    ("plan_trip", {"origin": {"type": "label", "value": "Stop"}, "destination": THERE}),
    ("planRoute", {"origin": {"rawText": "51.5,-0.1"}, "destination": {"rawText": "51.52,-0.1"}}),
    ("planJourney", {"from": "Victoria", "to": "Oxford Circus"}),
    ("get_departures", {"stop": {"type": "id", "value": STOP}, "windowMinutes": 60}),
    ("getStopTimetable", {"stopId": STOP}),
    ("findAddressOrStop", {"rawText": "Stop"}),
    ("findAddressOrStop", {"rawText": "51.5,-0.1"}),
    ("find_stops", {"coordinate": {"lat": 51.5, "lon": -0.1}}),
]


async def test_a_missing_key_is_named_and_nothing_is_sent(tmp_path, monkeypatch):
    """The name of its variable is for the operator to read."""
    monkeypatch.setenv("FINGERPOST_NOW", NOW)
    sent = []

    async def reply(asked):
        sent.append(asked)
        return answer()

    async with serving_replies(reply) as port, _new_client(tmp_path, port, {}) as client:
        source = TflSource(client.fetch, ONCE)
        with pytest.raises(SourceKeyRefused, match=VARIABLE):
            await source.learn(NetworkRecord(name="TOWN", source="tfl", url=URL, key=VARIABLE))

    assert sent == []
