"""The profile learned from a server when it is added."""

from dataclasses import replace
from datetime import date

import pytest

from fingerpost.errors import SettingsInvalid, SourceChanged, SourceFailed
from fingerpost.transit.model.itinerary import Mode
from tests.opentripplanner.answers import asking, body, data, learning

AGENCY = {"name": "Nysse", "timezone": "Europe/Helsinki", "lang": "FI"}
NETWORK = {
    "feeds": [{"feedId": "tampere", "publisher": {"name": "City of Tampere"}, "agencies": [AGENCY]}],
    # 1 January 2026 to the end of 31 December, in Helsinki.
    "serviceTimeRange": {"start": 1_767_218_400, "end": 1_798_754_400},
    "routes": [{"type": 0}, {"type": 3}, {"type": 3}, None],
}


def all_stops(*places):
    return data(stops=[{"gtfsId": "X:1", "name": "A", "lat": lat, "lon": lon} for lat, lon in places], stations=[])


STOPS = all_stops((61.5, 23.7), (61.4, 23.9), (None, None))
UNDEFINED = "Field 'planConnection' in type 'QueryType' is undefined"
TOO_OLD = body({"errors": [{"message": UNDEFINED, "extensions": {"classification": "ValidationError"}}]})


async def test_a_server_reports_its_area_and_modes():
    async with learning(data(**NETWORK), STOPS) as (learned, _):
        box = learned.bounds

    assert (round(box.south, 3), round(box.north, 3), box.west < 23.65, box.east > 23.95) == (
        61.373,
        61.527,
        True,
        True,
    )
    assert (learned.zone, learned.languages, learned.feeds[0].name) == ("Europe/Helsinki", ("fi",), "tampere")
    assert (learned.first_day, learned.last_day) == (date(2026, 1, 1), date(2026, 12, 31))
    assert (learned.modes, learned.attribution) == ({Mode.TRAM, Mode.BUS}, ("City of Tampere",))


@pytest.mark.parametrize(
    ("feed", "named"),
    [
        ({"feedId": "X", "publisher": None, "agencies": [AGENCY, AGENCY]}, "Nysse"),
        ({"feedId": "X", "agencies": None}, "X"),
        ({"feedId": "X", "publisher": {"name": ""}, "agencies": [{**AGENCY, "name": None}]}, "X"),
    ],
)
async def test_a_feed_without_a_publisher_is_attributed_to_its_agencies(feed, named):
    errors = [{"message": "NullPointerException", "path": ["feeds", 0, "publisher"]}]
    told = body({"data": {**NETWORK, "feeds": [feed]}, "errors": errors})
    async with learning(told, STOPS) as (learned, _):
        assert learned.attribution == (named,)


@pytest.mark.parametrize(
    ("described", "stops", "error"),
    [
        (data(), STOPS, "without the requested data"),
        (TOO_OLD, STOPS, f"does not answer as OpenTripPlanner 2.7 or later does: .* rejected the request: {UNDEFINED}"),
        (data(**NETWORK), all_stops(), "has no stops"),
    ],
)
async def test_a_server_that_is_too_old_empty_or_unreadable_is_refused(described, stops, error):
    with pytest.raises((SourceChanged, SourceFailed), match=error):
        async with learning(described, stops):
            pass


@pytest.mark.parametrize(
    "zone", ["Mars/Phobos", "/etc/passwd", "../../etc/passwd", "Europe", "a\0b", "A" * 5000, "", None]
)
async def test_an_unknown_time_zone_is_not_found(zone):
    agencies = [{**AGENCY, "timezone": zone}] * 2
    alone = {**NETWORK, "feeds": [{"feedId": "tampere", "agencies": agencies}]}
    beside = {**NETWORK, "feeds": [{"feedId": "tampere", "agencies": [*agencies, AGENCY]}]}
    async with learning(data(**alone), STOPS) as (learned, _):
        unknown = learned.zone
    async with learning(data(**beside), STOPS) as (learned, _):
        known = learned.zone

    assert (unknown, known) == (None, "Europe/Helsinki")
    with pytest.raises(SettingsInvalid, match="has no known zone"):
        async with asking(learned=replace(learned, zone=None)):
            pass


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (1_767_218_400_000, 1_798_754_400_000),
        (1_767_218_400, 2**63 - 1),
        (-(10**18), 10**18),
        (1_798_754_400, 1_767_218_400),
    ],
)
async def test_days_that_no_calendar_has_are_unknown(start, end):
    told = {**NETWORK, "serviceTimeRange": {"start": start, "end": end}}
    async with learning(data(**told), STOPS) as (learned, _):
        assert (learned.first_day, learned.last_day) == (None, None)


@pytest.mark.parametrize("place", [(0, 0), (0.0005, -0.0005), (float("inf"), 24), (999, 24), (60, float("nan"))])
@pytest.mark.parametrize("known", [(61.5, 23.7), (0.0, 6.5)])
async def test_a_stop_without_a_place_moves_no_bounds(place, known, caplog):
    """0, 0 is what is written where nobody knows the place; how many there are is logged.

    A quay of São Tomé lies 40 km north of the equator, and another may lie on it.
    """
    async with learning(data(**NETWORK), all_stops(known, place)) as (learned, _):
        box = learned.bounds

    assert ((box.south + box.north) / 2, (box.west + box.east) / 2) == pytest.approx(known)
    assert [each for each in caplog.messages if "1 of 2 stops" in each or "were dropped: stops" in each] != []
