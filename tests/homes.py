"""Home folders as tests need them: networks with their records, and the tools over all of them."""

import json
import tomllib
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from fingerpost.apps.networks import DEMOS
from fingerpost.store.network_records import FILE_NAME, NetworkRecord, NetworkRecordFile
from fingerpost.transit.embedded.source import DemoSource, EmbeddedSource
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.networks.composite import AllNetworks, DemoMode

ADDED = datetime(2026, 1, 1, tzinfo=UTC)


def keep_network(home, name, timetable, *, report="{}", **record):
    """Keep a timetable as a network of a home folder, with the fields of its record; return the store's entry."""
    entry = TimetableStore(home).put(name, timetable, report, added_at=ADDED)
    write_record(home, name, **record)
    return entry


def write_record(home, name, **fields):
    """Write a network's record, in place of the one that it had."""
    path = home / FILE_NAME
    # Also those that cannot be used yet, because their fallback comes later.
    records = tomllib.loads(path.read_text(encoding="utf-8"))["networks"] if path.exists() else {}
    records[name] = {"source": "gtfs", **fields}
    lines = []
    for known, values in records.items():
        lines.append(f"[networks.{known}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def open_networks(home, open_fetch=None, *, demo="auto"):
    """Return the networks of a home folder, demos included; without ``open_fetch`` no URL can be asked."""
    return AllNetworks(
        NetworkRecordFile(home),
        lambda: {"gtfs": EmbeddedSource(home, open_fetch or _refuse), "demo": DemoSource()},
        demos=[NetworkRecord(name=name, source="demo") for name in DEMOS],
        demo_mode=DemoMode(demo),
    )


@asynccontextmanager
async def _refuse():
    raise AssertionError("this test asks no URL")
    yield
