"""Home folders for tests: networks with their records, and the tools over all of them."""

import json
from datetime import UTC, datetime

from fingerpost.apps.wiring import DEMOS
from fingerpost.net.loop_clients import LoopClients
from fingerpost.store.network_records import NetworkRecord, NetworkRecordStore
from fingerpost.transit.embedded.source import DemoSource, EmbeddedSource
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.networks.composite import AllNetworks, DemoMode

ADDED = datetime(2026, 1, 1, tzinfo=UTC)


def keep_network(home, name, timetable, *, report="{}", **record):
    entry = TimetableStore(home).put(name, timetable, report, added_at=ADDED)
    write_record(home, name, **record)
    return entry


def write_record(home, name, **fields):
    # Not by the store: a record may name a fallback that comes later.
    (home / "networks").mkdir(parents=True, exist_ok=True)
    lines = [f"{key} = {json.dumps(value)}\n" for key, value in {"source": "gtfs", **fields}.items()]
    (home / "networks" / f"{name}.toml").write_text("".join(lines), encoding="utf-8")


def open_networks(home, open_client=None, *, demo="auto"):
    """Return the networks of a home folder, demos included; without ``open_client`` no URL can be asked."""
    return AllNetworks(
        NetworkRecordStore(home),
        lambda: {"gtfs": EmbeddedSource(home, LoopClients(open_client or _refuse)), "demo": DemoSource()},
        demos=[NetworkRecord(name=name, source="demo") for name in DEMOS],
        demo_mode=DemoMode(demo),
    )


def _refuse():
    raise AssertionError("this test asks no URL")
