"""A place of its own for each test: a schema of the server that is running."""

import hashlib
import os
from pathlib import Path

from fingerpost.plan.engines.dbos import DbosJournal
from fingerpost.plan.engines.postgres import PostgresJournal
from fingerpost.store.postgres.database import Database
from tests.scale.cluster import URL


def schema_of(folder: Path) -> str:
    """Return the name of the schema that belongs to a folder."""
    return f"test_{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"


def open_database(folder: Path) -> Database:
    """Return the database of a folder."""
    return Database(os.environ[URL], schema=schema_of(folder))


def open_journal(folder: Path) -> PostgresJournal:
    """Return the shared journal of a folder."""
    return PostgresJournal(open_database(folder))


def open_dbos_journal(folder: Path) -> DbosJournal:
    """Return the journal on DBOS of a folder."""
    # Its hundred tables and indexes are made once for all tests, which is safe: runs of two folders have other ids.
    return DbosJournal(open_database(folder), schema="test_dbos")
