"""Open networks of the embedded engine: networks imported from GTFS, and the demo networks."""

import logging
import threading
import weakref
from collections.abc import Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.net.loop_clients import LoopClients
from fingerpost.runtime import instruments
from fingerpost.runtime.concurrency import run_in_thread
from fingerpost.runtime.instruments import Age
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.feed_origins import NamedLocation, parse_location
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.embedded.realtime_updater import RealtimeUpdater, RealtimeWorker
from fingerpost.transit.engine.demo import open_demo
from fingerpost.transit.engine.demo.simulator import simulate
from fingerpost.transit.engine.gtfs.realtime.messages import FeedBytes
from fingerpost.transit.engine.gtfs.realtime.reader import read_realtime
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex
from fingerpost.transit.engine.raptor.search_timetable.build import CACHE_BYTES, SearchTimetableCache
from fingerpost.transit.engine.timetable.timetable_store import StoredTimetable, TimetableStore
from fingerpost.transit.learned_profile import LearnedProfile
from fingerpost.transit.osm.addresses.index import find_addresses
from fingerpost.transit.osm.basemap import find_basemap
from fingerpost.transit.osm.streets.store import find_streets
from fingerpost.transit.port import Network, NetworkSource
from fingerpost.transit.rules.times import to_local_date

# The disk limits the speed of the checks, so one background thread is enough.
_CHECKS = ThreadPoolExecutor(1, thread_name_prefix="fingerpost-checksums")

DEMO_NOTE = "Demo network: simplified lines and running times, not for real trips."

_log = logging.getLogger(__name__)


class _OpenedTimetable(NamedTuple):
    network: EmbeddedNetwork
    version: str
    check: Future[str | None]


class EmbeddedSource(NetworkSource):
    """Opens imported networks (``source = "gtfs"``); ``day_cache_bytes`` limits the memory for search timetables."""

    def __init__(self, home: Path, clients: LoopClients, *, day_cache_bytes: int = CACHE_BYTES) -> None:
        self._home = home
        self._store = TimetableStore(home)
        self._clients = clients
        self._days = SearchTimetableCache(day_cache_bytes)
        self._worker: RealtimeWorker | None = None
        self._lock = threading.Lock()
        self._opened: dict[str, _OpenedTimetable] = {}
        # Errors about damaged files, keyed by the stamp of the stored timetable.
        self._damage: dict[str, str] = {}
        instruments.watch(self)

    def stamp(self) -> Hashable:
        return self._store.stamp(), len(self._damage)

    def open(self, record: NetworkRecord, learned: LearnedProfile | None = None) -> EmbeddedNetwork:  # noqa: ARG002
        opened = self._opened.get(record.name)
        entry = self._get_entry(record)
        if entry.stamp in self._damage:
            raise SettingsInvalid(self._damage[entry.stamp])
        if opened is None or opened.version != entry.stamp:
            entry, timetable = self._store.open(record.name)
            self.retire(record.name)
            check = _CHECKS.submit(self._check, entry)
            try:
                network = EmbeddedNetwork(
                    record,
                    timetable,
                    notes=_list_notes(record, entry),
                    streets=find_streets(entry.folder),
                    addresses=find_addresses(entry.folder),
                    basemap=find_basemap(entry.folder),
                    check=check,
                    days=self._days,
                )
            except (SettingsInvalid, ArithmeticError, LookupError, TypeError, ValueError, MemoryError) as error:
                # Reading a damaged file may raise almost any error.
                if (damage := check.result()) is None:
                    raise
                raise SettingsInvalid(damage) from error
            opened = _OpenedTimetable(network, entry.stamp, check)
            self._opened[record.name] = opened
        elif opened.network.record != record:
            opened.network.configure(record, _list_notes(record, entry))
        self._follow(opened.network, tuple(parse_location(text, self._home) for text in record.realtime))
        return opened.network

    def _check(self, entry: StoredTimetable) -> str | None:
        damage = self._store.find_damage(entry)
        if damage is not None:
            _log.error("network=%s %s", entry.name, damage)
            self._damage[entry.stamp] = damage
        return damage

    def _get_entry(self, record: NetworkRecord) -> StoredTimetable:
        try:
            return self._store.get(record.name)
        except ParameterError as error:
            step = "refresh" if record.feeds else "add"
            raise SettingsInvalid(
                f"{record.name} is not prepared. "
                f"Run `fingerpost network {step} {record.name}{'' if record.feeds else ' FEED...'}`"
            ) from error

    def retire(self, name: str) -> None:
        opened = self._opened.pop(name, None)
        if opened is not None:
            opened.network.follow(None)

    async def close(self) -> None:
        with self._lock:
            worker, self._worker = self._worker, None
            for opened in self._opened.values():
                opened.network.follow(None)
                # Otherwise a one-shot command would wait for the checks of all networks.
                opened.check.cancel()
            self._opened = {}
        if worker is not None:
            await run_in_thread(worker.close)

    def list_realtime_ages(self) -> list[Age]:
        return [
            Age(name, source.feed_name, source.age_s)
            for name, opened in list(self._opened.items())
            if (realtime := opened.network.realtime) is not None
            for source in realtime.health().sources
            if source.age_s is not None
        ]

    def _follow(self, network: EmbeddedNetwork, sources: tuple[NamedLocation, ...]) -> None:
        if sources == (() if network.realtime is None else network.realtime.sources):
            return
        if not sources:
            network.follow(None)
            return
        with self._lock:
            if self._worker is None:
                self._worker = RealtimeWorker(self._clients)
                weakref.finalize(self, self._worker.close)
            network.follow(RealtimeUpdater(network.timetable, sources, self._worker, network.publish))


class DemoSource(NetworkSource):
    """Opens the demo networks in the package (``source = "demo"``), which are valid on any day."""

    def __init__(self) -> None:
        self._opened: dict[str, EmbeddedNetwork] = {}

    def open(self, record: NetworkRecord, learned: LearnedProfile | None = None) -> EmbeddedNetwork:  # noqa: ARG002
        network = self._opened.get(record.name)
        if network is None:
            network = EmbeddedNetwork(record, open_demo(record.name), notes=(DEMO_NOTE,))
            self._opened[record.name] = network
        return network


def _list_notes(record: NetworkRecord, entry: StoredTimetable) -> tuple[str, ...]:
    note = entry.find_note(record.feeds, record.extract)
    return () if note is None else (note,)


def publish_simulation(network: Network, now: int) -> None:
    """Publish a simulated disruption on an embedded network."""
    if isinstance(network, EmbeddedNetwork):
        table = network.timetable
        overlay = read_realtime(RealtimeIndex(table), [FeedBytes(simulate(table, now), now)], now)
        network.publish(overlay, to_local_date(now, network.profile.zone))
