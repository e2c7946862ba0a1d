"""The real server that the tests of this folder share: Tampere with its streets, and real time that a test says."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from tests.otp_server.program import ProgramMissing, find_java, get_jar
from tests.otp_server.server import OtpServer, build_graph
from tests.otp_server.updates import Updates
from tests.shared_data import get_shared

FEED = "TAMPERE"
GTFS = "gtfs/tampere/tampere_nysse_2021-22.gtfs.zip"
STREETS = "gtfs/tampere/tampere.osm.pbf"
ASKED_FOR = os.environ.get("FINGERPOST_OTP") == "1"


def pytest_collection_modifyitems(items):
    if not ASKED_FOR:
        here = Path(__file__).parent
        reason = "a real OpenTripPlanner takes a few minutes, Java and Maven: make test-otp"
        for item in items:
            if here in item.path.parents:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def updates():
    """The real time of the servers; each test says its own."""
    says = Updates()
    yield says
    says.close()


@pytest.fixture(scope="session")
def tampere_graph():
    """Tampere of 2021/22 with its streets."""
    gtfs, streets = get_shared(GTFS), get_shared(STREETS)
    try:
        find_java()
        get_jar()
    except ProgramMissing as missing:
        pytest.skip(str(missing))
    return build_graph({FEED: gtfs}, [streets])


@pytest.fixture(scope="session")
def tampere(tampere_graph, updates, tmp_path_factory):
    """A server of Tampere that follows ``updates``; whoever kills it starts it again."""
    server = OtpServer(graph=tampere_graph, folder=tmp_path_factory.mktemp("otp"), realtime=updates.url)
    server.start()
    yield server
    server.stop()


async def until(holds, *, within_s=30.0):
    """Ask again until something holds, and return what it was; the server polls its real time once a second."""
    deadline = time.monotonic() + within_s
    while True:
        found = await holds()
        if found or time.monotonic() > deadline:
            return found
        await asyncio.sleep(0.25)
