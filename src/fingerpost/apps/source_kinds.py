"""Register the kinds of network sources: the embedded engine, OpenTripPlanner, TfL and MOTIS.

Each remote source is a package in ``transit/remote`` with an entry here. The package is imported only when the source
is opened.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from fingerpost.apps.settings import Settings
from fingerpost.apps.storage import new_client
from fingerpost.errors import SettingsInvalid
from fingerpost.net.loop_clients import LoopClients
from fingerpost.net.request import Fetch
from fingerpost.store.limits import Pace
from fingerpost.store.network_records import NetworkRecord, NetworkRecordStore
from fingerpost.transit.embedded.feed_origins import check_locations
from fingerpost.transit.learned_profile import LearnedProfile
from fingerpost.transit.port import Network, NetworkSource
from fingerpost.transit.remote.kit.server import AddOption
from fingerpost.transit.remote.motis.transitous import MOTIS, TRANSITOUS
from fingerpost.transit.remote.motis.transitous import PACES as TRANSITOUS_PACES
from fingerpost.transit.remote.opentripplanner.digitransit import DIGITRANSIT, OTP, PACES
from fingerpost.transit.remote.tfl.unified_api import KEY_VARIABLE, TFL
from fingerpost.transit.remote.tfl.unified_api import PACES as TFL_PACES

if TYPE_CHECKING:
    from fingerpost.transit.remote.kit.network import ServerSource

EMBEDDED = "gtfs"
"""The kind of network that the embedded engine serves from GTFS feeds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceKind:
    """One kind of remote source.

    Attributes:
        kind: the value of ``source`` in a network record.
        source_class: the source's class in ``transit.remote``, imported when one of its networks is opened.
        add_options: the options of ``network add`` that select this kind.
        paces: rate limits, keyed by lower-case host, or host and path; other hosts get the limiter's default.
    """

    kind: str
    source_class: str
    add_options: tuple[AddOption, ...] = ()
    paces: Mapping[str, Pace] = field(default_factory=dict)

    def open_source(self, fetch: Fetch) -> "ServerSource":
        """Import the source's class, and return a source that sends requests with ``fetch``."""
        source: ServerSource = resolve_name(f"fingerpost.transit.remote.{self.source_class}")(fetch)
        return source


REMOTE_KINDS: tuple[SourceKind, ...] = (
    SourceKind(
        kind="opentripplanner",
        source_class="opentripplanner.network:OpenTripPlannerSource",
        add_options=(OTP, DIGITRANSIT),
        paces=PACES,
    ),
    SourceKind(kind="tfl", source_class="tfl.network:TflSource", add_options=(TFL,), paces=TFL_PACES),
    SourceKind(
        kind="motis", source_class="motis.network:MotisSource", add_options=(MOTIS, TRANSITOUS), paces=TRANSITOUS_PACES
    ),
)


class _DeferredSource(NetworkSource):
    """A remote source whose package is imported when one of its networks is opened."""

    def __init__(self, kind: SourceKind, fetch: Fetch) -> None:
        self._kind, self._fetch = kind, fetch

    def open(self, record: NetworkRecord, learned: LearnedProfile | None = None) -> Network:
        return self._kind.open_source(self._fetch).open(record, learned)


def open_sources(settings: Settings, fetch: Fetch) -> Mapping[str, NetworkSource]:
    """Return all sources, keyed by kind; remote sources send requests with ``fetch``."""
    # A local import, because importing the engine would slow down server startup.
    from fingerpost.transit.embedded.source import DemoSource, EmbeddedSource

    clients = LoopClients(lambda: new_client(settings, list_paces()))
    embedded = EmbeddedSource(settings.home, clients, day_cache_bytes=settings.day_cache_mb * 1_000_000)
    remote = {kind.kind: _DeferredSource(kind, fetch) for kind in REMOTE_KINDS}
    return {EMBEDDED: embedded, "demo": DemoSource(), **remote}


def list_paces() -> dict[str, Pace]:
    return {host: pace for kind in REMOTE_KINDS for host, pace in kind.paces.items()}


def open_record_store(home: Path) -> NetworkRecordStore:
    """Return the record store of a home folder; it validates each record's source kind, paths and URLs."""
    kinds = frozenset({EMBEDDED, *(kind.kind for kind in REMOTE_KINDS)})
    return NetworkRecordStore(home, kinds=kinds, checks=(check_locations,))


def require_keys(home: Path, environ: Mapping[str, str] = os.environ) -> None:
    """Raise SettingsInvalid if the API key of a TfL network is not set (rule E3)."""
    for record in open_record_store(home).read().records.values():
        variable = record.key or KEY_VARIABLE
        if record.source == "tfl" and not environ.get(variable, "").strip():
            raise SettingsInvalid(
                f"{variable} is not set, but {record.name} needs it: "
                f"set it, or run `fingerpost network remove {record.name}`"
            )
