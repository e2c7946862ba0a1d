"""The servers that examples in documents speak to, on this machine."""

import asyncio
import threading
from concurrent.futures import Future
from contextlib import contextmanager

from fingerpost.net.recording.recorder import Recorder
from fingerpost.testing.networks.town import new_town
from fingerpost.transit.providers.opentripplanner.source import OpenTripPlannerSource
from tests.conformance.embedded import EmbeddedConformance
from tests.motis import town_server as motis
from tests.opentripplanner.digitransit import Digitransit, new_hsl, serving_digitransit
from tests.opentripplanner.test_learning import NETWORK, data, schema_without
from tests.opentripplanner.town_server import TownServer, serving

WRITTEN = "http://localhost:8080"
"""How documents write the address of an OpenTripPlanner or a MOTIS."""


@contextmanager
def serving_examples(text, folder, monkeypatch):
    """Serve what a block speaks to; yield how its commands have to be changed for that."""
    if "--digitransit" in text:
        asyncio.run(_record_hsl(folder))
        monkeypatch.setenv("FINGERPOST_REPLAY", str(folder / "digitransit"))
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
