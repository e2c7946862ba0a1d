"""Tables besides the timetable: translations, credits, shapes, on-demand services."""

import pytest

from tests.gtfs.importing import findings_of, import_text

TWO_TRIPS = "line A | Alpha 08:00 | Beta 08:10\nline A | Alpha 09:00 | Beta 09:10"
HEAD = "table_name,field_name,language,translation,record_id,field_value\n"


def names(tmp_path, rows):
    imported = import_text(tmp_path, {"translations.txt": HEAD + rows})
    table = imported.timetable
    columns = {"stops": table.stop_names, "routes": table.route_names, "headsigns": table.headsign_names}
    told = {kind: {lang: list(column) for lang, column in of.items()} for kind, of in columns.items() if of}
    return told, findings_of(imported)


def test_translations_by_record_win_over_those_by_value(tmp_path):
    told, findings = names(
        tmp_path, "stops,stop_name,sv-FI,Alfa,ALPHA,\nstops,stop_name,sv,Första,,Alpha\nstops,stop_name,en,B,,Beta\n"
    )

    assert (told, findings) == ({"stops": {"en": ["", "B", ""], "sv": ["Alfa", "", ""]}}, [])


def test_headsigns_are_translated_by_text_or_trip_and_lines_by_record(tmp_path):
    told, _ = names(
        tmp_path,
        "trips,trip_headsign,sv,Gamma hamn,A-1,\nstop_times,stop_headsign,en,To Gamma,,Gamma\n"
        "routes,route_long_name,sv,Linje A,A,\n",
    )

    assert told == {"headsigns": {"sv": ["Gamma hamn"], "en": ["To Gamma"]}, "routes": {"sv": ["Linje A"]}}


def test_translations_that_are_not_used(tmp_path):
    told, findings = names(
        tmp_path,
        "agency,agency_name,sv,X,1,\nstops,stop_name,sv,X,NOWHERE,\nstops,stop_name,,X,ALPHA,\nstops,stop_name,sv,X,,No\n",
    )

    assert told == {}
    assert findings == [
        ("translation-of-unknown", 2, "translations.txt", 3),
        ("translation-unreadable", 1, "translations.txt", 4),
        ("translation-of-other-field-unapplied", 1, "translations.txt", 2),
    ]


def test_publisher_and_organisations_are_credited_once(tmp_path):
    feed = import_text(
        tmp_path,
        {
            "feed_info.txt": "feed_publisher_name,feed_publisher_url,feed_lang\nHSL,https://hsl.fi,fi\n",
            "attributions.txt": "organization_name,is_producer,is_operator,attribution_url\n"
            "OpenStreetMap,1,0,https://osm.org\nVR,,1,\nVR,,1,\n,1,,\n",
        },
    ).timetable.feeds[0]

    assert feed.licences == ("HSL https://hsl.fi", "OpenStreetMap https://osm.org", "VR")


def test_shapes_are_sorted_and_those_of_no_trip_left_out(tmp_path):
    tables = {
        "trips.txt": "route_id,service_id,trip_id,shape_id\nA,ALL,A-1,S\nA,ALL,A-2,NONE\n",
        "shapes.txt": "shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence\n"
        "S,60.3,24.3,30\nIDLE,1,1,1\nS,60.1,24.1,4\nS,north,24,5\nS,60.2,24.2,7\n",
    }
    imported = import_text(tmp_path, tables, TWO_TRIPS)
    table = imported.timetable

    assert (table.trip_shape.tolist(), table.shape_first.tolist()) == ([0, -1], [0, 3])
    assert table.shape_lat_udeg.tolist() == [60_100_000, 60_200_000, 60_300_000]
    assert findings_of(imported) == [
        ("shape-point-unreadable", 1, "shapes.txt", 5),
        ("shape-unknown", 1, "trips.txt", 3),
    ]


