"""A hostile server through the tools: rule A5's code each time, a wait that is named, a call that recovers."""

import asyncio
import json
import logging
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest

from fingerpost.apps.wiring import list_tools
from fingerpost.net.addresses import CheckedBackend
from fingerpost.net.client import Client
from fingerpost.net.limiter import Limiter
from fingerpost.net.loop_clients import LoopClients
from fingerpost.net.request import RequestLimits
from fingerpost.net.transport import WireTransport
from fingerpost.store.limits import Limits
from fingerpost.store.network_records import NetworkRecord, NetworkRecordStore
from fingerpost.store.variables import VariableStore
from fingerpost.testing.networks.town import NAME, NOW, PLACES, new_town
from fingerpost.transit.learned_profile import LearnedProfiles
from fingerpost.transit.networks.composite import AllNetworks
from fingerpost.transit.remote.kit.server import STOPS_FRESH_S
from fingerpost.transit.remote.opentripplanner.network import OpenTripPlannerSource
from fingerpost.transit.remote.opentripplanner.server import LIVE_FRESH_S
from tests.conformance.embedded import EmbeddedConformance
from tests.homes import write_record
from tests.net.local_server import LOOPBACK, FakeTime, answer, read_request
from tests.opentripplanner.town_server import TownServer
from tests.throwaway.server import Port

URL = "http://town.example/otp/gtfs/v1"
KEY = "m4rker-k3y-0f-n0b0dy"
# Small enough that a gigabyte is soon too much, large enough for a machine that is busy; silence ends soonest.
LIMITS = RequestLimits(read_s=20.0, total_s=60.0, max_bytes=2_000_000, attempts=3)
IMPATIENT = replace(LIMITS, read_s=0.05, attempts=1)
GIGABYTE = 1_000_000_000


def _json(told):
    return answer(body=json.dumps(told).encode(), Content_Type="application/json")


@dataclass
class Hostile:
    """Answers as the town does, unless there is ``trouble``: bytes, or a way to write them.

    ``times`` is how many requests meet the trouble; None for all.
    """

    reply: object
    trouble: object = None
    times: int | None = None
    asked: list = field(default_factory=list)
    sent: int = 0

    async def serve(self, reader, writer):
        try:
            while (asked := await read_request(reader)) is not None:
                self.asked.append(asked)
                trouble = self.trouble
                if trouble is not None and self.times is not None:
                    self.times -= 1
                    self.trouble = trouble if self.times > 0 else None
                if trouble is None:
                    writer.write(_json(await self.reply(json.loads(asked.body))))
                elif isinstance(trouble, bytes):
                    writer.write(trouble)
                else:
                    await trouble(self, writer)
                    return
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            writer.close()


async def hang(hostile, writer):
    await asyncio.Event().wait()


async def reset(hostile, writer):
    writer.transport.abort()


async def truncate(hostile, writer):
    writer.write(answer(body=b'{"data": {}}' * 100)[:200])
    await writer.drain()


async def flood(hostile, writer):
    piece = b" " * 65_536
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while hostile.sent < GIGABYTE:
        writer.write(piece)
        await writer.drain()
        hostile.sent += len(piece)


HTML = answer(body=f"<html>Maintenance. You sent {KEY}.</html>".encode(), Content_Type="text/html")
GRAPHQL = _json({"data": None, "errors": [{"message": f"Exception while fetching data for {KEY}"}]})

PLAN, BOARD, LOOKUP = "plan_trip", "get_departures", "findAddressOrStop"
TROUBLES = {
    "429": (answer("429 Too Many", Retry_After="70"), "rate-limited", "rate-limited", "RATE_LIMITED"),
    "500": (answer("500 Oh"), "upstream-error", "upstream-error", "GEOCODING_FAILED"),
    "hangs": (hang, "upstream-timeout", "upstream-timeout", "UPSTREAM_TIMEOUT"),
    "resets": (reset, "network-error", "upstream-error", "NETWORK_ERROR"),
    "truncates": (truncate, "network-error", "upstream-error", "NETWORK_ERROR"),
    "html": (HTML, "upstream-error", "upstream-error", "GEOCODING_UNREADABLE"),
    "graphql": (GRAPHQL, "upstream-error", "upstream-error", "GEOCODING_FAILED"),
    "a gigabyte": (flood, "upstream-error", "upstream-error", "GEOCODING_FAILED"),
}
ARGUMENTS = {
    PLAN: {
        side: {"type": "coords", "value": {"lat": PLACES[stop][0], "lon": PLACES[stop][1]}}
        for side, stop in (("origin", "Alpha"), ("destination", "Gamma"))
    },
    BOARD: {"stop": {"type": "id", "value": f"{NAME}:ALPHA"}, "windowMinutes": 60},
    LOOKUP: {"rawText": "Alpha"},
}


@dataclass
class Asking:
    """The tools over one OpenTripPlanner, which may turn hostile; ``time`` is the limiter's."""

    tools: dict
    hostile: Hostile
    time: FakeTime
    home: object

    async def ask(self, tool):
        return (await self.tools[tool].answer(ARGUMENTS[tool], user="ann")).body


