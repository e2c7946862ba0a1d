"""Every test with several machines has its own schema, and a running clock."""

import pytest

from tests.scale.places import get_url, open_database, run_sql


@pytest.fixture(autouse=True)
def _free_clock(monkeypatch):
    monkeypatch.delenv("FINGERPOST_NOW", raising=False)


@pytest.fixture
def database(tmp_path):
    get_url()
    opened = open_database(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def new_database(request):
    """Create a database, and return its name."""
    made = []

    def create(options=""):
        name = f"made_{abs(hash(request.node.nodeid)) % 10**9}_{len(made)}"
        run_sql("postgres", f"CREATE DATABASE {name} {options}")
        made.append(name)
        return name

    yield create
    for name in made:
        run_sql("postgres", f"DROP DATABASE {name} WITH (FORCE)")
