"""Whether a server can answer calls: its networks, its home folder, and its database."""

import asyncio
import tempfile
import time

from fingerpost.apps.settings import Settings
from fingerpost.apps.storage import find_database
from fingerpost.apps.warm_up import WarmUp
from fingerpost.apps.wiring import Application
from fingerpost.errors import ToolError

_LIMIT_S = 1.0
# Several probes within this time share one look.
_SHARED_S = 2.0


class Readiness:
    def __init__(self, application: Application, warm_up: WarmUp) -> None:
        self._application = application
        self._warm_up = warm_up
        self._look: asyncio.Task[str | None] | None = None
        self._begun_s = 0.0

    async def find_problem(self) -> str | None:
        """Return a sentence on what cannot be used, None if calls can be answered."""
        if self._warm_up.problem is not None:
            return self._warm_up.problem
        look = self._look
        if look is None or (look.done() and time.monotonic() - self._begun_s >= _SHARED_S):
            look = self._look = asyncio.create_task(self._find_problem())
            self._begun_s = time.monotonic()
        # What hangs is not looked at a second time before it ends.
        await asyncio.wait([look], timeout=_LIMIT_S)
        return look.result() if look.done() else f"A network, the home folder or the database took over {_LIMIT_S:g} s"

    async def _find_problem(self) -> str | None:
        try:
            await asyncio.to_thread(_use_storage, self._application.settings)
            if self._warm_up.needs_engine:
                networks = await self._application.networks.open()
                if networks.problems and not networks.answering:
                    return next(iter(networks.problems.values()))
        except ToolError as error:
            return error.message
        except OSError as error:
            return f"The home folder cannot be written: {error.strerror or error}"
        return None


def _use_storage(settings: Settings) -> None:
    with tempfile.TemporaryFile(dir=settings.home) as file:
        # A full disk takes names, and no bytes.
        file.write(bytes(4096))
    database = find_database(settings)
    if database is not None:
        database.read(lambda connection: connection.execute("SELECT 1"))
