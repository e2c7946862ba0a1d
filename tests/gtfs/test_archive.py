"""A feed as a file or folder: what can be read, and what is said of what cannot."""

import zipfile

import pytest

from fingerpost.errors import FeedUnusable
from fingerpost.testing.feeds import feed_from_drawing, write_feed
from fingerpost.transit.gtfs.archive import open_archive
from fingerpost.transit.gtfs.importer import FeedSource, import_feeds
from tests.gtfs.importing import ONE_LINE, import_text

ODD = '\ufeffroute_id , route_short_name,"route_long_name"\r\n"R,1", "say ""ho""" ,two\r\n\r\nR2,,  Ä  \r\n R3\r\n'
CALL = "trip_id,stop_id,stop_sequence,arrival_time,departure_time"


def rows_of(path, name, *columns):
    with open_archive(path) as archive:
        return list(archive.get_table(name).rows(*columns))


@pytest.mark.parametrize("form", ["feed.zip", "feed"])
def test_zip_and_folder_read_alike(tmp_path, form):
    """BOM, CRLF, quotes, blanks around fields and blank lines are read through; a short row ends in empty fields."""
    path = write_feed(tmp_path / form, {"routes.txt": ODD})

    assert rows_of(path, "routes.txt", "route_id", "route_short_name", "route_long_name", "route_url") == [
        (2, ("R,1", 'say "ho"', "two", "")),
        (4, ("R2", "", "Ä", "")),
        (5, ("R3", "", "", "")),
    ]


def test_absent_table_is_none(tmp_path):
    """Looking for a table that is not there finds nothing."""
    with open_archive(write_feed(tmp_path / "feed", {"routes.txt": ODD})) as archive:
        assert (archive.find_table("transfers.txt"), archive.list_tables()) == (None, ["routes.txt"])


def test_chunks_fill_short_rows(tmp_path):
    """The fast way fills short rows and missing columns with empty fields too, and strips nothing."""
    path = write_feed(tmp_path / "feed", {"a.txt": "x,y\n 1,2\n3\n"})
    with open_archive(path) as archive:
        chunks = list(archive.get_table("a.txt").chunks("y", "x", "z"))

    assert chunks == [[["2", ""], ["1", "3"], ["", ""]]]


def test_line_of_a_row_counts_quoted_line_ends(tmp_path):
    """A row number becomes the line that a text editor shows at the row's end."""
    path = write_feed(tmp_path / "feed", {"a.txt": 'x\n"two\nlines"\n\nplain\n'})
    with open_archive(path) as archive:
        assert archive.get_table("a.txt").lines_of([1, 0]) == {0: 3, 1: 5}


def refusal(tmp_path, path):
    with pytest.raises(FeedUnusable) as caught:
        import_feeds("test", [FeedSource(path)])
    return caught.value.message


def test_no_such_file(tmp_path):
    """A path with nothing behind it is named."""
    assert refusal(tmp_path, tmp_path / "none.zip") == (
        f"There is no file or folder {tmp_path / 'none.zip'}. Check the path of the feed."
    )


@pytest.mark.parametrize("damage", [lambda whole: whole[:-30], lambda whole: b"<html>not found</html>"])
def test_truncated_or_other_file(tmp_path, damage):
    """A download that broke off, or a web page that came instead, is not a zip file."""
    path = write_feed(tmp_path / "feed.zip", feed_from_drawing(ONE_LINE))
    path.write_bytes(damage(path.read_bytes()))

    assert refusal(tmp_path, path) == "feed.zip is not a zip file, or only a part of one. Download the feed again."


def test_damaged_table_inside_a_zip(tmp_path):
    """A zip whose directory is whole and whose table is not names the table."""
    path = tmp_path / "feed.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as packed:
        for name, text in feed_from_drawing(ONE_LINE).items():
            packed.writestr(name, text)
    path.write_bytes(path.read_bytes().replace(b"Alpha,60", b"Omega,60"))

    assert refusal(tmp_path, path) == (
        "feed.zip: stops.txt after line 0 cannot be unpacked (Bad CRC-32 for file 'stops.txt'). "
        "Download the feed again."
    )


