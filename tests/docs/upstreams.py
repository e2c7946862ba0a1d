"""Local servers for the documents' examples: Digitransit and TfL under their own names, OpenTripPlanner, MOTIS."""

import asyncio
import shlex
import ssl
import sys
import threading
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from tests.conformance.embedded import EmbeddedConformance
from tests.conformance.town import new_town
from tests.motis import town_server as motis
from tests.net.local_server import LOOPBACK, read_request
from tests.net.test_tls import new_certificate
from tests.opentripplanner.digitransit import HOST, Digitransit
from tests.opentripplanner.test_learning import NETWORK, data
from tests.opentripplanner.town_server import TownServer, serving
from tests.tfl.asking import Told, a_leg, journeys

WRITTEN = "http://localhost:8080"
"""How documents write the address of an OpenTripPlanner or a MOTIS."""
TFL_HOST = "api.tfl.gov.uk"
REDIRECTED = Path(__file__).with_name("redirected_command.py")


@contextmanager
def serving_examples(text, folder, monkeypatch):
    if "--digitransit" in text:
        monkeypatch.setenv("DIGITRANSIT_API_KEY", "any")
        upstream = Digitransit(routing=[data(**NETWORK)])
        with _running(_serving_tls(HOST, folder, upstream.serve)) as port:
            yield lambda command: _redirect(command, HOST, port, folder)
    elif "--tfl" in text:
        monkeypatch.setenv("TFL_API_KEY", "any")
        leg = a_leg("2026-03-10T06:05:00", "2026-03-10T06:09:00", 4)
        modes = [{"modeName": "tube", "isScheduledService": True}]
        upstream = _London(Told({"/Line/Meta": modes, "/Journey": journeys(leg)}).answer)
        with _running(_serving_tls(TFL_HOST, folder, upstream.serve)) as port:
            yield lambda command: _redirect(command, TFL_HOST, port, folder)
    elif WRITTEN in text:
        monkeypatch.setenv("FINGERPOST_PRIVATE_HOSTS", "localhost")
        with _running(_serving_town("--motis" in text)) as port:
            yield lambda command: command.replace(WRITTEN, f"http://localhost:{port}")
    else:
        yield lambda command: command


def _redirect(command, host, port, folder):
    """Return a command whose requests to a host go to a port of this machine."""
    program, *words = shlex.split(command)
    assert program == "fingerpost"
    return shlex.join([sys.executable, str(REDIRECTED), host, str(port), str(folder / "tls" / f"{host}.pem"), *words])


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


@asynccontextmanager
async def _serving_tls(host, folder, serve):
    (folder / "tls").mkdir()
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(new_certificate(folder / "tls", host))
    server = await asyncio.start_server(serve, LOOPBACK, 0, ssl=own)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


class _London:
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
