"""Every plan test has a fixed clock, and closes what it opened."""

import pytest

from tests.plan.drawing import NOW, Recorder, runs_in


@pytest.fixture(autouse=True)
def _standing_clock(monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", NOW)


@pytest.fixture
def free_clock(monkeypatch):
    monkeypatch.delenv("FINGERPOST_NOW")


@pytest.fixture
def recorder():
    return Recorder()


@pytest.fixture
def opened(tmp_path):
    drawn = []

    def draw(*tools, **more):
        runs = runs_in(tmp_path, *tools, **more)
        drawn.append(runs)
        return runs

    yield draw
    for runs in drawn:
        runs.journal.close()


@pytest.fixture
def runs(opened, recorder):
    return opened(recorder.tool())
