"""The server of this test run, if there is one."""

import os

import pytest

from tests.scale.cluster import URL, Cluster

cluster: Cluster | None = None
"""Set by ``make test-scale``, which may stop and restart it."""


def get_url() -> str:
    """Return the server's address; without one the test is skipped, and says so."""
    url = os.environ.get(URL, "")
    if not url:
        pytest.skip("no PostgreSQL is running for the tests: make test-scale")
    return url


def get_cluster() -> Cluster:
    """Return the server that may be stopped; without one the test is skipped, and says so."""
    if cluster is None:
        pytest.skip("no PostgreSQL that may be stopped is running for the tests: make test-scale")
    return cluster
