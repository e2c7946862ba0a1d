"""Show the simulator's disruption on the demo network, in every process of a home folder."""

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
# Holds the end of the current disruption.
_FILE = "demo-disrupted-until"
LASTS = timedelta(minutes=10)
# Older realtime data counts as stale.
_RENEW_AFTER_S = 60
_CHECK_EVERY_S = 1.0


def begin_disruption(home: Path) -> None:
    """Have every process of a home folder show the disruption for the next minutes."""
    file = home / _FILE
    try:
        with locked(home / f".{_FILE}.lock"):
            replace_file(file, (clock.now() + LASTS).isoformat().encode())
    except OSError as error:
        raise SettingsInvalid(f"{home} cannot be written: {error.strerror}") from error


async def disrupt_demo(application: Application, *, ends: bool = False) -> None:
    """Publish the simulator's disruption on the demo network, as a realtime source would; or take it back."""
    # The engine takes longer to import than a command without networks runs.
    from fingerpost.transit.embedded.source import publish_simulation

    now = int(clock.now().timestamp())
    for network in (await application.networks.open()).list_owners(f"{_NETWORK}:KAMPPI"):
        await asyncio.to_thread(publish_simulation, network, now, ends=ends)


class DemoDisruption:
    """Shows the disruption that ``fingerpost demo --disrupt`` began, in this process."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._shown_s: float | None = None

    async def catch_up(self) -> None:
        """Begin, renew or end the disruption, as the file in the home folder says."""
        now_s, is_wanted = time.monotonic(), self._is_wanted()
        if is_wanted and self._shown_s is not None and now_s - self._shown_s < _RENEW_AFTER_S:
            return
        try:
            if is_wanted or self._shown_s is not None:
                await disrupt_demo(self._application, ends=not is_wanted)
            self._shown_s = now_s if is_wanted else None
        except ToolError as error:
            _log.warning("the disruption of the demo cannot be shown: %s", error.message)

    async def keep_up(self) -> None:
        while True:
            await self.catch_up()
            await asyncio.sleep(_CHECK_EVERY_S)

    def _is_wanted(self) -> bool:
        try:
            text = (self._application.settings.home / _FILE).read_text(encoding="ascii")
            return clock.now() < datetime.fromisoformat(text)
        except (OSError, ValueError, TypeError):
            return False
