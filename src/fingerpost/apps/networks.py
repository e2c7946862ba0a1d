"""Build the composite of a home folder's networks: its kinds of sources, and the demos."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from fingerpost.apps.settings import Settings
from fingerpost.apps.source_kinds import REMOTE_KINDS, list_paces, open_record_store
from fingerpost.apps.storage import new_client
from fingerpost.net.cache import SharedResponses
from fingerpost.net.loop_clients import LoopClients
from fingerpost.net.request import Fetch
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfiles
from fingerpost.transit.networks.composite import AllNetworks, DemoMode
from fingerpost.transit.port import NetworkSource

DEMOS = ("DEMO-HELSINKI", "DEMO-LONDON")


def new_networks(settings: Settings) -> AllNetworks:
    """Return the networks of a home folder; nothing is opened, and no engine imported, before somebody asks."""
    clients = LoopClients(lambda: new_client(settings, list_paces()))
    return AllNetworks(
        open_record_store(settings.home),
        lambda: load_sources(settings, clients.fetch),
        demos=[NetworkRecord(name=name, source="demo") for name in DEMOS],
        demo_mode=DemoMode(settings.demo),
        learned=LearnedProfiles(settings.home),
        clients=clients,
    )


def load_sources(settings: Settings, fetch: Fetch) -> Mapping[str, NetworkSource]:
    """Return every kind of source by its word; remote ones ask with ``fetch``."""
    # The engine takes longer to import than a server may take to say who it is.
    from fingerpost.transit.embedded.source import DemoSource, EmbeddedSource

    kinds: list[NetworkSource] = [
        EmbeddedSource(settings.home, lambda: _open_fetch(settings), day_cache_bytes=settings.day_cache_mb * 1_000_000),
        DemoSource(),
        *(kind.open_source(fetch) for kind in REMOTE_KINDS),
    ]
    return {source.kind: source for source in kinds}


@asynccontextmanager
async def _open_fetch(settings: Settings) -> AsyncIterator[Fetch]:
    """Open what real time is fetched with: once for all processes of a home."""
    from fingerpost.transit.embedded.realtime_feeds import POLL_S

    async with new_client(settings, list_paces()) as client:
        yield SharedResponses(settings.home / "realtime", client.fetch, fresh_s=POLL_S)
