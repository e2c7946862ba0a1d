"""``/health``, ``/ready`` and ``/metrics`` answer under the server's names and under addresses, and under no other."""

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from fingerpost.apps.mcp.http import check_host

KNOWN = ["127.0.0.1", "localhost", "[::1]", "timetable.example"]


async def well(_request):
    return PlainTextResponse("well")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8000", 200),
        ("Timetable.Example", 200),
        ("[::1]:8000", 200),
        ("10.1.2.3:8000", 200),
        ("[fd00::2]", 200),
        ("rebound.example:8000", 421),
        ("10.1.2.3.rebound.example", 421),
        ("timetable.example.rebound.example", 421),
        ("", 421),
    ],
)
def test_a_name_that_is_not_the_servers_is_refused(host, status):
    """A page elsewhere whose name points to us asks under that name; probes ask by address."""
    client = TestClient(Starlette(routes=[Route("/health", check_host(well, KNOWN))]))

    assert client.get("/health", headers={"Host": host}).status_code == status
