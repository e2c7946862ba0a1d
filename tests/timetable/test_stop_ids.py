"""Printed stop ids (rule A8)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.transit.engine.timetable.stop_ids import clean_feed_name, encode_stop_ids, escape, unescape

PRINTED = re.compile(r"^[A-Z0-9:_-]+$")
TEXTS = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from("_0123456789ABCDEFabcdef: -äß")))


@pytest.mark.parametrize(
    ("feed", "local_id", "printed"),
    [
        ("HSL", "1040601", "HSL:1040601"),
        ("hsl", "abc", "HSL:ABC"),
        ("HSL", "a b.c", "HSL:A_20B_2EC"),
        ("HSL", "Ä", "HSL:_C3_84"),
        ("HSL", "P_1", "HSL:P_1"),
        ("HSL", "P_12", "HSL:P_5F12"),
        ("HSL", "GTFS:1", "HSL:GTFS:1"),
        ("A:B", "1", "A-B:1"),
    ],
)
def test_odd_characters_are_escaped_in_upper_case(feed, local_id, printed):
    assert encode_stop_ids([(feed, local_id)]) == [printed]


@given(TEXTS)
def test_escape_can_be_undone(text):
    assert unescape(escape(text)) == text


@given(st.lists(st.tuples(TEXTS.filter(bool), TEXTS), max_size=12, unique=True))
def test_printed_ids_are_unique(ids):
    printed = encode_stop_ids(ids)

    assert len(set(printed)) == len(ids)
    assert [text for text in printed if not PRINTED.match(text)] == []
    assert [text.partition(":")[0] for text in printed] == [clean_feed_name(feed) for feed, _ in ids]


def test_ids_that_differ_in_case_only():
    assert encode_stop_ids([("F", "Ab"), ("F", "aB"), ("F", "AB")]) == ["F:A_62", "F:_61B", "F:AB"]
