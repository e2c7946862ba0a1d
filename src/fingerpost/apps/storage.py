"""Choose where variables, limits and plan runs are stored: in the home folder, or in a database of many machines."""

from collections.abc import Callable
from functools import cache

from fingerpost.apps.settings import Settings
from fingerpost.plan.engines.dbos import DbosJournal
from fingerpost.plan.engines.embedded import EmbeddedJournal
from fingerpost.plan.journal import Journal
from fingerpost.store.limits import Limits
from fingerpost.store.postgres import Database
from fingerpost.store.variables import VariableStore


def open_variables(settings: Settings) -> VariableStore:
    place = find_database(settings) or settings.home / "variables.sqlite"
    return VariableStore(place, retention_days=settings.retention_days)


def open_limits(settings: Settings) -> Limits:
    return Limits(find_database(settings) or settings.home / "limits.sqlite")


def open_journal(settings: Settings) -> Journal:
    database = find_database(settings)
    if database is None:
        return EmbeddedJournal(settings.home)
    return DbosJournal(database)


def find_database(settings: Settings) -> Database | None:
    """Return the database of many machines, one for each address in this process, or None where none is configured."""
    url = settings.database_url.get_secret_value().strip()
    return _open(url) if url else None


_open: Callable[[str], Database] = cache(Database)
