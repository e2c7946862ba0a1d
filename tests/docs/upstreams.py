"""The OpenTripPlanner or MOTIS that a document speaks to, on this machine."""

import asyncio
import threading
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager

from fingerpost.testing.networks.town import new_town
from tests.conformance.embedded import EmbeddedConformance
from tests.motis import town_server as motis
from tests.opentripplanner.town_server import TownServer, serving

WRITTEN = "http://localhost:8080"
"""How documents write the address of an OpenTripPlanner or a MOTIS."""


@contextmanager
def serving_examples(text, monkeypatch):
    if WRITTEN not in text:
        yield lambda command: command
        return
    monkeypatch.setenv("FINGERPOST_PRIVATE_HOSTS", "localhost")
    with _running(_serving_town("--motis" in text)) as port:
        yield lambda command: command.replace(WRITTEN, f"http://localhost:{port}")


@contextmanager
def _running(server):
    started, stopped = Future(), threading.Event()

    async def run():
        try:
            async with server as port:
                started.set_result(port)
                await asyncio.to_thread(stopped.wait)
        except Exception as error:
            if started.done():
                raise
            started.set_exception(error)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    try:
        yield started.result(60)
    finally:
        stopped.set()
        thread.join()


@asynccontextmanager
async def _serving_town(is_motis):
    town = new_town()
    serve, server = (motis.serving, motis.TownServer) if is_motis else (serving, TownServer)
    async with EmbeddedConformance().open(town) as served, serve(server(town, served).answer) as port:
        yield port.number
