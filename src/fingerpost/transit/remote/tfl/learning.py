"""Ask TfL which modes it knows; the rest of its profile is known without asking."""

from dataclasses import replace

from fingerpost import clock
from fingerpost.transit.learned_profile import LearnedProfile
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.remote.tfl.modes import read_mode
from fingerpost.transit.remote.tfl.server import TflClient
from fingerpost.transit.remote.tfl.shapes import OwnMode
from fingerpost.transit.remote.tfl.unified_api import ATTRIBUTION, BOUNDS, LANGUAGE, ZONE

ABILITIES = frozenset(Ability) - {Ability.FARES}


async def learn_profile(server: TflClient) -> LearnedProfile:
    """Ask for the modes; a key that is missing or refused is found out here.

    Raises:
        StorageUnavailable, SourceChanged: TfL cannot be asked, or answers in an unknown shape.
    """
    told = await server.ask(tuple[OwnMode, ...], "Line", "Meta", "Modes", fresh_s=0.0)
    modes = frozenset(read_mode(each.mode_name) for each in told.data if each.is_scheduled_service)
    return replace(new_known_profile(), modes=modes)


def new_known_profile() -> LearnedProfile:
    """Return what is known of London without asking."""
    return LearnedProfile(
        bounds=BOUNDS, zone=ZONE, languages=(LANGUAGE,), attribution=ATTRIBUTION, learned_at=clock.now()
    )
