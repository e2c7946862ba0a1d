"""Open all networks in a home folder, from any kind of source (rule A13).

Every call checks the records, so another process can add, edit or remove a network while a server runs.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from fingerpost.errors import SettingsInvalid, StorageUnavailable, ToolError
from fingerpost.net.loop_clients import LoopClients
from fingerpost.runtime.concurrency import ThreadPool
from fingerpost.store.network_records import NetworkRecord, NetworkRecordStore
from fingerpost.transit.learned_profile import LearnedProfiles
from fingerpost.transit.networks.order import sort_by_preference
from fingerpost.transit.networks.wrappers import CircuitBreakerNetwork, FallbackNetwork, NetworkBreaker
from fingerpost.transit.port import Network, NetworkSource, OpenNetworks

_log = logging.getLogger(__name__)
# Networks are opened in a separate thread, so that waiting callers do not block other work.
_OPENER = ThreadPool("networks", 1)
# The delay before networks are opened again after an unexpected error.
RETRY_S = 30.0


class DemoMode(StrEnum):
    """When demo networks answer; ``auto`` means until a network is added."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


def are_demos_enabled(mode: DemoMode, *, has_networks: bool) -> bool:
    """Return whether demos answer queries by coordinate or name; they always answer queries by stop id."""
    return mode is DemoMode.ON or (mode is DemoMode.AUTO and not has_networks)


class _OpenedNetwork(NamedTuple):
    source: NetworkSource
    network: Network


class AllNetworks:
    """The networks in the records, and the demos; see the port's ``Networks``.

    ``open_sources`` returns all sources by kind; it runs in a thread on the first call, because imports are slow.
    ``demos`` are records that are not on disk. ``clients`` are closed after the sources.
    """

    def __init__(
        self,
        records: NetworkRecordStore,
        open_sources: Callable[[], Mapping[str, NetworkSource]],
        *,
        demos: Sequence[NetworkRecord] = (),
        demo_mode: DemoMode = DemoMode.AUTO,
        learned: LearnedProfiles | None = None,
        clients: LoopClients | None = None,
        breaker: NetworkBreaker | None = None,
    ) -> None:
        self._records = records
        self._load_sources = open_sources
        self._demos = tuple(demos)
        self._demo_mode = demo_mode
        self._learned = learned
        self._clients = clients
        self._sources: Mapping[str, NetworkSource] = {}
        self._opened: dict[str, _OpenedNetwork] = {}
        self._breaker = breaker or NetworkBreaker()
        self._current = OpenNetworks()
        self._stamp: Hashable = None
        self._retry_at_s = math.inf
        self._lock = threading.Lock()

    def are_demos_enabled(self) -> bool:
        """Return whether the demos answer, without opening a network."""
        stored = self._records.read()
        return are_demos_enabled(self._demo_mode, has_networks=bool(stored.records or stored.problems))

    async def open(self) -> OpenNetworks:
        is_current = self._stamp is not None and time.monotonic() < self._retry_at_s
        if is_current and self._read_stamp() == self._stamp:
            return self._current
        return await _OPENER.run(self._refresh)

    async def close(self) -> None:
        """Stop background work; a later query starts it again."""
        with self._lock:
            sources = tuple(self._sources.values())
            self._stamp = None
        for source in sources:
            await source.close()
        if self._clients is not None:
            await self._clients.aclose()

    def _read_stamp(self) -> Hashable:
        learned = None if self._learned is None else self._learned.stamp()
        return self._records.stamp(), learned, *[source.stamp() for source in self._sources.values()]

    def _refresh(self) -> OpenNetworks:
        with self._lock:
            self._sources = self._sources or self._load_sources()
            # Read the stamp first, so that the next call notices any change made in the meantime.
            stamp = self._read_stamp()
            stored = self._records.read()
            problems = dict(stored.problems)
            self._retry_at_s = math.inf
            opened: dict[str, _OpenedNetwork] = {}
            records = {**stored.records, **{record.name: record for record in self._demos}}
            for name, record in records.items():
                try:
                    opened[name] = self._open(record)
                except Exception as error:  # noqa: BLE001  # a broken network must not affect the others
                    problems[name] = _format_open_failure(name, error)
                    if isinstance(error, StorageUnavailable):
                        stamp = None  # Retry on the next call.
                    elif not isinstance(error, ToolError):
                        self._retry_at_s = time.monotonic() + RETRY_S
            for name, closed in self._opened.items():
                if name not in opened or opened[name].source is not closed.source:
                    closed.source.retire(name)
            self._opened = opened
            self._current = self._arrange(stored.records, problems)
            self._stamp = stamp
            return self._current

    def _open(self, record: NetworkRecord) -> _OpenedNetwork:
        source = self._sources.get(record.source)
        if source is None:
            kinds = ", ".join(sorted(self._sources))
            raise SettingsInvalid(f"Unknown source kind {record.source!r}. Kinds: {kinds}")
        learned = None if self._learned is None else self._learned.find(record)
        network = source.open(record, learned)
        if network.profile.answer_deadline_s is not None:
            network = CircuitBreakerNetwork(network, self._breaker, f"{record.name} {record.url}")
        return _OpenedNetwork(source, network)

    def _arrange(self, records: Mapping[str, NetworkRecord], problems: Mapping[str, str]) -> OpenNetworks:
        fallbacks = {record.fallback for record in records.values()}
        added, priorities = list[Network](), dict[str, int]()
        for name, record in records.items():
            network = None if name in fallbacks else self._add_fallback(record, records)
            if network is not None:
                added.append(network)
                # A fallback that replaces its network also has that network's priority.
                priorities[network.profile.name] = record.priority
        demos = [self._opened[record.name].network for record in self._demos if record.name in self._opened]
        is_on = are_demos_enabled(self._demo_mode, has_networks=bool(records or problems))
        return OpenNetworks(
            answering=tuple(sort_by_preference([*added, *(demos if is_on else ())], priorities)),
            by_token_only=() if is_on else tuple(sort_by_preference(demos)),
            fallbacks=tuple(self._opened[name].network for name in records if name in fallbacks & self._opened.keys()),
            problems=MappingProxyType(dict(problems)),
        )

    def _add_fallback(self, record: NetworkRecord, records: Mapping[str, NetworkRecord]) -> Network | None:
        """Return a network with its fallback, the fallback alone if the network cannot be opened, or None."""
        opened = self._opened.get(record.name)
        fallback_record = records.get(record.fallback or "")
        fallback = None if fallback_record is None else self._add_fallback(fallback_record, records)
        if opened is None or fallback is None:
            return fallback if opened is None else opened.network
        return FallbackNetwork(opened.network, fallback)


def _format_open_failure(name: str, error: Exception) -> str:
    if isinstance(error, ToolError):
        _log.error("network=%s cannot be used: %s", name, error.message)
        return error.message
    _log.error("network=%s failed with an error that sources must not raise", name, exc_info=error)
    return f"{name} failed unexpectedly; see the log"
