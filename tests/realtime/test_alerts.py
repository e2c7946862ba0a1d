"""Alerts: what they affect, when, and in which languages."""

import pytest

from fingerpost.transit.engine.gtfs.realtime import reader
from tests.feeds import timetable_from_drawing
from tests.realtime.messages import DAY, alert, at, read

STOPS = """stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station
HUB,Hub,60.17,24.94,1,
P1,Hub,60.17,24.94,0,HUB
P2,Hub,60.17,24.941,0,HUB
BAY,Hub,60.17,24.941,4,P2
END,End,60.17,25.1,0,
"""
ROUTES = """route_id,agency_id,route_short_name,route_long_name,route_type
A,ONE,A,,3
B,TWO,B,,0
"""
AGENCIES = """agency_id,agency_name,agency_url,agency_timezone
ONE,One,https://example.org,Europe/Helsinki
TWO,Two,https://example.org,Europe/Helsinki
"""
TRIPS = """route_id,service_id,trip_id,direction_id
A,ALL,A-1,0
A,ALL,A-2,1
B,ALL,B-1,0
"""


def network():
    drawing = "line A | P1 08:00 | End 08:10\nline A | End 09:00 | P1 09:10\ntram B | P2 08:00 | End 08:10"
    tables = {"stops.txt": STOPS, "routes.txt": ROUTES, "trips.txt": TRIPS, "agency.txt": AGENCIES}
    return timetable_from_drawing(drawing, tables=tables)


NETWORK = network()
HUB, P1, P2, BAY, END = range(5)


RIDE = (1, DAY.toordinal())


def touched(told):
    (only,) = told.alerts
    return only.selectors


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({"agency_id": "ONE"}, {("route", 0)}),
        ({"route_id": "A"}, {("route", 0)}),
        ({"route_type": 0}, {("route", 1)}),
        ({"agency_id": "TWO", "route_type": 0}, {("route", 1)}),
        ({"route_id": "A", "direction_id": 1}, {("direction", (0, 1))}),
        ({"stop_id": "END"}, {("stop", END)}),
        ({"stop_id": "HUB"}, {("stop", HUB), ("stop", P1), ("stop", P2), ("stop", BAY)}),
        ({"stop_id": "P2"}, {("stop", P2), ("stop", BAY)}),
        ({"route_id": "A", "stop_id": "P1"}, {("route", 0, P1)}),
        ({"agency_id": "TWO", "stop_id": "END"}, {("route", 1, END)}),
        ({"trip": {"trip_id": "A-2"}}, {("trip", 1)}),
        ({"trip": {"trip_id": "A-2"}, "stop_id": "P1"}, {("trip", 1, P1)}),
        ({"trip": {"trip_id": "A-2", "start_date": "20260310"}}, {("ride", RIDE)}),
        ({"trip": {"trip_id": "A-2", "start_date": "20260310"}, "stop_id": "END"}, {("ride", RIDE, END)}),
        ({"trip": {"route_id": "A", "start_time": "09:00:00"}}, {("ride", RIDE)}),
    ],
)
def test_a_selector_matches_all_of_its_fields(selector, expected):
    """Rows: routes A 0, B 1; trips A-1 0, A-2 1; a station stands for all that is part of it."""
    assert touched(read(NETWORK, alert(**selector))) == expected


@pytest.mark.parametrize(
    "selector",
    [
        {"agency_id": "THREE"},
        {"route_id": "C"},
        {"route_type": 7},
        {"agency_id": "ONE", "route_type": 0},
        {"stop_id": "OMEGA"},
        {"route_id": "A", "stop_id": "OMEGA"},
        {"trip": {"trip_id": "OMEGA"}},
        {},
    ],
)
def test_a_selector_with_an_unknown_field_matches_nothing(selector):
    told = read(NETWORK, alert(**selector))
    assert (told.alerts, dict(told.counts)) == ((), {"alert-without-known-selector": 1})


def test_an_alert_applies_where_any_of_its_selectors_does():
    works = alert(route_id="A")
    works.alert.informed_entity.add(stop_id="END")
    assert touched(read(NETWORK, works)) == {("route", 0), ("stop", END)}


def told_with(*headers, **told):
    said = alert(header="", route_id="A", **told)
    for language, text in headers:
        said.alert.header_text.translation.add(language=language, text=text)
    (first,) = read(NETWORK, said).alerts
    return first


@pytest.mark.parametrize(
    ("headers", "kept"),
    [
        # Region subtags fall away, a text without a language is the default.
        (
            [("fi-FI", "Poikki"), ("en", "Closed"), ("", "Stängd")],
            {"fi": "Poikki", "en": "Closed", "default": "Stängd"},
        ),
        # Nothing, and markup around nothing, is no text and stands before no other.
        (
            [("en", ""), ("en", "<p> </p>"), ("en-html", "<b>Closed</b>"), ("", "Poikki")],
            {"default": "Poikki", "en": "Closed"},
        ),
        # New York says the same in ``en`` and ``en-html``: HTML gives way to plain text.
        (
            [("en-html", "<p>[A] is <b>late</b></p>"), ("en", "[A] is late, x < y & <Beta>")],
            {"en": "[A] is late, x < y & <Beta>"},
        ),
    ],
)
def test_texts_are_stored_by_language(headers, kept):
    assert dict(told_with(*headers).headers) == kept


