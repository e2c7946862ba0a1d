"""Every engine is held to every fact of the suite."""

import pytest

from fingerpost.testing.engines.suite import list_facts
from tests.plan.engines import ENGINES


@pytest.fixture(autouse=True)
def _free_clock(monkeypatch):
    """Two processes of one installation draw ids of their own."""
    monkeypatch.delenv("FINGERPOST_NOW", raising=False)


@pytest.mark.parametrize(
    ("engine", "fact"),
    [pytest.param(engine, fact, id=f"{engine.name}-{fact}") for engine in ENGINES for fact in list_facts(engine)],
)
def test_an_engine_keeps_its_promises(engine, fact, tmp_path):
    """The fact is the test's name; where it does not hold the suite says what it saw instead."""
    fact.check(engine, tmp_path)
