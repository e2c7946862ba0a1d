"""A disruption of the demo network, as the simulator plays it."""

import asyncio
import logging
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from fingerpost import clock
from fingerpost.errors import SettingsInvalid, ToolError
from fingerpost.store.atomic_file import locked, replace_file

if TYPE_CHECKING:
    from fingerpost.apps.wiring import Application
    from fingerpost.transit.embedded.network import EmbeddedNetwork

_log = logging.getLogger(__name__)

_NETWORK = "DEMO-HELSINKI"
# Until when the processes of a home play a disruption that one of them began.
_FILE = "demo-disrupted-until"
LASTS = timedelta(minutes=10)
# Real time that is older is called stale.
_ANEW_S = 60
_LOOK_EVERY_S = 1.0


def begin_disruption(home: Path) -> None:
    """Let every process of a home that catches up with it play the disruption for the next minutes.

    Raises:
        SettingsInvalid: nothing can be written into the home folder.
    """
    file = home / _FILE
    try:
        with locked(home / f".{_FILE}.lock"):
            replace_file(file, (clock.now() + LASTS).isoformat().encode())
    except OSError as error:
        raise SettingsInvalid(f"{home} cannot be written: {error.strerror}") from error


async def disrupt_demo(application: "Application") -> None:
    """Publish what the simulator says now on the demo network, as a realtime source would."""
    # The engine and the bindings take longer to import than --help may last.
    from fingerpost.transit.embedded.realtime_updater import simulate_overlay
    from fingerpost.transit.engine.gtfs.realtime import RealtimeIndex
    from fingerpost.transit.engine.timetable.service_days import local_day

    now = int(clock.now().timestamp())
    for network in await _open_demos(application):
        table = network.timetable
        overlay = await asyncio.to_thread(simulate_overlay, table, RealtimeIndex(table), now)
        await asyncio.to_thread(network.publish, overlay, local_day(now, network.profile.zone))


async def calm_demo(application: "Application") -> None:
    """Take back what the simulator said: the demo network has no real time again."""
    from fingerpost.transit.engine.timetable.overlay import Overlay
    from fingerpost.transit.engine.timetable.service_days import local_day

    now = int(clock.now().timestamp())
    for network in await _open_demos(application):
        await asyncio.to_thread(network.publish, Overlay(), local_day(now, network.profile.zone))


class DemoDisruption:
    """What this process plays of a disruption that ``fingerpost demo`` began."""

    def __init__(self, application: "Application") -> None:
        self._application = application
        self._played_s: float | None = None

    async def catch_up(self) -> None:
        """Play, play on or end the disruption, as is wanted now; what keeps it from that is logged."""
        try:
            await self._catch_up()
        except ToolError as error:
            _log.warning("The demo's disruption could not be played: %s", error.message)

    async def _catch_up(self) -> None:
        now_s = time.monotonic()
        if self._is_wanted():
            if self._played_s is None or now_s - self._played_s >= _ANEW_S:
                await disrupt_demo(self._application)
                self._played_s = now_s
        elif self._played_s is not None:
            await calm_demo(self._application)
            self._played_s = None

    async def keep_up(self) -> None:
        """Catch up again and again, until this is cancelled."""
        while True:
            await self.catch_up()
            await asyncio.sleep(_LOOK_EVERY_S)

    def _is_wanted(self) -> bool:
        try:
            text = (self._application.settings.home / _FILE).read_text(encoding="ascii")
            return clock.now() < datetime.fromisoformat(text)
        except (OSError, ValueError, TypeError):
            # Nobody began one; what cannot be read, or says no instant with an offset, is none either.
            return False


async def _open_demos(application: "Application") -> "list[EmbeddedNetwork]":
    from fingerpost.transit.embedded.network import EmbeddedNetwork

    networks = (await application.networks.open()).list_owners(f"{_NETWORK}:KAMPPI")
    # Whoever opens the demo is the embedded engine; only it has a timetable to play on.
    return [network for network in networks if isinstance(network, EmbeddedNetwork)]