@pytest.mark.parametrize("column", ["location_id", "location_group_id", "start_pickup_drop_off_window"])
def test_a_trip_on_demand_is_left_out_and_counted(tmp_path, column):
    rows = "A-1,ALPHA,1,8:00:00,,\nA-1,BETA,2,8:10:00,,\nA-2,,1,,,8:00:00\nA-2,BETA,2,9:00:00,,\nA-2,,3,,,9:10:00\n"
    head = f"trip_id,stop_id,stop_sequence,arrival_time,departure_time,{column}\n"
    imported = import_text(tmp_path, {"stop_times.txt": head + rows}, TWO_TRIPS)

    assert list(imported.timetable.trip_local_id) == ["A-1"]
    assert findings_of(imported) == [("trip-on-demand-unsupported", 1, "trips.txt", 3)]


DETOURS = (
    "trip_id,stop_id,stop_sequence,arrival_time,departure_time,start_pickup_drop_off_window\n"
    "A-1,ALPHA,1,8:00:00,,\nA-1,,2,,,8:00:00\nA-1,GAMMA,3,,,8:05:00\nA-1,BETA,4,8:30:00,,\n"
)


def test_a_trip_with_detours_on_demand_serves_its_fixed_stops(tmp_path):
    imported = import_text(tmp_path, {"stop_times.txt": DETOURS}, "rail A | Alpha 8:00 | Beta 8:10")

    assert imported.timetable.stop_time_departure_s.tolist() == [28_800, 30_600]


def test_detours_on_demand_are_reported(tmp_path):
    imported = import_text(tmp_path, {"stop_times.txt": DETOURS}, "rail A | Alpha 8:00 | Beta 8:10")

    assert findings_of(imported) == [("trip-detours-unsupported", 1, "trips.txt", 2)]


def test_a_trip_with_detours_that_is_skipped_is_reported_once(tmp_path):
    trip = "A-2,BETA,1,9:30:00,,\nA-2,,2,,,9:00:00\nA-2,ALPHA,3,9:00:00,,\n"
    rows = f"A-1,ALPHA,1,8:00:00,,\nA-1,BETA,2,8:30:00,,\n{trip}"
    head = "trip_id,stop_id,stop_sequence,arrival_time,departure_time,start_pickup_drop_off_window\n"
    imported = import_text(tmp_path, {"stop_times.txt": head + rows}, TWO_TRIPS)

    assert findings_of(imported) == [("trip-runs-backwards", 1, "trips.txt", 3)]


@pytest.mark.parametrize(
    ("ways", "values"),
    [
        ("E,P1,5,1\nE,P2,2,1", [1, 2, 0]),
        ("E,N,1,1\nN,P1,5,1\nN,P2,4,1", [1, 2, 0]),
        # A lift that only goes down brings nobody out again.
        ("E,P1,5,0\nE,P2,1,0\nP2,E,7,0", [2, 1, 0]),
        # The other door has a step before it.
        ("F,P1,1,1\nE,P2,1,1", [2, 1, 0]),
        ("E,B,1,1", [1, 0, 0]),
        # Without a way to a door, nothing is known.
        ("P1,P2,5,1\nP1,P3,2,1", [0, 0, 0]),
    ],
)
def test_pathways_without_a_step_there_and_back_make_platforms_accessible(tmp_path, ways, values):
    stops = (
        "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station,wheelchair_boarding\n"
        "P1,P,60.1,24.9,0,C,\nP2,P,60.1,24.9,0,C,\nP3,P,60.1,24.9,0,C,\nALPHA,A,60.17,24.94,0,,\n"
        "BETA,B,60.17,24.98,0,,\nGAMMA,G,60.17,25,0,,\n"
        "C,C,60.1,24.9,1,,\nE,E,60.1,24.9,2,C,\nF,F,60.1,24.9,2,C,2\nN,,,,3,C,\nB,,,,4,P1,\n"
    )
    pathways = f"from_stop_id,to_stop_id,pathway_mode,is_bidirectional\n{ways}\n"
    imported = import_text(tmp_path, {"stops.txt": stops, "pathways.txt": pathways})

    assert imported.timetable.stop_wheelchair.tolist()[:3] == values
