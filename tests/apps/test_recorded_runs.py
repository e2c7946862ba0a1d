"""A run of the program is recorded with a server, and replayed without one: the same output, byte for byte."""

import json
from pathlib import Path

import pytest

from fingerpost.apps.settings import read_settings
from fingerpost.errors import SettingsInvalid
from fingerpost.testing.feeds import feed_from_drawing, write_feed
from tests.apps.feed_server import serving_feeds
from tests.homes import write_record
from tests.realtime.messages import NOW, call, message, update

DRAWING = """
line A   | Alpha 08:05 | Beta 08:15 | Gamma 08:25
line B   | Alpha 08:10 | Gamma 08:40
"""
LATE = message(update("A-1", call("ALPHA", 90), call("BETA", 90), call("GAMMA", 120)), timestamp=NOW - 7)
KEY = "s3cr3t-k3y"
FEED, UPDATES = "{url}/town.zip?key=${TOWN_KEY}", "{url}/updates.pb?key=${TOWN_KEY}"
COMMANDS = {
    "add": ("network", "add", "town", FEED),
    "gone": ("network", "refresh", "town"),
    "board": ("departures", "TOWN:ALPHA", "--json"),
}


@pytest.fixture
def run(invoke, monkeypatch):
    """Run one of the commands with some environment; the network follows real time from before the board on."""

    def run_one(name, url, **environment):
        if name == "board":
            write_record(Path(environment["FINGERPOST_HOME"]), "TOWN", realtime=[UPDATES.replace("{url}", url)])
        with monkeypatch.context() as only_here:
            for variable, value in environment.items():
                only_here.setenv(variable, str(value))
            return invoke(*(part.replace("{url}", url) for part in COMMANDS[name]))

    return run_one


@pytest.fixture
def recorded(tmp_path, run):
    """The commands, each recorded into a folder of its own; returns the URL and the outputs. The server is gone."""
    live = {"FINGERPOST_HOME": tmp_path / "live", "FINGERPOST_PRIVATE_HOSTS": "127.0.0.1", "TOWN_KEY": KEY}
    outputs = {}
    with serving_feeds() as server:
        server.contents["/town.zip"] = write_feed(tmp_path / "town.zip", feed_from_drawing(DRAWING)).read_bytes()
        server.contents["/updates.pb"] = LATE
        for name in COMMANDS:
            if name == "gone":
                del server.contents["/town.zip"]
            outputs[name] = run(name, server.url, FINGERPOST_RECORD=tmp_path / name, **live)
        assert {query for _, query, _ in server.asked} == {f"key={KEY}"}
    return server.url, outputs


def test_a_run_is_replayed_byte_for_byte_without_its_server(recorded, tmp_path, run):
    """A feed is fetched, real time followed, and a refresh refused: no key, no permission and no server is needed."""
    url, outputs = recorded
    offline = tmp_path / "offline"
    replayed = {name: run(name, url, FINGERPOST_REPLAY=tmp_path / name, FINGERPOST_HOME=offline) for name in COMMANDS}

    assert replayed == outputs
    assert [ended.returncode for ended in outputs.values()] == [0, 1, 0]
    assert [row.get("delaySeconds") for row in json.loads(outputs["board"].stdout)["departures"]] == [90, None]
    assert "HTTP 404" in outputs["gone"].stderr


def test_a_recorded_run_holds_no_key(recorded, tmp_path):
    """It went out with every request."""
    kept = [path for name in COMMANDS for path in (tmp_path / name).rglob("*") if path.is_file()]

    assert [path.name for path in kept if KEY.encode() in path.read_bytes()] == []
    assert {path.suffix for path in kept} == {".json", ".txt", ".bin"}


def test_what_a_replay_lacks_is_one_sentence(recorded, tmp_path, run):
    """Another feed than was recorded: it is named, and how to record it."""
    url, _ = recorded
    ended = run("add", f"{url}/elsewhere", FINGERPOST_REPLAY=tmp_path / "add", FINGERPOST_HOME=tmp_path / "other")

    told = " ".join(ended.stderr.split())
    assert ended.returncode == 1
    assert f"The recording add does not hold GET {url}/elsewhere/town.zip." in told
    assert "FINGERPOST_RECORD=FOLDER" in told


def test_a_folder_without_a_recording_is_told(tmp_path, run):
    """Before anything is asked."""
    ended = run("add", "http://feeds.example", FINGERPOST_REPLAY=tmp_path / "none")

    assert (ended.returncode, "holds no recording" in " ".join(ended.stderr.split())) == (1, True)


def test_a_run_is_either_recorded_or_replayed(monkeypatch, tmp_path):
    """Both at once is a setting that must be mended."""
    monkeypatch.setenv("FINGERPOST_RECORD", str(tmp_path / "a"))
    monkeypatch.setenv("FINGERPOST_REPLAY", str(tmp_path / "b"))

    with pytest.raises(SettingsInvalid, match="FINGERPOST_RECORD and FINGERPOST_REPLAY are both set"):
        read_settings()
