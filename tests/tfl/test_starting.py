"""TfL in a home folder: adding it, and starting a server if its key is not set (rule E3)."""

import sys

import pytest

from fingerpost.apps.cli import main
from fingerpost.apps.settings import read_settings
from fingerpost.apps.source_kinds import list_paces, require_keys
from fingerpost.errors import SettingsInvalid
from fingerpost.transit.remote.tfl.unified_api import TFL
from tests.homes import write_record


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("FINGERPOST_HOME", str(tmp_path))
    monkeypatch.delenv("TFL_API_KEY", raising=False)
    return tmp_path


def test_the_record_names_tfl_and_its_key():
    assert TFL.fill("") == {"url": "https://api.tfl.gov.uk", "key": "TFL_API_KEY"}


def test_tfl_is_called_no_faster_than_its_product_allows():
    pace = list_paces()["api.tfl.gov.uk"]

    assert pace.burst + 60 * pace.per_second <= 500


@pytest.mark.parametrize(("command", "key"), [("serve", None), ("serve", "  "), ("web", "")])
def test_a_server_without_the_key_exits_with_a_sentence(home, command, key, monkeypatch, capsys):
    """J21, E3: exit status 2, one sentence on stderr that names the key, nothing on stdout."""
    write_record(home, "LONDON", **{"source": "tfl", **TFL.fill("")})
    if key is not None:
        monkeypatch.setenv("TFL_API_KEY", key)
    monkeypatch.setattr(sys, "argv", ["fingerpost", command])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr()

    assert (ended.value.code, told.out) == (2, "")
    sentence = "TFL_API_KEY is not set, but LONDON needs it: set it, or run `fingerpost network remove LONDON`."
    assert told.err.strip().splitlines() == [sentence]


def test_no_other_command_needs_the_key(home, monkeypatch, capsys):
    """E3: the networks can be listed."""
    write_record(home, "LONDON", **{"source": "tfl", **TFL.fill("")})
    monkeypatch.setattr(sys, "argv", ["fingerpost", "network", "list"])
    with pytest.raises(SystemExit) as ended:
        main()

    assert (ended.value.code or 0, "LONDON" in capsys.readouterr().out) == (0, True)


def test_a_server_with_the_key_or_without_tfl_starts(home):
    """J21: the record may name another variable; without TfL there is nothing to check."""
    settings = read_settings()
    require_keys(settings.home, {})
    write_record(home, "LONDON", source="tfl", key="MY_KEY")
    require_keys(settings.home, {"MY_KEY": "k"})

    with pytest.raises(SettingsInvalid, match="MY_KEY is not set"):
        require_keys(settings.home, {"TFL_API_KEY": "k"})
