"""The source of London's network behind TfL's API."""

from dataclasses import replace
from functools import partial

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile
from fingerpost.transit.remote.kit.source import ServerKind, ServerSource
from fingerpost.transit.remote.tfl.network import TflNetwork, new_known_profile
from fingerpost.transit.remote.tfl.server import TflClient
from fingerpost.transit.remote.tfl.shapes import OwnMode, read_mode
from fingerpost.transit.remote.tfl.unified_api import KIND


async def learn_profile(server: TflClient, _: NetworkRecord) -> LearnedProfile:
    """Ask TfL for its modes, which also checks the key; the rest of its profile is known.

    Raises:
        StorageUnavailable, SourceChanged: TfL cannot be asked, or answers in an unknown shape.
    """
    told = await server.ask(tuple[OwnMode, ...], "Line", "Meta", "Modes", fresh_s=0.0)
    modes = frozenset(read_mode(mode.mode_name) for mode in told.data if mode.is_scheduled_service)
    return replace(new_known_profile(), modes=modes)


TFL_API = ServerKind(name=KIND, new_server=TflClient, learn=learn_profile, open_network=TflNetwork)
TflSource = partial(ServerSource, TFL_API)
