"""Counts of requests by host: added up over processes and days, and forgotten after a week."""

import pytest

from fingerpost.errors import SettingsInvalid
from fingerpost.net.request_counts import Ending, RequestCounts
from fingerpost.store.postgres.request_counts import SharedRequestCounts
from fingerpost.store.request_counts import RequestCountFile
from tests.scale.places import open_database
from tests.scale.running import get_url


@pytest.fixture
def on(monkeypatch):
    """Set the day; it is the first."""

    def set_day(day):
        monkeypatch.setenv("FINGERPOST_NOW", f"2026-03-{day:02d}T23:59:59Z")

    set_day(1)
    return set_day


@pytest.fixture(params=["file", "postgres"])
def counts(request, tmp_path, on):
    """The counts of a home folder, or of a database."""
    if request.param == "file":
        return RequestCountFile(tmp_path / "limits.sqlite")
    get_url()
    return SharedRequestCounts(open_database(tmp_path))


only_in_a_file = pytest.mark.parametrize("counts", ["file"], indirect=True)


@pytest.mark.parametrize(("day", "answered"), [(7, 5), (8, 3)])
def test_a_week_is_kept(counts, on, day, answered):
    """What was counted on the first counts through the seventh."""
    counts.add({("a.example", "answered"): 2})
    on(2)
    counts.add({("a.example", "answered"): 3, ("b.example", "limited"): 1})
    on(day)

    assert counts.read() == {"a.example": {"answered": answered}, "b.example": {"limited": 1}}


def test_days_long_gone_are_forgotten_on_the_disk_too(counts, on):
    """The file does not grow for ever."""
    counts.add({("a.example", "answered"): 2})
    on(8)
    counts.add({("b.example", "answered"): 1})
    on(1)

    assert counts.read() == {"b.example": {"answered": 1}}


@only_in_a_file
def test_nothing_was_asked_yet(counts):
    """No file is made by reading."""
    assert counts.read() == {}
    assert not counts._file.path.exists()


@only_in_a_file
def test_a_count_that_cannot_be_written_fails_nothing(counts, caplog):
    """The log says how many were lost; a reader is told what is wrong."""
    counts._file.path.write_bytes(b"this is no database, and long enough to be told from one" * 20)
    counts.add({("a.example", "answered"): 2})

    assert "2 requests were not counted" in caplog.text
    with pytest.raises(SettingsInvalid, match="limits file"):
        counts.read()


async def test_a_client_writes_what_it_counted_when_it_closes(counts):
    """And writes nothing twice."""
    client = RequestCounts(counts)
    for ending in (Ending.ANSWERED, Ending.ANSWERED, Ending.MEMORY):
        client.add("a.example", ending)
    await client.aclose()
    await client.aclose()

    assert counts.read() == {"a.example": {"answered": 2, "from memory": 1}}
