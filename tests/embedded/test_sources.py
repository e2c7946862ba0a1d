"""Realtime sources as a record names them."""

import pytest

from fingerpost.errors import ParameterError
from fingerpost.transit.embedded.feed_origins import NamedPlace, read_place
from fingerpost.transit.embedded.realtime_feeds import read_typed_source

URL = "https://example.org/updates.pb?key=${MY_KEY}"


def test_a_source_may_name_its_feed(tmp_path):
    path = tmp_path / "updates.pb"
    path.touch()
    read = [read_typed_source(text) for text in (str(path), f"BUS={path}", URL, f"BUS={URL}")]
    assert read == [
        NamedPlace(None, path, None),
        NamedPlace("BUS", path, None),
        NamedPlace(None, None, URL),
        NamedPlace("BUS", None, URL),
    ]
    assert [read_place(source.text) for source in read] == read


def test_a_relative_path_in_a_record_counts_from_its_folder(tmp_path):
    assert read_place("BUS=updates.pb", tmp_path) == NamedPlace("BUS", tmp_path / "updates.pb", None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("https://example.org/updates.pb?api_key=secret", "contains a key"),
        ("nowhere/updates.pb", "There is no realtime file nowhere/updates.pb"),
        ("BUS=nowhere/updates.pb", "There is no realtime file nowhere/updates.pb"),
    ],
)
def test_a_source_that_cannot_be_stored_is_refused(text, message):
    with pytest.raises(ParameterError, match=message):
        read_typed_source(text)


def test_a_url_longer_than_a_file_name_is_a_url():
    url = f"https://example.org/{'x' * 5000}"
    assert read_place(f"BUS={url}") == NamedPlace("BUS", None, url)
