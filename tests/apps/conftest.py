"""Each test has its own home folder, and the clock is fixed."""

import sys
from typing import NamedTuple

import pytest

from fingerpost.apps.cli import main
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from tests.feeds import feed_from_drawing, write_feed

NOW = "2026-03-10T08:00:00+02:00"
# Far from every demo network.
TOWN = {"Alpha": (41.0, -8.00), "Beta": (41.0, -8.02), "Gamma": (41.0, -8.04)}


def write_town(folder, drawing="line 1 | Alpha 08:00 | Beta 08:10"):
    return write_feed(folder / "town.zip", feed_from_drawing(drawing, coordinates=TOWN))


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for name in ("FINGERPOST_USER", "FINGERPOST_RETENTION_DAYS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FINGERPOST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FINGERPOST_NOW", NOW)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "home"


@pytest.fixture
def application(home):
    return build(read_settings())


class Ended(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def invoke(monkeypatch, capsys):
    """Run the command in this process, which costs a hundredth of a process of its own."""

    def run_here(*arguments):
        monkeypatch.setattr(sys, "argv", ["fingerpost", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return Ended(ended.value.code or 0, *capsys.readouterr())

    return run_here
