"""Answers that can be read only in part: the rest is returned, and what was dropped is reported."""

import copy
from datetime import UTC, datetime

import pytest

from fingerpost.errors import SourceChanged
from fingerpost.net.cache import Cache
from fingerpost.net.response import Response
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.remote.kit.answers import read_exactly
from fingerpost.transit.remote.motis.server import MotisEndpoint, MotisServer
from fingerpost.transit.remote.motis.shapes import MotisPlan
from fingerpost.transit.remote.tfl.shapes import TflLine
from tests.net.local_server import FakeTime, new_client, serving
from tests.resilience.remote_servers import KINDS, LEFT, NOW, as_json, ask_over

NAN = float("nan")
# By kind: the tool's question, the list that gets a spoiled copy of its first entry, what spoils it, what is dropped.
ROWS = [
    ("motis", "trip", "itineraries", ("legs", 0, "from", "lat"), 999, "itineraries"),
    ("motis", "trip", "itineraries", ("legs", 0, "from", "lon"), None, "itineraries"),
    ("motis", "trip", "itineraries", ("legs", 0, "startTime"), "9999-12-31T23:59:59-12:00", "itineraries"),
    ("motis", "board", "stopTimes", ("place", "lat"), "north", "stopTimes"),
    ("tfl", "trip", "journeys", ("legs", 0, "duration"), None, "journeys"),
    ("tfl", "trip", "journeys", ("legs", 0, "departureTime"), "noon", "journeys"),
    ("tfl", "trip", "journeys", ("legs", 0, "mode"), None, "journeys"),
    ("opentripplanner", "trip", "edges", ("node", "legs", 0, "from", "lat"), 999, "live.edges.node"),
    ("opentripplanner", "trip", "edges", ("node", "legs", 0, "from", "lon"), NAN, "live.edges.node"),
    ("opentripplanner", "trip", "edges", ("node", "legs", 0, "start", "scheduledTime"), None, "live.edges.node"),
    ("opentripplanner", "board", "stoptimesWithoutPatterns", ("serviceDay",), 10**12, "stops.stoptimesWithoutPatterns"),
    ("opentripplanner", "board", "stoptimesWithoutPatterns", ("trip",), None, "stops.stoptimesWithoutPatterns"),
    ("opentripplanner", "stops", "stopsByBbox", ("name",), " ", "stopsByBbox"),
    ("opentripplanner", "stops", "stopsByBbox", ("lon",), NAN, "stopsByBbox"),
    ("opentripplanner", "name", "stops", ("lat",), 999, None),
]


@pytest.fixture(autouse=True)
def _clock(monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", NOW)


def spoil(told, name, path, value, *, alone=False):
    """Return an answer whose lists of a name have a spoiled copy of their first entry beside it, or ``alone``."""
    if isinstance(told, list):
        return [spoil(each, name, path, value, alone=alone) for each in told]
    if not isinstance(told, dict):
        return told
    made = {key: spoil(each, name, path, value, alone=alone) for key, each in told.items()}
    if isinstance(told.get(name), list) and told[name]:
        odd = copy.deepcopy(told[name][0])
        holder = odd
        for part in path[:-1]:
            holder = holder[part]
        holder[path[-1]] = value
        made[name] = [odd] if alone else [*told[name], odd]
    return made


async def ask_spoiled(home, kind, word, *spoiling, alone=False):
    async def reply(asked):
        return as_json(spoil(KINDS[kind].tell(asked, "Victoria"), *spoiling, alone=alone))

    (body,) = await ask_over(kind, home, reply, word)
    return body


@pytest.mark.parametrize(("kind", "word", "name", "path", "value", "dropped"), ROWS)
async def test_an_unreadable_entry_affects_only_itself(tmp_path, kind, word, name, path, value, dropped):
    body = await ask_spoiled(tmp_path / "beside", kind, word, name, path, value)
    alone = await ask_spoiled(tmp_path / "alone", kind, word, name, path, value, alone=True)
    shown = body.get("itineraries") or body.get("departures") or body.get("stops") or [body["name"]]
    notes = [note for note in body.get("meta", {}).get("notes", ()) if "could not be read" in note]

    assert len(shown) == 1
    assert notes == (
        [f"Parts of the server's response could not be read and were dropped: {dropped} (1)."] if dropped else []
    )
    assert "upstream" in str(alone["error"]).lower() or alone["error"]["code"].endswith("UNREADABLE")


async def test_an_unreadable_answer_in_memory_is_requested_again():
    cache = Cache(clock_s=FakeTime().clock_s)
    async with serving(as_json({}), as_json({"itineraries": []})) as server, new_client(cache=cache) as client:
        motis = MotisServer(client.fetch, NetworkRecord(name="TOWN", source="motis", url=server.url))
        with pytest.raises(SourceChanged):
            await motis.fetch(MotisEndpoint.PLAN, MotisPlan, {})
        found = await motis.fetch(MotisEndpoint.PLAN, MotisPlan, {})

    assert (found.data, len(server.asked)) == (MotisPlan(itineraries=()), 2)


async def test_a_status_that_cannot_be_read_is_not_passed_over():
    body = b'[{"id": "victoria", "lineStatuses": [{"statusSeverity": "Severe", "reason": "No service"}]}]'
    now = datetime.fromisoformat(LEFT).astimezone(UTC)
    response = Response(status=200, headers={}, body=body, redacted_url="https://tfl/x", retrieved_at=now)

    with pytest.raises(SourceChanged):
        await read_exactly(tuple[TflLine, ...], response)
