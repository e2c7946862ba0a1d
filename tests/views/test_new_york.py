"""A trip in New York's subway, drawn in a host.

It needs the feed, whose import takes longer than the other tests: ``make soak`` runs it.
"""

import time

import pytest

from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from tests.shared_data import get_shared
from tests.views.hosting import ask, connect

pytestmark = pytest.mark.asyncio(loop_scope="session")

MAX_S = 1.0
NOW = "2026-06-10T08:00:00-04:00"
# From the far end of one borough to that of another, in the days of the feed.
TRIP = {
    "origin": {"type": "label", "value": "Far Rockaway-Mott Av"},
    "destination": {"type": "label", "value": "Wakefield-241 St"},
    "limit": 3,
}


@pytest.fixture
def new_york(home, invoke, monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", NOW)
    ended = invoke("network", "add", "NYC", str(get_shared("gtfs/nyc/subway.gtfs.zip")))
    assert ended.returncode == 0, ended.stderr
    return build(read_settings())


async def test_a_trip_of_new_york_is_drawn_within_a_second(new_york, show):
    async with connect(new_york) as client:
        answer = await ask(client, "plan_trip", TRIP)
        assert not answer["isError"], answer["structuredContent"]
        legs = answer["structuredContent"]["itineraries"][0]["legs"]
        async with show(client, "trip", None, arguments=TRIP, width=700, now=NOW) as shown:
            begun = time.perf_counter()
            await shown.page.evaluate("send", {"method": "ui/notifications/tool-result", "params": answer})
            await shown.frame.wait_for_selector(".map path[data-stroke] >> nth=0", state="attached")
            took_s = time.perf_counter() - begun
            points = await shown.frame.eval_on_selector_all(
                ".map path[data-stroke]", "all => all.map(path => path.getAttribute('d').split('L').length)"
            )

    assert len(points) == len(legs)
    assert sum(points) > 100
    assert took_s < MAX_S
