"""Feeds drawn as text, on which other tests are based."""

from datetime import date

import pytest

from tests.feeds import feed_from_drawing, write_feed

DRAWING = """
line A   | Alpha 08:00 noalight | New Beta 08:10-08:12 | Gamma 08:20:30 noboard
tram 4   | New Beta 08:15       | Delta 25:30 ask
line A   | Alpha 09:00          | Gamma 09:20
walk     | Gamma                | Delta 240
change   | New Beta 60
nowalk   | Alpha                | New Beta
"""


def test_a_drawing_becomes_the_tables_of_a_feed():
    feed = feed_from_drawing(DRAWING, days=[date(2026, 3, 2)], coordinates={"Delta": (60.2, 25.0)})

    assert feed == {
        "agency.txt": "agency_name,agency_url,agency_timezone\nDrawn,https://example.org,Europe/Helsinki\n",
        "stops.txt": "stop_id,stop_name,stop_lat,stop_lon\nALPHA,Alpha,60.17,24.94\nNEW-BETA,New Beta,60.17,24.958\n"
        "GAMMA,Gamma,60.17,24.976\nDELTA,Delta,60.2,25.0\n",
        "routes.txt": "route_id,route_short_name,route_long_name,route_type\nA,A,,3\n4,4,,0\n",
        "trips.txt": "route_id,service_id,trip_id,trip_headsign,block_id\nA,ALL,A-1,Gamma,\n"
        "4,ALL,4-1,Delta,\nA,ALL,A-2,Gamma,\n",
        "stop_times.txt": "trip_id,stop_id,stop_sequence,arrival_time,departure_time,pickup_type,drop_off_type\n"
        "A-1,ALPHA,1,08:00:00,08:00:00,0,1\nA-1,NEW-BETA,2,08:10:00,08:12:00,0,0\nA-1,GAMMA,3,08:20:30,08:20:30,1,0\n"
        "4-1,NEW-BETA,1,08:15:00,08:15:00,0,0\n4-1,DELTA,2,25:30:00,25:30:00,2,2\n"
        "A-2,ALPHA,1,09:00:00,09:00:00,0,0\nA-2,GAMMA,2,09:20:00,09:20:00,0,0\n",
        "transfers.txt": "from_stop_id,to_stop_id,transfer_type,min_transfer_time,from_trip_id,to_trip_id\n"
        "GAMMA,DELTA,2,240,,\nDELTA,GAMMA,2,240,,\nNEW-BETA,NEW-BETA,2,60,,\nALPHA,NEW-BETA,3,,,\nNEW-BETA,ALPHA,3,,,\n",
        "calendar_dates.txt": "service_id,date,exception_type\nALL,20260302,1\n",
    }


def test_a_path_that_ends_in_zip_becomes_an_archive(tmp_path):
    tables = {"agency.txt": "a\r\n"}
    written = [write_feed(tmp_path / name, tables) for name in ("feed.zip", "feed")]

    assert [path.is_dir() for path in written] == [False, True]
    assert (tmp_path / "feed" / "agency.txt").read_bytes() == b"a\r\n"


@pytest.mark.parametrize(
    "line", ["plane A | Alpha 08:00", "line A", "line | Alpha 08:00", "line A | Alpha", "line A | 08:00"]
)
def test_a_line_that_is_not_a_drawing_is_refused(line):
    with pytest.raises(ValueError, match=r"cannot parse|a cell must have a stop"):
        feed_from_drawing(line)
