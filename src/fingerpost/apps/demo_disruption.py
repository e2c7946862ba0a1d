"""Disrupt the demo network by the simulator, in every process of a home."""

import asyncio
import logging
import time
from datetime import datetime, timedelta
from pathlib import Path

from fingerpost import clock
from fingerpost.apps.wiring import Application
from fingerpost.errors import SettingsInvalid, ToolError
from fingerpost.store.atomic_file import locked, replace_file

_log = logging.getLogger(__name__)

_NETWORK = "DEMO-HELSINKI"
# Holds the end of the disruption that one process of a home began.
_FILE = "demo-disrupted-until"
LASTS = timedelta(minutes=10)
# Before its real time counts as stale.
_ANEW_S = 60
_LOOK_EVERY_S = 1.0


def begin_disruption(home: Path) -> None:
    """Ask every process of a home to show the disruption for the next minutes."""
    file = home / _FILE
    try:
        with locked(home / f".{_FILE}.lock"):
            replace_file(file, (clock.now() + LASTS).isoformat().encode())
    except OSError as error:
        raise SettingsInvalid(f"{home} cannot be written: {error.strerror}") from error


async def disrupt_demo(application: Application, *, ends: bool = False) -> None:
    """Publish the simulator's disruption on the demo network, as a realtime source would; or take it back."""
    # The engine and the bindings take longer to import than a command without networks runs.
    from fingerpost.transit.embedded.network import EmbeddedNetwork
    from fingerpost.transit.embedded.realtime_updater import simulate_overlay
    from fingerpost.transit.engine.gtfs.realtime import RealtimeIndex
    from fingerpost.transit.engine.timetable.overlay import Overlay
    from fingerpost.transit.engine.timetable.service_days import local_day

    now = int(clock.now().timestamp())
    for network in (await application.networks.open()).list_owners(f"{_NETWORK}:KAMPPI"):
        # Only the embedded engine has a timetable that can be disrupted.
        if isinstance(network, EmbeddedNetwork):
            table, overlay = network.timetable, Overlay()
            if not ends:
                overlay = await asyncio.to_thread(simulate_overlay, table, RealtimeIndex(table), now)
            await asyncio.to_thread(network.publish, overlay, local_day(now, network.profile.zone))


class DemoDisruption:
    """Shows in this process the disruption that ``fingerpost demo`` began."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._played_s: float | None = None

    async def catch_up(self) -> None:
        """Begin, renew or end the disruption, as the home asks for; log what prevents it."""
        now_s, is_wanted = time.monotonic(), self._is_wanted()
        if is_wanted and self._played_s is not None and now_s - self._played_s < _ANEW_S:
            return
        try:
            if is_wanted or self._played_s is not None:
                await disrupt_demo(self._application, ends=not is_wanted)
            self._played_s = now_s if is_wanted else None
        except ToolError as error:
            _log.warning("The demo's disruption could not be played: %s", error.message)

    async def keep_up(self) -> None:
        while True:
            await self.catch_up()
            await asyncio.sleep(_LOOK_EVERY_S)

    def _is_wanted(self) -> bool:
        try:
            text = (self._application.settings.home / _FILE).read_text(encoding="ascii")
            return clock.now() < datetime.fromisoformat(text)
        except (OSError, ValueError, TypeError):
            # No file, or one that holds no instant with an offset.
            return False
