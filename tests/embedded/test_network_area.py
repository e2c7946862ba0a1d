"""The area of a network: across the antimeridian, and without stops whose position is wrong."""

import pytest

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.timetable_profile import TimetableProfile
from fingerpost.transit.model.place import Coordinate
from tests.embedded.conftest import trips
from tests.gtfs.importing import findings_of, import_text

ISLAND = {"Alpha": (-16.8, 179.999), "Beta": (-16.9, -179.9)}


def test_walks_cross_the_antimeridian(towns):
    town = towns("line A | Alpha 08:10 | Beta 08:30", coordinates=ISLAND)
    body = town.plan("-16.8,-179.998", "TEST:BETA")
    near = town.ask("find_stops", coordinate={"lat": -16.8, "lon": -179.998})["stops"]

    assert (trips(body), [stop["name"] for stop in near]) == (["A 08:10"], ["Alpha"])
    assert "error" in town.plan("-16.8,179.5", "TEST:BETA")


@pytest.mark.parametrize(
    ("drawing", "coordinates", "findings"),
    [
        # Latitude and longitude are swapped.
        ("line A | Alpha 08:00 | Beta 08:10 | Gamma 08:20 | Delta 08:30", {"Gamma": (24.96, 60.17)}, 1),
        ("line A | Gamma 08:00 | Delta 08:10 | Alpha 08:20\nline B | Alpha 08:00 | Beta 08:10", {"Gamma": (0, 1)}, 1),
        # A flight, and a distant town with lines of its own.
        ("line A | Alpha 08:00 | Beta 08:10 | Delta 08:20 | Gamma 10:20", {"Gamma": (51.5, 0.1)}, 0),
        (
            "line A | Alpha 08:00 | Beta 08:10 | Delta 08:20\nline B | Gamma 8:00 | Gamma 9:00",
            {"Gamma": (51.5, 0.1)},
            0,
        ),
    ],
)
def test_a_stop_that_no_vehicle_could_reach_in_time_is_reported_and_widens_no_area(
    tmp_path, drawing, coordinates, findings
):
    imported = import_text(tmp_path, {}, drawing, coordinates)
    bounds = TimetableProfile(NetworkRecord(name="TEST"), imported.timetable).profile.bounds
    row = list(imported.timetable.stop_name).index("Gamma")

    assert findings_of(imported) == [("stop-position-unapplied", 1, "stops.txt", row + 2)] * findings
    assert bounds.covers(Coordinate(*coordinates["Gamma"])) is not bool(findings)


def test_consecutive_stops_with_wrong_positions_widen_no_area(tmp_path):
    """Latitude and longitude of both are swapped, so a vehicle could go from one to the other."""
    drawing = "line A | Alpha 08:00 | Beta 08:10 | Gamma 08:20 | Delta 08:30 | Bay 08:40"
    imported = import_text(tmp_path, {}, drawing, {"Gamma": (24.96, 60.17), "Delta": (24.97, 60.17)})
    bounds = TimetableProfile(NetworkRecord(name="TEST"), imported.timetable).profile.bounds

    assert findings_of(imported) == [("stop-position-unapplied", 2, "stops.txt", 4)]
    assert bounds.south > 60


def test_a_stop_without_trips_widens_no_area(tmp_path):
    imported = import_text(
        tmp_path, {}, "line A | Alpha 08:00 | Beta 08:10\nwalk | Alpha | Gamma 60", {"Gamma": (62, 25)}
    )
    profile = TimetableProfile(NetworkRecord(name="TEST"), imported.timetable).profile

    assert findings_of(imported) == [("stop-without-trips", 1, "stops.txt", 4)]
    assert profile.bounds.north < 60.2