@pytest.fixture
def opening(tmp_path, monkeypatch):
    """A context with the tools over a server of the town: ``opening()``; its requests are counted."""
    monkeypatch.setenv("FINGERPOST_NOW", NOW)

    @asynccontextmanager
    async def opened():
        town, time, tasks = new_town(), FakeTime(), set()
        async with EmbeddedConformance().open(town) as served:
            hostile = Hostile(TownServer(town, served).answer)

            async def serve(reader, writer):
                tasks.add(asyncio.current_task())
                await hostile.serve(reader, writer)

            server = await asyncio.start_server(serve, LOOPBACK, 0)
            port = Port(server.sockets[0].getsockname()[1])
            clients = LoopClients(lambda: _new_client(port, time, tmp_path))
            record = NetworkRecord(name=NAME, source="opentripplanner", url=URL, key="TOWN_KEY")

            async def fetch(request, known=None):
                # Only silence is waited out, and not for long.
                limits = IMPATIENT if hostile.trouble is hang else request.limits
                return await clients.fetch(replace(request, limits=limits), known)

            source = OpenTripPlannerSource(fetch, LIMITS)
            monkeypatch.setenv("TOWN_KEY", KEY)
            LearnedProfiles(tmp_path).put(record, await source.learn(record))
            write_record(tmp_path, NAME, source=record.source, url=record.url, key=record.key)
            networks = AllNetworks(
                NetworkRecordStore(tmp_path),
                lambda: {source.kind: source},
                learned=LearnedProfiles(tmp_path),
                clients=clients,
            )
            tools = {tool.name: tool for tool in list_tools(networks, VariableStore(tmp_path / "variables.sqlite"))}
            hostile.asked.clear()
            try:
                yield Asking(tools, hostile, time, tmp_path)
            finally:
                await networks.close()
                server.close()
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks)

    return opened


def _new_client(port, time, home):
    async def resolve(host, _):
        return [LOOPBACK]

    return Client(
        transport=WireTransport(CheckedBackend(["town.example"], resolve=resolve, inner=port)),
        limiter=Limiter(Limits(home / "limits.sqlite"), clock_ms=time.clock_ms, sleep=time.sleep),
    )


def code_of(body):
    return body["error"]["code"] if "error" in body else "ok"


@pytest.mark.parametrize("tool", [PLAN, BOARD, LOOKUP])
@pytest.mark.parametrize("kind", TROUBLES)
async def test_each_trouble_has_its_code_and_the_next_call_recovers(opening, kind, tool, caplog):
    """Rule A5, contract by contract; no key in an answer, in the log or on the disk."""
    caplog.set_level(logging.DEBUG)
    trouble, *codes = TROUBLES[kind]
    async with opening() as asking:
        asking.hostile.trouble = trouble
        failed = await asking.ask(tool)
        asking.hostile.trouble = None
        asking.time.now_ms += 71_000
        recovered = await asking.ask(tool)
        sent = asking.hostile.sent

    assert (code_of(failed), code_of(recovered)) == (codes[(PLAN, BOARD, LOOKUP).index(tool)], "ok")
    assert sent < GIGABYTE / 10
    told = [json.dumps([failed, recovered]), caplog.text, *_read_all(asking.home)]
    assert [text for text in told if KEY in text] == []


def _read_all(home):
    return [path.read_bytes().decode("latin-1") for path in home.rglob("*") if path.is_file()]


@pytest.mark.parametrize("tool", [PLAN, BOARD, LOOKUP])
async def test_a_wait_is_named_and_kept_without_asking_again(opening, tool):
    """Retry-After 70: told at once in whole seconds, and 69.001 s of it later still, by our own limiter."""
    async with opening() as asking:
        asking.hostile.trouble = answer("429 Too Many", Retry_After="70")
        first = await asking.ask(tool)
        asked = len(asking.hostile.asked)
        asking.time.now_ms += 999
        second = await asking.ask(tool)

        assert (code_of(second), len(asking.hostile.asked)) == (code_of(first), asked)
    waits = [each["error"].get("retryAfter") or each["error"]["details"]["retryAfter"] for each in (first, second)]
    assert waits == [70, 70]


async def test_rate_limit_path_retry_then_success(opening):
    """The contracts' own test: a wait that there is time for is waited, and the answer is whole."""
    async with opening() as asking:
        asking.hostile.trouble, asking.hostile.times = answer("429 Too Many", Retry_After="2"), 1
        body = await asking.ask(PLAN)

        assert (code_of(body), asking.time.slept) == ("ok", [2.0])
        assert [each["legs"][0]["line"] for each in body["itineraries"]] == ["1", "2"]


@pytest.mark.parametrize(("times", "code"), [(2, "ok"), (3, "upstream-error")])
async def test_a_failure_is_tried_three_times(opening, times, code):
    """500 twice is got over within the call; three times is the call's failure, and the next one recovers."""
    async with opening() as asking:
        asking.hostile.trouble, asking.hostile.times = answer("500 Oh"), times
        first = await asking.ask(PLAN)
        second = await asking.ask(PLAN)

    assert (code_of(first), code_of(second)) == (code, "ok")


@pytest.mark.parametrize("tool", [PLAN, BOARD])
async def test_a_hundred_equal_calls_at_once_are_one_question(opening, tool):
    """Each document reaches the server once; all hundred are answered alike."""
    async with opening() as asking:
        bodies = await asyncio.gather(*(asking.ask(tool) for _ in range(100)))
        documents = [asked.body for asked in asking.hostile.asked]

    assert len(documents) == len(set(documents)) <= 2
    assert {json.dumps(body, sort_keys=True) for body in bodies} == {json.dumps(bodies[0], sort_keys=True)}
    assert code_of(bodies[0]) == "ok"


def test_what_is_live_is_kept_for_a_quarter_of_a_minute_at_most():
    """Plans and boards 15 s, names 10 minutes."""
    assert LIVE_FRESH_S <= 15
    assert STOPS_FRESH_S <= 600
