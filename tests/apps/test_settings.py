"""Settings come from the environment, and an invalid one is reported in one sentence."""

import pytest

from fingerpost.apps.settings import read_settings
from fingerpost.errors import SettingsInvalid


def test_an_empty_variable_counts_as_unset(monkeypatch):
    monkeypatch.setenv("FINGERPOST_USER", "")

    assert read_settings().user == "local"


def test_an_argument_overrides_the_environment(monkeypatch):
    monkeypatch.setenv("FINGERPOST_USER", "eva")

    assert (read_settings().user, read_settings(user="bob").user) == ("eva", "bob")


@pytest.mark.parametrize(("days", "accepted"), [("0", False), ("1", True), ("36500", True), ("36501", False)])
def test_variables_are_stored_for_a_day_to_a_century(monkeypatch, days, accepted):
    monkeypatch.setenv("FINGERPOST_RETENTION_DAYS", days)

    if accepted:
        assert read_settings().retention_days == int(days)
    else:
        with pytest.raises(SettingsInvalid, match=r"^FINGERPOST_RETENTION_DAYS is not usable: retention_days must be"):
            read_settings()


def test_a_malformed_setting_names_its_variable_and_shows_the_value(monkeypatch):
    monkeypatch.setenv("FINGERPOST_RETENTION_DAYS", "soon")

    with pytest.raises(SettingsInvalid) as caught:
        read_settings()

    assert caught.value.message == (
        'FINGERPOST_RETENTION_DAYS is not usable: retention_days must be a whole number, not the text "soon"'
    )


def test_an_uncreatable_home_is_reported(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FINGERPOST_HOME", str(tmp_path / "file" / "home"))

    with pytest.raises(SettingsInvalid, match="Set FINGERPOST_HOME to a folder that you may write to"):
        read_settings().prepare_home()


def test_reading_settings_makes_no_folder(home):
    read_settings()

    assert not home.exists()
