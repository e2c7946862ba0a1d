"""Settings come from the environment, and an invalid one is reported in one sentence."""

import os

import pytest

from fingerpost.apps.settings import read_settings
from fingerpost.errors import SettingsInvalid


def test_an_empty_variable_counts_as_unset(monkeypatch):
    monkeypatch.setenv("FINGERPOST_USER", "")

    assert read_settings().user == "local"


def test_an_argument_overrides_the_environment(monkeypatch):
    monkeypatch.setenv("FINGERPOST_USER", "eva")

    assert (read_settings().user, read_settings(user="bob").user) == ("eva", "bob")


@pytest.mark.parametrize("days", [1, 36_500])
def test_variables_are_stored_for_a_day_to_a_century(monkeypatch, days):
    monkeypatch.setenv("FINGERPOST_RETENTION_DAYS", str(days))

    assert read_settings().retention_days == days


@pytest.mark.parametrize(
    ("days", "predicate"),
    [("0", "at least 1; "), ("36501", "at most 36500; "), ("soon", 'a whole number, not the text "soon"')],
)
def test_a_wrong_setting_names_its_variable_and_shows_the_value(monkeypatch, days, predicate):
    monkeypatch.setenv("FINGERPOST_RETENTION_DAYS", days)
    sentence = f"^FINGERPOST_RETENTION_DAYS is invalid: retention_days must be {predicate}"

    with pytest.raises(SettingsInvalid, match=sentence):
        read_settings()


def test_an_uncreatable_home_is_reported(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FINGERPOST_HOME", str(tmp_path / "file" / "home"))

    with pytest.raises(SettingsInvalid, match="Set FINGERPOST_HOME to a writable folder"):
        read_settings().prepare_home()


def test_a_home_that_is_only_readable_can_be_read(monkeypatch, home):
    monkeypatch.setattr(os, "access", lambda _path, mode: not mode & os.W_OK)
    read_settings().prepare_home()

    assert home.is_dir()


def test_reading_settings_makes_no_folder(home):
    read_settings()

    assert not home.exists()
