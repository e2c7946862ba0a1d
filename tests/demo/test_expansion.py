"""From tables to rows."""

import pytest

from fingerpost.errors import SettingsInvalid
from fingerpost.transit.engine.demo.expansion import expand, slug
from fingerpost.transit.engine.demo.tables import read_network
from fingerpost.transit.engine.timetable.draft import RouteRow, ServiceRow, StopRow, TripDepartureRow, TripRow
from fingerpost.transit.engine.timetable.timetable import Feed
from tests.demo.drawing import TOWN


def town(text: str = TOWN):
    return expand(read_network(text, "town.toml"))


def test_each_direction_is_a_trip_with_exact_departures():
    """Line 7 leaves both ends six times; the metro leaves thrice outwards, last at 24:30, and once back."""
    draft = town()

    line_7 = [19800, 20400, 21000, 21600, 22800, 23400]
    assert draft.trip_departures == [
        *(TripDepartureRow(0, shift_s, 0) for shift_s in line_7),
        *(TripDepartureRow(1, shift_s, 0) for shift_s in line_7),
        TripDepartureRow(2, 85800, 0),
        TripDepartureRow(2, 87000, 0),
        TripDepartureRow(2, 88200, 0),
        TripDepartureRow(3, 21600, 0),
    ]


def test_trips_name_their_route_service_headsign_and_vehicle():
    """Ids count the trips of a route; headsigns are kept once."""
    draft = town()

    assert (draft.trips, draft.headsigns) == (
        [
            TripRow("7-1", route=0, service=0, headsign=0, wheelchair=0),
            TripRow("7-2", route=0, service=0, headsign=1, wheelchair=0),
            TripRow("M-1", route=1, service=0, headsign=2, wheelchair=1),
            TripRow("M-2", route=1, service=0, headsign=3, wheelchair=1),
        ],
        ["Satama", "Tori", "Pohjoinen", "Keskusta"],
    )


def test_stop_times_count_from_the_start_of_each_trip():
    """Tori 2 min Itäkeskus 3 min Satama, and the same minutes the other way."""
    draft = town()

    assert (
        draft.trip_stop_time_count.tolist(),
        draft.stop_time_stop.tolist(),
        draft.stop_time_arrival_s.tolist(),
        draft.stop_time_departure_s.tolist(),
        draft.stop_time_flags.tolist(),
    ) == (
        [3, 3, 2, 2],
        [0, 1, 2, 2, 1, 0, 3, 4, 4, 3],
        [0, 120, 300, 0, 180, 300, 0, 240, 0, 240],
        [0, 120, 300, 0, 180, 300, 0, 240, 0, 240],
        [0] * 10,
    )


def test_stops_of_one_name_in_two_groups_are_two_stops():
    """Tori is a tram stop and a metro station, and a transfer between them is a walk."""
    draft = town()

    assert draft.stops == [
        StopRow(0, "TORI-TRAM", "Tori", 60.170, 24.940, wheelchair=0),
        StopRow(0, "ITAKESKUS-M-TRAM", "Itäkeskus (M)", 60.170, 24.950, wheelchair=0),
        StopRow(0, "SATAMA-TRAM", "Satama", 60.170, 24.960, wheelchair=0),
        StopRow(0, "TORI", "Tori", 60.171, 24.940, wheelchair=1),
        StopRow(0, "ASEMA", "Asema", 60.200, 24.940, wheelchair=2),
    ]


def test_second_names_are_kept_by_language():
    """Only the two stops called Tori have a Swedish name."""
    assert town().stop_names == {"sv": {0: "Torget", 3: "Torget"}}


def test_the_feed_says_that_it_is_a_demo_and_runs_on_every_day():
    """No first or last day, and a publisher that admits to be simplified."""
    draft = town()

    assert (draft.feeds, draft.services) == (
        [
            Feed(
                name="DEMO-TOWN",
                zone="Europe/Helsinki",
                language="fi",
                first_day=None,
                last_day=None,
                agencies=("fingerpost demo",),
                publisher="fingerpost demo (simplified from public knowledge)",
                source="shipped with fingerpost",
            )
        ],
        [ServiceRow(feed=0, days=None)],
    )


def test_lines_of_one_group_and_name_are_one_route():
    """A second path of line 7 adds trips, not a route."""
    branch = TOWN + TOWN.split("[[line]]")[1].join(["[[line]]", ""]).replace(
        "Tori 2 Itäkeskus (M) 3 Satama", "Satama 9 Tori"
    )
    draft = town(branch)

    assert (draft.routes, [trip.local_id for trip in draft.trips]) == (
        [RouteRow(0, "7", "7", "Tori - Satama", 0), RouteRow(0, "M", "M", "Tori - Asema", 1)],
        ["7-1", "7-2", "M-1", "M-2", "7-3", "7-4"],
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('suffix = "-TRAM"', ""), "DEMO-TOWN: the stops 'Tori' and 'Tori' share the id TORI."),
        (('name = "M"', 'name = "7"'), "DEMO-TOWN: two lines of different groups share the id 7."),
        (('"Asema"', '"駅"'), "DEMO-TOWN: the name of the stop '駅' has no letter or digit to make an id of."),
    ],
)
def test_ids_that_would_clash_or_be_empty_are_refused(change, message):
    """Nothing is renamed in silence."""
    text = TOWN.replace(*change).replace("4 Asema", "4 駅" if "駅" in change[1] else "4 Asema")

    with pytest.raises(SettingsInvalid) as refused:
        town(text)

    assert refused.value.message == message


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Itäkeskus (M)", "ITAKESKUS-M"),
        ("Tarkk'ampujankatu", "TARKKAMPUJANKATU"),
        ("King's Cross St. Pancras", "KINGS-CROSS-ST-PANCRAS"),
        ("Länsiterm. T2", "LANSITERM-T2"),
        ("駅", ""),
    ],
)
def test_a_slug_is_plain_capitals(name, expected):
    """Accents fold, apostrophes and full stops vanish, anything else becomes one hyphen."""
    assert slug(name) == expected
