"""Select, shorten and order the alerts of an answer (rule B13)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.transit.model.itinerary import ServiceAlert
from fingerpost.transit.rules.alerts import HEADER_CHARS, TEXT_CHARS, AffectedPart, choose_alerts


def alert(header="Works", text="", effect="DETOUR", **more):
    return ServiceAlert(id=more.pop("id", header), header=header, text=text, effect=effect, **more)


def headers(*alerts, **asked):
    parts = [AffectedPart(f"departures/{at}", (each,)) for at, each in enumerate(alerts)]
    return [each.alert.header for each in choose_alerts(parts, **asked).notices]


@pytest.mark.parametrize(
    ("header", "text", "shown"),
    [
        ("Works", "Allow time.", ("Works", "Allow time.")),
        ("Works", "Works. Allow time.", ("Works", "Allow time.")),
        ("Works", "WORKS", ("Works", "")),
        ("", "Works. Allow time.", ("Works.", "Allow time.")),
        ("", "Works", ("Works", "")),
        (" Two\n lines ", "a\tb\n\nc", ("Two lines", "a b c")),
        ("", "", ("Detour", "")),
        ("a" * 160, "", ("a" * 160, "")),
        ("a" * 161, "", ("a" * 159 + "…", "")),
        ("word " * 40, "", (("word " * 32).strip() + "…", "")),
        ("H", "b" * 400, ("H", "b" * 400)),
        ("H", "b" * 401, ("H", "b" * 399 + "…")),
        ("", "b" * 200, ("b" * 159 + "…", "b" * 41)),
    ],
)
def test_texts_are_cut_between_words_and_never_repeated(header, text, shown):
    [told] = choose_alerts([AffectedPart("stopId", [alert(header, text)])]).notices
    assert (told.alert.header, told.alert.text) == shown


@given(st.text(), st.text(), st.sampled_from(["DETOUR", "UNKNOWN_EFFECT", "OTHER_EFFECT", ""]))
def test_a_header_is_never_empty_and_within_its_bounds(header, text, effect):
    [told] = choose_alerts([AffectedPart("stopId", [alert(header, text, effect)])]).notices
    assert 1 <= len(told.alert.header) <= HEADER_CHARS
    assert len(told.alert.text) <= TEXT_CHARS


def test_the_same_words_are_one_alert_from_the_earliest_to_the_latest():
    one, other = alert(id="1", since=100, until=200), alert(id="2", since=150, until=None)
    [told] = choose_alerts([AffectedPart("a", [one]), AffectedPart("b", [other]), AffectedPart("a", [other])]).notices
    assert told.touches == ("a", "b")
    assert (told.alert.since, told.alert.until) == (100, None)


@pytest.mark.parametrize("field", ["header", "text", "effect", "url"])
def test_alerts_with_different_words_are_different(field):
    assert len(headers(alert(), replace(alert(), **{field: "other"}))) == 2


def test_the_most_severe_effect_comes_first_and_lifts_last_except_for_step_free_riders():
    effects = ["NO_EFFECT", "ACCESSIBILITY_ISSUE", "UNKNOWN_EFFECT", "DETOUR", "NO_SERVICE"]
    alerts = [alert(effect, effect=effect) for effect in effects]
    assert headers(*alerts) == effects[::-1]
    assert headers(*alerts, step_free=True) == [
        "NO_SERVICE", "ACCESSIBILITY_ISSUE", "DETOUR", "UNKNOWN_EFFECT", "NO_EFFECT"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "order"),
    [
        # An explanation comes before a graver effect.
        (
            [AffectedPart("a", [alert("Closed", effect="NO_SERVICE")]), AffectedPart("b", [alert()], True)],
            ["Works", "Closed"],
        ),
        # The second alert of the first leg is further from its ride than the first of the second leg.
        ([AffectedPart("a", [alert("A"), alert("B")]), AffectedPart("b", [alert("C")])], ["A", "C", "B"]),
    ],
)
def test_explanations_come_before_nearer_alerts(parts, order):
    assert [each.alert.header for each in choose_alerts(parts).notices] == order


@pytest.mark.parametrize(("count", "told", "more"), [(4, 4, 0), (5, 5, 0), (6, 5, 1)])
def test_five_are_reported_and_the_rest_is_counted(count, told, more):
    chosen = choose_alerts([AffectedPart("stopId", [alert(f"Note {number}") for number in range(count)])])
    assert (len(chosen.notices), chosen.more) == (told, more)
