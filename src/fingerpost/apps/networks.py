"""All networks of a home folder: which kinds of source there are, and the demos."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fingerpost.apps.record_file import open_record_file
from fingerpost.apps.settings import Settings
from fingerpost.apps.source_kinds import REMOTE_KINDS
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.networks.composite import AllNetworks, DemoMode
from fingerpost.transit.port import Source

if TYPE_CHECKING:
    from fingerpost.transit.providers.embedded.realtime_feeds import Fetch

DEMOS = ("DEMO-HELSINKI", "DEMO-LONDON")


def new_networks(settings: Settings) -> AllNetworks:
    """Return the networks of a home folder; nothing is opened, and no engine imported, before somebody asks."""
    return AllNetworks(
        open_record_file(settings.home),
        lambda: load_sources(settings),
        demos=[NetworkRecord(name=name, source="demo") for name in DEMOS],
        demo_mode=DemoMode(settings.demo),
    )


def load_sources(settings: Settings) -> Mapping[str, Source]:
    """Return every kind of source by its word. A new kind is one line in ``source_kinds.py``."""
    # The engine takes longer to import than a server may take to say who it is.
    from fingerpost.transit.providers.embedded.source import DemoSource, EmbeddedSource

    kinds: list[Source] = [
        EmbeddedSource(settings.home, lambda: _open_fetch(settings)),
        DemoSource(),
        *(kind.open_source(settings) for kind in REMOTE_KINDS),
    ]
    return {source.kind: source for source in kinds}


@asynccontextmanager
async def _open_fetch(settings: Settings) -> AsyncIterator["Fetch"]:
    # HTTP is loaded by those who ask a URL.
    from fingerpost.apps.outbound import new_client

    async with new_client(settings) as client:
        yield client.fetch
