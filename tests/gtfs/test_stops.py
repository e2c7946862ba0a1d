"""stops.txt: stops, stations and the places inside them."""

import pytest

from tests.gtfs.importing import findings_of, import_text

HEAD = "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station,platform_code,wheelchair_boarding\n"
CALLED = "ALPHA,Alpha,60.17,24.94,,,,\nBETA,Beta,60.17,24.95,0,,,\nGAMMA,Gamma,60.17,24.96,,,,\n"


def stops_of(tmp_path, rows):
    imported = import_text(tmp_path, {"stops.txt": HEAD + CALLED + rows})
    table = imported.timetable
    names = ("local_id", "name", "lat", "lon", "kind", "parent", "platform", "wheelchair")
    rows = zip(*(getattr(table, f"stop_{name}") for name in names), strict=True)
    return list(rows)[3:], findings_of(imported)


def test_platforms_have_the_wheelchair_value_of_their_station(tmp_path):
    stops, findings = stops_of(
        tmp_path,
        "P1,Central,60.1,24.1,0,C,1,\nP2,Central,60.2,24.2,0,C,2,2\nC,Central,60.3,24.3,1,,,1\n"
        "E,North door,60.4,24.4,2,C,,\n",
    )

    assert stops == [
        ("P1", "Central", 60.1, 24.1, 0, 5, "1", 1),
        ("P2", "Central", 60.2, 24.2, 0, 5, "2", 2),
        ("C", "Central", 60.3, 24.3, 1, -1, "", 1),
        ("E", "North door", 60.4, 24.4, 2, 5, "", 1),
    ]
    assert findings == []


def test_nodes_and_boarding_areas_need_no_position(tmp_path):
    stops, findings = stops_of(
        tmp_path, "C,Central,60.3,24.3,1,,,\nP,Central,60.1,24.1,0,C,1,\nN,,,,3,C,,\nB,Front,,,4,P,,\n"
    )

    assert [stop[:6] for stop in stops[2:]] == [("N", "Central", 60.3, 24.3, 3, 3), ("B", "Front", 60.1, 24.1, 4, 4)]
    assert findings == [("stop-place-assumed", 2, "stops.txt", 7)]


@pytest.mark.parametrize("row", ["X,X,,24.9,0,,,", "X,X,60.1,,1,,,", "X,X,0,0,,,,", "X,X,,,3,,,", "X,X,90.1,0,,,,"])
def test_a_stop_without_a_position_is_left_out(tmp_path, row):
    stops, findings = stops_of(tmp_path, f"C,Central,60.3,24.3,1,,,\n{row}\n")

    assert ([stop[0] for stop in stops], findings) == (["C"], [("stop-without-place", 1, "stops.txt", 6)])


@pytest.mark.parametrize(
    "row", ["X,X,60.1,24.9,0,NOWHERE,,", "X,X,60.1,24.9,0,X,,", "X,X,60.1,24.9,0,ALPHA,,", "X,X,60.1,24.9,1,C,,"]
)
def test_a_parent_other_than_a_station_is_ignored(tmp_path, row):
    stops, findings = stops_of(tmp_path, f"C,Central,60.3,24.3,1,,,\n{row}\n")

    assert (stops[1][0], stops[1][5]) == ("X", -1)
    assert findings == [("stop-parent-unapplied", 1, "stops.txt", 6)]


def test_odd_rows_are_left_out_or_filled(tmp_path):
    stops, findings = stops_of(
        tmp_path, "K,Kind,60.1,24.9,5,,,\nALPHA,Again,60.1,24.9,0,,,\n,Nobody,60.1,24.9,0,,,\nU,,60.1,24.9,0,,,3\n"
    )

    assert stops == [("U", "U", 60.1, 24.9, 0, -1, "", 0)]
    assert findings == [
        ("id-missing", 1, "stops.txt", 7),
        ("id-repeated", 1, "stops.txt", 6),
        ("value-unreadable-assumed", 1, "stops.txt", 8),
        ("stop-kind-unknown", 1, "stops.txt", 5),
        ("stop-name-assumed", 1, "stops.txt", 8),
    ]
