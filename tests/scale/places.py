"""A place of its own for each test: a schema of the server that is running."""

import hashlib
import os
from pathlib import Path
from urllib.parse import urlsplit

from fingerpost.plan.engines.dbos import DbosJournal
from fingerpost.store.postgres import Database
from tests.plan.suite.engine import Engine
from tests.scale.cluster import PASSWORD, URL, USER
from tests.scale.running import get_url

SHARED = Engine(name="dbos", opens="tests.scale.places:open_journal")


def schema_of(folder: Path) -> str:
    """Return the name of the schema that belongs to a folder."""
    return f"test_{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"


def open_database(folder: Path) -> Database:
    return Database(os.environ[URL], schema=schema_of(folder))


def open_journal(folder: Path) -> DbosJournal:
    # Its hundred tables and indexes are made once for all tests, which is safe: runs of two folders have other ids.
    return DbosJournal(open_database(folder), schema="test_dbos")


def url_of(name: str, *, user: str = USER, password: str = PASSWORD) -> str:
    """Return the address of a database of the server that is running."""
    server = urlsplit(get_url())
    return f"postgresql://{user}:{password}@{server.hostname}:{server.port}/{name}"


def run_sql(name: str, *statements: str) -> None:
    """Run statements in a database of the server as its owner."""
    database = Database(url_of(name), schema="owner")
    with database.connect() as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
