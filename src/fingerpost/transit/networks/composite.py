"""All networks of one home folder behind one composite, whatever kind of source answers for each (ruling A13).

The records are looked at anew for every call, so that a network may be added, edited or removed by another process
while a server runs. One that cannot be opened is told in ``problems`` and takes no other down.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.store.network_records import NetworkRecord, NetworkRecordFile
from fingerpost.transit.networks.closed import ClosedNetwork
from fingerpost.transit.networks.fallback import FallbackNetwork
from fingerpost.transit.networks.order import by_preference
from fingerpost.transit.port import Network, OpenNetworks, Source

_log = logging.getLogger(__name__)

# Whoever opens many networks at once still leaves a processor to those that answer.
OPENING_THREADS = 4
# A network that takes longer to open is left out of the answers for now, if another is there.
OPENING_DEADLINE_S = 8.0


class DemoMode(StrEnum):
    """When demo networks answer: ``auto`` while nothing has been added."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


def do_demos_answer(mode: DemoMode, *, has_networks: bool) -> bool:
    """Return whether demos answer for points and names; for their own stop ids they always do."""
    return mode is DemoMode.ON or (mode is DemoMode.AUTO and not has_networks)


class _Opened(NamedTuple):
    source: Source
    network: Network


class AllNetworks:
    """The networks of the records, and the demos; see the port's ``Networks``.

    Args:
        records: the file of records.
        load_sources: returns every kind of source by its word; called when a network is first asked for, in a thread,
            because what stands behind a source may take long to import.
        demos: records of the demo networks, which are in no file.
        demo_mode: when the demos answer.
    """

    def __init__(
        self,
        records: NetworkRecordFile,
        load_sources: Callable[[], Mapping[str, Source]],
        *,
        demos: Sequence[NetworkRecord] = (),
        demo_mode: DemoMode = DemoMode.AUTO,
    ) -> None:
        self._records = records
        self._load_sources = load_sources
        self._demos = tuple(demos)
        self._demo_mode = demo_mode
        self._sources: Mapping[str, Source] = {}
        self._opened: dict[str, _Opened] = {}
        self._opening: dict[str, Future[_Opened]] = {}
        self._pool = ThreadPoolExecutor(OPENING_THREADS, thread_name_prefix="fingerpost-opening")
        self._current = OpenNetworks()
        self._stamp: Hashable = None
        self._lock = threading.Lock()

    async def open(self) -> OpenNetworks:
        """Return the networks that there are now; see the port."""
        if self._stamp is not None and self._read_stamp() == self._stamp:
            return self._current
        return await asyncio.to_thread(self._refresh)

    async def close(self) -> None:
        """End what goes on behind the answers; see the port."""
        with self._lock:
            sources, self._stamp = tuple(self._sources.values()), None
        for source in sources:
            await source.close()

    def _read_stamp(self) -> Hashable:
        return self._records.stamp(), *[source.stamp() for source in self._sources.values()]

    def _refresh(self) -> OpenNetworks:
        with self._lock:
            self._sources = self._sources or self._load_sources()
            # Read before the records: a change that falls between the two is seen by the next call.
            stamp = self._read_stamp()
            kept = self._records.read()
            problems = dict(kept.problems)
            opened: dict[str, _Opened] = {}
            records = {**kept.records, **{record.name: record for record in self._demos}}
            for name, opening in self._open_all(records).items():
                if not opening.done():
                    # The next call looks again, whatever the records say by then.
                    stamp = None
                    if name in self._opened:
                        opened[name] = self._opened[name]
                    else:
                        problems[name] = f"{name} is still being opened. Ask again in a moment."
                    continue
                del self._opening[name]
                try:
                    opened[name] = opening.result()
                except (SettingsInvalid, ParameterError) as error:
                    problems[name] = error.message
                    _log.error("network=%s cannot be used: %s", name, error.message)
            for name, gone in self._opened.items():
                if name not in opened or opened[name].source is not gone.source:
                    gone.source.retire(name)
            self._opened = opened
            self._current = self._arrange(kept.records, problems)
            self._stamp = stamp
            return self._current

    def _open_all(self, records: Mapping[str, NetworkRecord]) -> dict[str, Future[_Opened]]:
        """Open all networks at once, and wait until each is open, or one is and the others take too long.

        A timetable of an older format is prepared anew when it is opened, which may take minutes.
        """
        for name, record in records.items():
            if name not in self._opening:
                self._opening[name] = self._pool.submit(self._open, record)
        openings = {name: self._opening[name] for name in records}
        added = {opening for name, opening in openings.items() if records[name] not in self._demos}
        wait(set(openings.values()) - added)
        done, late = wait(added, timeout=OPENING_DEADLINE_S)
        while late and all(each.exception() is not None for each in done):
            more, late = wait(late, return_when=FIRST_COMPLETED)
            done |= more
        return openings

    def _open(self, record: NetworkRecord) -> _Opened:
        source = self._sources.get(record.source)
        if source is None:
            kinds = ", ".join(sorted(self._sources))
            raise SettingsInvalid(f"There is no kind of source called {record.source!r}. Kinds: {kinds}.")
        return _Opened(source, source.open(record))

    def _arrange(self, records: Mapping[str, NetworkRecord], problems: Mapping[str, str]) -> OpenNetworks:
        """Return the networks in order, each fallback behind the network that names it."""
        fallbacks = {record.fallback for record in records.values()}
        own = [
            self._with_fallback(record, records, problems) for name, record in records.items() if name not in fallbacks
        ]
        added = [network for network in own if network is not None]
        demos = [self._opened[record.name].network for record in self._demos if record.name in self._opened]
        is_on = do_demos_answer(self._demo_mode, has_networks=bool(records or problems))
        return OpenNetworks(
            answering=tuple(by_preference([*added, *(demos if is_on else ())])),
            by_token_only=() if is_on else tuple(by_preference(demos)),
            problems=MappingProxyType(dict(problems)),
        )

    def _with_fallback(
        self, record: NetworkRecord, records: Mapping[str, NetworkRecord], problems: Mapping[str, str]
    ) -> Network | None:
        """Return a record's network with its fallback behind it, None where neither can be used."""
        opened = self._opened.get(record.name)
        behind = records.get(record.fallback or "")
        fallback = None if behind is None else self._with_fallback(behind, records, problems)
        if fallback is None:
            return None if opened is None else opened.network
        if opened is None:
            return FallbackNetwork(ClosedNetwork(record.name, problems[record.name], fallback.profile), fallback)
        return FallbackNetwork(opened.network, fallback)
