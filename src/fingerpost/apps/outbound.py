"""Build the HTTP client from the settings."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fingerpost.apps.pace_storage import open_counts, open_limits
from fingerpost.apps.settings import Settings
from fingerpost.net.client import Client
from fingerpost.net.limiter import Limiter
from fingerpost.net.pace import Pace
from fingerpost.net.passage import Tape
from fingerpost.net.recording.player import Player
from fingerpost.net.recording.recorder import Recorder
from fingerpost.net.request_counts import RequestCounts


def new_client(settings: Settings, paces: Mapping[str, Pace] | None = None) -> Client:
    """Return an HTTP client whose rate limits are shared by all processes of this home folder, or of a database.

    Where the settings want calls recorded or replayed, all clients of this process share one tape.

    Raises:
        SettingsInvalid: the folder to replay from holds no recording.
    """
    return Client(
        contact=settings.contact or None,
        limiter=Limiter(open_limits(settings).limit, paces=paces, own_hosts=settings.private_hosts),
        private_hosts=settings.private_hosts,
        tape=_open_tape(settings.record, settings.replay),
        counts=RequestCounts(open_counts(settings)),
    )


@cache
def _open_tape(record: Path | None, replay: Path | None) -> Tape | None:
    if record is not None:
        return Recorder(record)
    return None if replay is None else Player(replay)
