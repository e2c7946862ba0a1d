"""Vehicle positions tell how full a vehicle is, and when it was last heard of; they move no ride."""

from google.transit.gtfs_realtime_pb2 import FeedEntity, VehiclePosition

from fingerpost.testing.feeds import timetable_from_drawing
from fingerpost.transit.engine.timetable.overlay import VehicleReport
from tests.realtime.messages import DAY, at, call, read, update

ONE_LINE = timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10")


def seen(trip_id: str = "A-1", timestamp: int = 0, **told) -> FeedEntity:
    entity = FeedEntity(id="v", vehicle=VehiclePosition(**told))
    if trip_id:
        entity.vehicle.trip.trip_id, entity.vehicle.trip.start_date = trip_id, f"{DAY:%Y%m%d}"
    if timestamp:
        entity.vehicle.timestamp = timestamp
    return entity


def test_a_vehicle_reports_how_full_it_is():
    """Few seats are left, two thirds are taken; the ride itself is not moved."""
    told = read(ONE_LINE, seen(timestamp=at("07:59"), occupancy_status="FEW_SEATS_AVAILABLE", occupancy_percentage=66))
    assert dict(told.vehicles) == {
        (0, DAY.toordinal()): VehicleReport(updated=at("07:59"), occupancy="FEW_SEATS_AVAILABLE", occupancy_percent=66)
    }
    assert (dict(told.rides), dict(told.counts)) == ({}, {"vehicle-seen": 1})


def test_an_unknown_occupancy_is_not_empty():
    """Where nothing is told, nothing is claimed; the time is the message's."""
    told = read(ONE_LINE, seen())
    assert list(told.vehicles.values()) == [VehicleReport(updated=at("08:00"))]


def test_the_newer_report_counts():
    """07:59 gives way to 08:00, in either order."""
    for reports in ((at("07:59"), at("08:00")), (at("08:00"), at("07:59"))):
        told = read(ONE_LINE, *(seen(timestamp=instant) for instant in reports))
        assert [report.updated for report in told.vehicles.values()] == [at("08:00")]
        assert dict(told.counts) == {"superseded-by-a-newer-one": 1, "vehicle-seen": 1}


def test_a_vehicle_without_a_known_trip_is_counted():
    """On its way to the depot, or of another feed."""
    assert dict(read(ONE_LINE, seen(""), seen("OMEGA")).counts) == {"trip-not-named": 1, "trip-unknown": 1}


def test_an_entity_with_an_update_and_a_vehicle_is_counted_once():
    """Both are read; the update's outcome counts."""
    both = update("A-1", call("BETA", 60))
    both.vehicle.MergeFrom(seen(occupancy_status="FULL").vehicle)
    told = read(ONE_LINE, both)
    assert [report.occupancy for report in told.vehicles.values()] == ["FULL"]
    assert dict(told.counts) == {"trip-updated": 1}
