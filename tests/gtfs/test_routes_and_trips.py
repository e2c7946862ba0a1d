"""routes.txt and trips.txt: lines, and the trips on them."""

from tests.gtfs.importing import findings_of, import_text

TWO_TRIPS = """
line A | Alpha 08:00 | Beta 08:10
line A | Alpha 09:00 | Beta 09:10
"""


def test_routes_may_lack_names_and_have_extended_types(tmp_path):
    rows = "701,A,,Alpha - Gamma\n1,M1,M1,\n3,A,B,\n3,,C,\n"
    imported = import_text(tmp_path, {"routes.txt": f"route_type,route_id,route_short_name,route_long_name\n{rows}"})
    table = imported.timetable

    columns = (table.route_local_id, table.route_short_name, table.route_long_name, table.route_type.tolist())
    assert list(zip(*columns, strict=True)) == [("A", "", "Alpha - Gamma", 701), ("M1", "M1", "", 1)]
    assert findings_of(imported) == [("id-missing", 1, "routes.txt", 5), ("id-repeated", 1, "routes.txt", 4)]


def test_trips_have_headsigns_and_wheelchair_values(tmp_path):
    head = "route_id,service_id,trip_id,trip_headsign,wheelchair_accessible\n"
    imported = import_text(tmp_path, {"trips.txt": f"{head}A,ALL,A-1,Beta,1\nA,ALL,A-2,,7\n"}, TWO_TRIPS)
    table = imported.timetable

    assert (table.trip_headsign.tolist(), list(table.headsign)) == ([0, -1], ["Beta"])
    assert table.trip_wheelchair.tolist() == [1, 0]
    assert findings_of(imported) == [("value-unreadable-assumed", 1, "trips.txt", 3)]


def test_trips_without_route_or_service_are_left_out(tmp_path):
    imported = import_text(
        tmp_path,
        {"trips.txt": "route_id,service_id,trip_id\nX,ALL,A-1\nA,ALL,A-2\nA,X,A-3\nA,ALL,A-2\n"},
        TWO_TRIPS + "line A | Alpha 10:00 | Beta 10:10\n",
    )
    table = imported.timetable

    assert (list(table.trip_local_id), table.stop_time_arrival_s.tolist()) == (["A-2"], [32400, 33000])
    assert findings_of(imported) == [
        ("id-repeated", 1, "trips.txt", 5),
        ("trip-without-route", 1, "trips.txt", 2),
        ("trip-without-service", 1, "trips.txt", 4),
        ("call-of-skipped-trip", 4, "stop_times.txt", 2),
    ]
