"""The server of this test run, if there is one, and a separate schema for each test."""

import hashlib
import os
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from fingerpost.plan.engines.dbos import DbosJournal
from fingerpost.store.postgres import Database
from tests.plan.suite.engine import Engine
from tests.scale.cluster import PASSWORD, URL, USER, Cluster

SHARED = Engine(name="dbos", opens="tests.scale.places:open_journal")

cluster: Cluster | None = None
"""Set by ``make test-scale``, which may stop and restart it."""


def get_url():
    url = os.environ.get(URL, "")
    if not url:
        pytest.skip("no PostgreSQL is running for the tests: make test-scale")
    return url


def get_cluster():
    if cluster is None:
        pytest.skip("no PostgreSQL that may be stopped is running for the tests: make test-scale")
    return cluster


def open_database(folder):
    digest = hashlib.sha256(str(folder).encode()).hexdigest()
    return Database(get_url(), schema=f"test_{digest[:16]}")


def describe_tables(folder):
    database = open_database(folder)
    database._is_ready = True
    numbers = "SELECT number FROM layout ORDER BY number"
    columns = (
        "SELECT table_name, column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = current_schema() ORDER BY 1, 2"
    )
    with closing(database):
        return (
            [number for (number,) in database.read(lambda connection: connection.execute(numbers).fetchall())],
            database.read(lambda connection: connection.execute(columns).fetchall()),
        )


def open_journal(folder):
    # Its hundred tables and indexes are made once for all tests, which is safe: runs of two folders have other ids.
    return DbosJournal(open_database(folder), schema="test_dbos")


def url_of(name, *, user=USER, password=PASSWORD):
    server = urlsplit(get_url())
    return f"postgresql://{user}:{password}@{server.hostname}:{server.port}/{name}"


def run_sql(name, *statements):
    database = Database(url_of(name), schema="owner")
    with database.connect() as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
