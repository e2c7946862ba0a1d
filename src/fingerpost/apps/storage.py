"""Choose where variables, rate limits and plan runs are stored: in the home folder or in a shared database."""

import logging
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from fingerpost.apps.settings import Settings
from fingerpost.errors import StorageUnavailable
from fingerpost.net.limiter import Limiter
from fingerpost.plan.engines.embedded import EmbeddedJournal
from fingerpost.plan.journal import Journal
from fingerpost.runtime.extras import require_extra
from fingerpost.store.limits import Limits, Pace
from fingerpost.store.variables import VariableStore

if TYPE_CHECKING:
    from fingerpost.net.client import Client
    from fingerpost.store.postgres import Database

_log = logging.getLogger(__name__)


def open_variables(settings: Settings) -> VariableStore:
    backend = find_database(settings) or settings.home / "variables.sqlite"
    return VariableStore(backend, retention_days=settings.retention_days)


def open_limits(settings: Settings) -> Limits:
    return Limits(find_database(settings) or settings.home / "limits.sqlite")


def open_journal(settings: Settings) -> Journal:
    if (database := find_database(settings)) is None:
        return EmbeddedJournal(settings.home)
    from fingerpost.plan.engines.dbos import DbosJournal

    return DbosJournal(database)


def new_client(settings: Settings, paces: Mapping[str, Pace] | None = None) -> "Client":
    """Return an HTTP client that shares its rate limits with all processes that use this home folder or database."""
    # A local import, because importing the HTTP client would slow down server startup.
    from fingerpost.net.client import Client

    return Client(
        contact=settings.contact or None,
        limiter=Limiter(open_limits(settings), paces=paces, operator_hosts=settings.private_hosts),
        private_hosts=settings.private_hosts,
    )


def find_database(settings: Settings) -> "Database | None":
    """Return the shared database (one object per URL), or None if no database is configured."""
    url = settings.database_url.get_secret_value().strip()
    return _open(url) if url else None


@cache
def _open(url: str) -> "Database":
    problem = "FINGERPOST_DATABASE_URL is set, but the PostgreSQL client is not installed"
    require_extra("scale", problem, "psycopg", "psycopg_pool")
    from fingerpost.store.postgres import Database

    return Database(url)


def check_database(settings: Settings) -> None:
    """Connect to the shared database, if one is configured; log a warning if it cannot be reached."""
    if (database := find_database(settings)) is None:
        return
    try:
        database.connect().close()
    except StorageUnavailable as error:
        # Only warn, because the database may be restarting; calls that need it report the failure.
        _log.warning("%s", error.message)
