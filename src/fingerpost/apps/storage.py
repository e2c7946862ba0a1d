"""Choose where variables, rate limits and plan runs are kept: in the home folder, or in a database of many machines."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from typing import Protocol

from fingerpost.apps.settings import Settings
from fingerpost.net.limiter import Limit
from fingerpost.plan.engines.embedded import EmbeddedJournal
from fingerpost.plan.engines.postgres import PostgresJournal
from fingerpost.plan.journal import Journal
from fingerpost.store.limits import LimitFile
from fingerpost.store.postgres.database import Database
from fingerpost.store.postgres.limits import SharedLimits
from fingerpost.store.postgres.request_counts import SharedRequestCounts
from fingerpost.store.postgres.variables import SharedVariables
from fingerpost.store.request_counts import RequestCountFile
from fingerpost.store.variables import Variables, VariableStore


class LimitStates(Protocol):
    """The state of all rate limits."""

    def limit(self, name: str) -> Limit:
        """Return one limit's store."""

    def list_pauses(self) -> dict[str, datetime]:
        """Return by the limit's name until when (UTC) its source wants nobody to ask; only what is to come."""


class CountedRequests(Protocol):
    """The counts of requests."""

    def add(self, counts: Mapping[tuple[str, str], int]) -> None:
        """Add counts by host and ending."""

    def read(self) -> dict[str, dict[str, int]]:
        """Return by host how many requests ended how over the last days."""


def open_variables(settings: Settings) -> Variables:
    """Return the store of user variables."""
    database = find_database(settings)
    if database is None:
        return VariableStore(settings.variables_file, retention_days=settings.retention_days)
    return SharedVariables(database, retention_days=settings.retention_days)


def open_limits(settings: Settings) -> LimitStates:
    """Return the state of rate limits."""
    database = find_database(settings)
    if database is None:
        return LimitFile(settings.limits_file)
    return SharedLimits(database)


def open_counts(settings: Settings) -> CountedRequests:
    """Return the counts of requests."""
    database = find_database(settings)
    if database is None:
        return RequestCountFile(settings.limits_file)
    return SharedRequestCounts(database)


def open_journal(settings: Settings) -> Journal:
    """Return the journal of plan runs."""
    database = find_database(settings)
    if database is None:
        return EmbeddedJournal(settings.runs_folder)
    return PostgresJournal(database)


def find_database(settings: Settings) -> Database | None:
    """Return the database of many machines, one for each address in this process, or None where none is configured."""
    url = settings.database_url.get_secret_value().strip()
    return _open(url) if url else None


_open: Callable[[str], Database] = cache(Database)
