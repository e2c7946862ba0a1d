"""How long plan runs are kept."""

import logging
from datetime import datetime, timedelta

from fingerpost import clock
from fingerpost.plan.journal import Journal
from fingerpost.plan.plan_json import write_instant

_log = logging.getLogger(__name__)

_INTERVAL = timedelta(hours=1)


class RunRetention:
    """Removes runs that ended too long ago; ``days`` counts from a run's end, None keeps for ever."""

    def __init__(self, journal: Journal, days: int | None) -> None:
        self._journal = journal
        self._kept = None if days is None else timedelta(days=days)
        self._applied_at: datetime | None = None

    async def apply(self) -> None:
        """Remove what is too old, once an hour at most.

        Raises:
            SettingsInvalid, StorageUnavailable: the journal cannot be used.
        """
        instant = clock.now()
        if self._kept is None or (self._applied_at is not None and instant - self._applied_at < _INTERVAL):
            return
        self._applied_at = instant
        count = await self._journal.forget_before(write_instant(instant - self._kept))
        if count:
            _log.info("%d runs that ended more than %d days ago were removed", count, self._kept.days)
