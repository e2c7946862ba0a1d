"""Asking a remote source for its profile, for a command."""

import asyncio
from typing import TYPE_CHECKING

from fingerpost.apps.cli.waiting import showing_work
from fingerpost.apps.source_kinds import SourceKind

if TYPE_CHECKING:
    from fingerpost.apps.settings import Settings
    from fingerpost.store.network_record import NetworkRecord


def learn_profile(settings: "Settings", kind: SourceKind, record: "NetworkRecord") -> None:
    """Ask the server of a record for its profile, and keep what it says.

    Raises:
        ToolError: it cannot be asked, or the record states too little of what it does not say.
    """
    from fingerpost.apps.networks import learn
    from fingerpost.transit.learned_profile import LearnedProfiles, new_remote_profile

    with showing_work(f"Asking the server of {record.name} ..."):
        learned = asyncio.run(learn(settings, kind, record))
    new_remote_profile(record, learned, ())
    LearnedProfiles(settings.home).put(record, learned)
