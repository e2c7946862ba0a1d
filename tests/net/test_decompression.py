"""Decompression in pieces, compared with Python's own."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.errors import SourceChanged, SourceUnreachable
from fingerpost.net.response import Decompression


def inflate(wire, cuts, coding="gzip"):
    decompression, content, start = Decompression(coding), b"", 0
    for cut in [*sorted(cut % (len(wire) + 1) for cut in cuts), len(wire)]:
        content += b"".join(decompression.feed(wire[start:cut]))
        start = cut
    decompression.end()
    return content


@given(
    members=st.lists(st.binary(max_size=200) | st.integers(0, 700_000).map(bytes), min_size=1, max_size=3),
    cuts=st.lists(st.integers(0, 10_000), max_size=5),
    padding=st.integers(0, 3),
)
def test_however_it_is_cut_the_content_is_the_same(members, cuts, padding):
    wire = b"".join(map(gzip.compress, members)) + bytes(padding)

    assert inflate(wire, cuts) == b"".join(members) == gzip.decompress(wire)


@given(content=st.binary(min_size=1, max_size=2000), left_out=st.integers(1, 17))
def test_a_member_that_breaks_off_is_noticed(content, left_out):
    with pytest.raises(SourceUnreachable):
        inflate(gzip.compress(content)[:-left_out], [])


def test_content_arrives_in_small_pieces():
    pieces = Decompression("gzip").feed(gzip.compress(bytes(10_000_000)))

    assert max(map(len, pieces)) == 262_144


def test_an_invalid_gzip_is_reported():
    with pytest.raises(SourceChanged):
        inflate(b"plain text", [])


def test_plain_and_empty_content_passes():
    assert (inflate(b"abc", [1], ""), inflate(b"", [], "gzip")) == (b"abc", b"")