@pytest.mark.parametrize("table", ["agency.txt", "stops.txt", "routes.txt", "trips.txt", "stop_times.txt"])
def test_required_table_missing(tmp_path, table):
    """Each table that GTFS requires is missed by name."""
    with pytest.raises(FeedUnusable) as caught:
        import_text(tmp_path, {table: None})

    assert caught.value.message == (
        f"feed holds no {table}, which GTFS requires at the top level of a feed. "
        "Check that this is a GTFS feed, and ask its publisher for a complete one."
    )


def test_required_column_missing(tmp_path):
    """A table without a column that GTFS requires is refused."""
    with pytest.raises(FeedUnusable) as caught:
        import_text(tmp_path, {"routes.txt": "route_id,route_short_name\nA,A\n"})

    assert caught.value.message == (
        "feed: routes.txt line 1 has no column route_type, which GTFS requires. Ask the publisher for a complete feed."
    )


def test_not_utf8(tmp_path):
    """A Latin-1 table is refused by name."""
    path = write_feed(tmp_path / "feed", feed_from_drawing(ONE_LINE))
    (path / "routes.txt").write_bytes("route_id,route_type,route_long_name\nA,3,Töölö\n".encode("latin-1"))

    assert refusal(tmp_path, path) == (
        "feed: routes.txt after line 0 is not UTF-8. Save the table as UTF-8 and try again."
    )


@pytest.mark.parametrize(
    ("table", "text", "sentence"),
    [
        (
            "stops.txt",
            "stop_id,stop_lat,stop_lon|A,60.1,9|B,60.1,east",
            "line 3: stop_lon is 'east', which is not a number.",
        ),
        ("stops.txt", "stop_id,stop_lat,stop_lon|A,nan,24.9", "line 2: stop_lat is 'nan', which is not a number."),
        ("routes.txt", "route_id,route_type|A,bus", "line 2: route_type is 'bus', which is not a whole number."),
        ("routes.txt", "route_id,route_type|A,32768", "line 2: route_type is '32768', which is not a GTFS route type."),
        (
            "calendar_dates.txt",
            "service_id,date,exception_type|ALL,20260230,1",
            "line 2: date is '20260230', which is not a date written YYYYMMDD.",
        ),
        (
            "calendar_dates.txt",
            "service_id,date,exception_type|ALL,20260228,1|ALL,20260227,3",
            "line 3: exception_type is '3', which is not 1 (added) or 2 (removed).",
        ),
        (
            "stop_times.txt",
            f"{CALL}|A-1,ALPHA,1,8:00:00,8:00:00|A-1,BETA,2,8:60:00,",
            "line 3: arrival_time is '8:60:00', which is not a time written H:MM:SS.",
        ),
        (
            "stop_times.txt",
            f"{CALL}|A-1,ALPHA,first,8:00:00,8:00:00",
            "line 2: stop_sequence is 'first', which is not a whole number, 0 or more.",
        ),
        (
            "stop_times.txt",
            f"{CALL},pickup_type|A-1,ALPHA,1,8:00:00,8:00:00,4",
            "line 2: pickup_type is '4', which is not 0, 1, 2 or 3.",
        ),
        (
            "frequencies.txt",
            "trip_id,start_time,end_time,headway_secs|A-1,8:00:00,9:00:00,0",
            "line 2: headway_secs is '0', which is not a number of seconds above 0.",
        ),
        (
            "transfers.txt",
            "from_stop_id,to_stop_id,min_transfer_time|ALPHA,BETA,-1",
            "line 2: min_transfer_time is '-1', which is not a number of seconds, 0 or more.",
        ),
    ],
)
def test_unreadable_value(tmp_path, table, text, sentence):
    """A value that cannot be read is refused with its file, table, line, column, and what to do."""
    with pytest.raises(FeedUnusable) as caught:
        import_text(tmp_path, {table: text.replace("|", "\n")})

    assert caught.value.message == (
        f"feed: {table} {sentence} Correct that line, or ask the publisher for a sound feed."
    )
