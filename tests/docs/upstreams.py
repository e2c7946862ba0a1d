"""The servers that examples in documents speak to, on this machine."""

import asyncio
import threading
from concurrent.futures import Future
from contextlib import contextmanager, suppress

from fingerpost import clock
from fingerpost.errors import PlaceAmbiguous
from fingerpost.net.recording.recorder import Recorder
from fingerpost.store.network_records import NetworkRecord
from fingerpost.testing.networks.town import new_town
from fingerpost.transit.embedded.source import DemoSource
from fingerpost.transit.port import TextJourneyQuery
from fingerpost.transit.remote.opentripplanner.source import OpenTripPlannerSource
from fingerpost.transit.remote.tfl.source import TflSource
from fingerpost.transit.remote.tfl.unified_api import TFL
from tests.conformance.embedded import EmbeddedConformance
from tests.motis import town_server as motis
from tests.net.local_server import read_request
from tests.opentripplanner.digitransit import Digitransit, new_hsl, serving_digitransit
from tests.opentripplanner.test_learning import NETWORK, data, schema_without
from tests.opentripplanner.town_server import TownServer, serving
from tests.tfl_server.server import TflServer

WRITTEN = "http://localhost:8080"
"""How documents write the address of an OpenTripPlanner or a MOTIS."""
LONDON_CALLS = [("Victoria", "Oxford Circus"), ("Victoria", "Edgware")]
"""The ends of the journeys that documents ask TfL for."""


@contextmanager
def serving_examples(text, folder, monkeypatch):
    """Serve what a block speaks to; yield how its commands have to be changed for that."""
    if "--digitransit" in text:
        asyncio.run(_record_hsl(folder))
        monkeypatch.setenv("FINGERPOST_REPLAY", str(folder / "digitransit"))
    if "--tfl" in text:
        asyncio.run(_record_london(folder))
        monkeypatch.setenv("FINGERPOST_REPLAY", str(folder / "tfl"))
    if WRITTEN not in text:
        yield lambda command: command
        return
    monkeypatch.setenv("FINGERPOST_PRIVATE_HOSTS", "localhost")
    started, stopped = Future(), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(_serve_town("--motis" in text, started, stopped)))
    thread.start()
    try:
        address = f"http://localhost:{started.result(60)}"
        yield lambda command: command.replace(WRITTEN, address)
    finally:
        stopped.set()
        thread.join()


async def _serve_town(is_motis, started, stopped):
    town = new_town()
    serve, server = (motis.serving, motis.TownServer) if is_motis else (serving, TownServer)
    try:
        async with EmbeddedConformance().open(town) as served, serve(server(town, served).answer) as port:
            started.set_result(port.number)
            await asyncio.to_thread(stopped.wait)
    except Exception as error:
        if started.done():
            raise
        started.set_exception(error)


async def _record_hsl(folder):
    """Record what ``network add`` asks Digitransit; the example replays it, without a key."""
    upstream = Digitransit(routing=[schema_without(), data(**NETWORK)])
    (folder / "tls").mkdir()
    async with serving_digitransit(folder / "tls", upstream, tape=Recorder(folder / "digitransit")) as client:
        await OpenTripPlannerSource(client.fetch).learn(new_hsl())


class _London:
    """TfL under its own name, answered from the demo of London."""

    def __init__(self, reply):
        self._reply = reply

    async def serve(self, reader, writer):
        try:
            while (asked := await read_request(reader)) is not None:
                writer.write(await self._reply(asked))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            writer.close()


async def _record_london(folder):
    """Record what ``network add`` and the example's calls ask TfL; the example replays it, without a key."""
    served = DemoSource().open(NetworkRecord(name="DEMO-LONDON", source="demo"))
    record = NetworkRecord(name="LONDON", source="tfl", **TFL.fill(""))
    upstream = _London(TflServer(served).answer)
    (folder / "tls").mkdir()
    given = {"environ": {"TFL_API_KEY": "any"}, "tape": Recorder(folder / "tfl"), "host": "api.tfl.gov.uk"}
    async with serving_digitransit(folder / "tls", upstream, **given) as client:
        source = TflSource(client.fetch)
        network = source.open(record, await source.learn(record))
        now = int(clock.now().timestamp())
        for origin, destination in LONDON_CALLS:
            query = TextJourneyQuery(
                origin=origin, destination=destination, instant=now, not_before=now, sides=("from", "to")
            )
            with suppress(PlaceAmbiguous):
                await network.plan_texts(query)
