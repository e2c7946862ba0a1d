"""Every engine passes every test of this folder, with a running clock."""

import pytest

from tests.plan.engines import ENGINES
from tests.plan.suite.fixtures import new_runs


@pytest.fixture(autouse=True)
def _running_clock(free_clock):
    pass


@pytest.fixture(params=ENGINES, ids=lambda engine: engine.name)
def engine(request):
    return request.param


@pytest.fixture
def reopen(engine, tmp_path):
    """Return a function that opens the journal of the test, and closes the one that it opened before."""
    opened = []

    def close_and_open():
        while opened:
            opened.pop().close()
        opened.append(engine.open(tmp_path))
        return opened[0]

    yield close_and_open
    for journal in opened:
        journal.close()


@pytest.fixture
def journal(reopen):
    return reopen()


@pytest.fixture
def runs(journal, tmp_path):
    return new_runs(journal, tmp_path)
