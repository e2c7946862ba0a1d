"""Where real time comes from is kept beside the network, in one step, and a change is noticed."""

import pytest

from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.transit.providers.embedded.realtime_sources import RealtimeSource, RealtimeSources, read_source

URL = "https://example.org/updates.pb?key=${MY_KEY}"


def test_sources_are_read_as_they_were_kept(tmp_path):
    """A file and a URL, one of them for one FEED only."""
    kept = (RealtimeSource("/data/updates.pb"), RealtimeSource(URL, "BUS"))
    RealtimeSources(tmp_path).write("HSL", kept)
    assert RealtimeSources(tmp_path).read("HSL") == kept


def test_a_removed_record_is_no_source(tmp_path):
    """Removing twice is no error."""
    sources = RealtimeSources(tmp_path)
    sources.write("HSL", [RealtimeSource(URL)])
    sources.remove("HSL")
    sources.remove("HSL")
    assert sources.read("HSL") == ()


def test_every_change_has_a_stamp_of_its_own(tmp_path):
    """Nothing, one source, another, none."""
    sources = RealtimeSources(tmp_path)
    stamps = [sources.stamp()]
    for kept in ([RealtimeSource(URL)], [RealtimeSource("/a.pb")], []):
        sources.write("HSL", kept)
        stamps.append(sources.stamp())
    assert len(set(stamps)) == 4


def test_a_damaged_record_is_told(tmp_path):
    """The message names the file and what to do."""
    sources = RealtimeSources(tmp_path)
    sources.write("HSL", [RealtimeSource(URL)])
    (tmp_path / "realtime" / "HSL.json").write_text("[{")
    with pytest.raises(SettingsInvalid, match=r"HSL\.json cannot be read .* Run `fingerpost network add`"):
        sources.read("HSL")


def test_a_source_may_name_its_feed(tmp_path):
    """``FEED=`` goes before a path and before an address."""
    path = tmp_path / "updates.pb"
    path.touch()
    read = [read_source(text) for text in (str(path), f"BUS={path}", URL, f"BUS={URL}")]
    assert read == [
        RealtimeSource(str(path)),
        RealtimeSource(str(path), "BUS"),
        RealtimeSource(URL),
        RealtimeSource(URL, "BUS"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("https://example.org/updates.pb?api_key=secret", "holds a key"),
        ("nowhere/updates.pb", "There is no realtime file nowhere/updates.pb"),
    ],
)
def test_a_source_that_cannot_be_kept_is_refused(text, message):
    """A key in the clear, and a file that is not there."""
    with pytest.raises(ParameterError, match=message):
        read_source(text)
