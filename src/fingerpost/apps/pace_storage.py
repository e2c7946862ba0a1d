"""Choose where limits and counts are kept: in the home folder, or in a database of many machines."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from fingerpost.apps.settings import Settings
from fingerpost.apps.storage import find_database
from fingerpost.net.limiter import Limit
from fingerpost.store.call_log import SqliteCallLog
from fingerpost.store.limits import LimitFile
from fingerpost.store.postgres.call_log import SharedCallLog
from fingerpost.store.postgres.limits import SharedLimits
from fingerpost.store.postgres.request_counts import SharedRequestCounts
from fingerpost.store.request_counts import RequestCountFile
from fingerpost.transit.tools.call_limit import CountsCalls


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


def open_limits(settings: Settings) -> LimitStates:
    """Return the state of rate limits."""
    database = find_database(settings)
    if database is None:
        return LimitFile(settings.limits_file)
    return SharedLimits(database)


def open_call_log(settings: Settings, tool: str) -> CountsCalls:
    """Return the calls of a tool with a limit of its own (rule E2)."""
    database = find_database(settings)
    if database is None:
        return SqliteCallLog(settings.limits_file, tool)
    return SharedCallLog(database, tool)


def open_counts(settings: Settings) -> CountedRequests:
    """Return the counts of requests."""
    database = find_database(settings)
    if database is None:
        return RequestCountFile(settings.limits_file)
    return SharedRequestCounts(database)