def test_html_loses_its_tags():
    told = told_with(text="<p>Platform&nbsp;2<br/>Gate &amp; hall</p>")
    assert dict(told.descriptions) == {"en": "Platform\xa02\nGate & hall"}


@pytest.mark.parametrize(
    ("url", "is_kept"),
    [
        ("https://example.org/a", True),
        ("javascript:alert(1)", False),
        ("https://example.org/" + "a" * 280, True),
        ("https://example.org/" + "a" * 281, False),
    ],
)
def test_only_web_addresses_of_limited_length_are_stored(url, is_kept):
    assert dict(told_with(url=url).urls) == ({"en": url} if is_kept else {})


@pytest.mark.parametrize(
    ("effect", "selector", "closes"),
    [
        ("ACCESSIBILITY_ISSUE", {"stop_id": "HUB"}, (False, True)),
        ("ACCESSIBILITY_ISSUE", {"route_id": "A"}, (False, False)),
        ("NO_SERVICE", {"stop_id": "HUB"}, (True, True)),
        ("NO_SERVICE", {"route_id": "A", "stop_id": "P1"}, (True, True)),
        ("NO_SERVICE", {"route_id": "A"}, (False, False)),
        ("DETOUR", {"stop_id": "HUB"}, (False, False)),
    ],
)
def test_alerts_close_stops_for_all_or_only_for_step_free_riders(effect, selector, closes):
    told = read(NETWORK, alert(effect=effect, **selector))
    assert tuple(bool(told.list_closing(step_free=step_free)) for step_free in (False, True)) == closes
    assert told.is_empty is not any(closes)


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [
        ("07:00", "07:59:59", None),
        ("07:00", "08:00", ("08:00", "09:00")),
        ("09:00", "21:59", ("08:00", "09:00")),
        ("09:00:01", "21:59:59", None),
        ("08:30", "22:00", ("08:00", "23:00")),
    ],
)
def test_a_span_of_time_meets_the_periods_that_touch_it(begin, end, expected):
    said = alert(route_id="A")
    said.alert.active_period.add(start=at("08:00"), end=at("09:00"))
    said.alert.active_period.add(start=at("22:00"), end=at("23:00"))
    (first,) = read(NETWORK, said).alerts
    met = first.find_period(at(begin), at(end))
    assert met == (expected and tuple(map(at, expected)))


def test_the_same_alert_twice_is_one():
    said = alert(effect="DETOUR", route_id="A")
    told = read(NETWORK, said, said)
    assert [(each.id, each.effect, each.is_in_force(at("03:00"))) for each in told.alerts] == [
        ("works", "DETOUR", True)
    ]
    assert dict(told.counts) == {"alert-given": 1, "superseded-by-a-newer-one": 1}


@pytest.mark.parametrize(
    ("clock", "is_in_force"), [("07:59:59", False), ("08:00", True), ("09:30", False), ("23:00", True)]
)
def test_an_alert_applies_while_riders_are_affected(clock, is_in_force):
    """Shown from 06:00 to 10:00 (active_period); works from 08:00 to 09:00 and from 22:00 on (impact_period)."""
    works = alert(route_id="A")
    works.alert.active_period.add(start=at("06:00"), end=at("10:00"))
    works.alert.impact_period.add(start=at("08:00"), end=at("09:00"))
    works.alert.impact_period.add(start=at("22:00"))
    (only,) = read(NETWORK, works).alerts
    assert only.is_in_force(at(clock)) is is_in_force


def test_an_alert_of_a_direction_touches_trips_that_state_none():
    line = timetable_from_drawing("line A | Alpha 08:10 | Beta 08:20\nline A | Beta 09:10 | Alpha 09:20")
    assert touched(read(line, alert(route_id="A", direction_id=1))) == {("direction", (0, -1))}


def test_an_alert_of_a_direction_closes_a_stop_to_its_trips():
    told = read(NETWORK, alert(effect="NO_SERVICE", route_id="A", direction_id=1, stop_id="END"))
    rides = [told.get_selector(NETWORK, (trip_departure, DAY.toordinal())) for trip_departure in range(3)]

    assert [told.alerts[0].closes_stop(END, ride) for ride in rides] == [False, True, False]


def test_alerts_beyond_the_limit_are_counted(monkeypatch):
    """A short message could otherwise fill the memory: each alert of an agency has a selector for each route."""
    monkeypatch.setattr(reader, "MAX_SELECTORS", 2)
    told = read(NETWORK, *(alert(str(number), agency_id="ONE") for number in range(3)))

    assert dict(told.counts) == {"alert-beyond-limit": 1, "alert-given": 2}
