"""A feed as a file or folder: what can be read, and what is said of what cannot."""

import zipfile

import pytest

from fingerpost.errors import FeedUnusable
from fingerpost.testing.feeds import feed_from_drawing, write_feed
from fingerpost.transit.engine.gtfs.csv.archive import open_archive
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from tests.gtfs.importing import ONE_LINE, findings_of, import_text

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


def test_line_of_a_row_counts_quoted_line_ends(tmp_path):
    """A row's line is the one that a text editor shows at the row's end."""
    path = write_feed(tmp_path / "feed", {"a.txt": 'x,y\n"two\nlines",1\n\nplain,2\n'})

    assert rows_of(path, "a.txt", "y", "x") == [(3, ("1", "two\nlines")), (5, ("2", "plain"))]


@pytest.mark.parametrize("form", ["feed.zip", "feed"])
@pytest.mark.parametrize("own", [ValueError, OSError, FileNotFoundError])
def test_what_a_reader_raises_is_no_fault_of_the_file(tmp_path, form, own):
    """An error of whoever reads comes out as it is."""
    path = write_feed(tmp_path / form, {"routes.txt": ODD})
    with pytest.raises(own, match=r"^mine$"), open_archive(path):
        raise own("mine")


def test_a_table_that_an_archive_holds_twice_is_counted(tmp_path):
    """The last one is read, as unpacking would leave it."""
    path = write_feed(tmp_path / "feed.zip", feed_from_drawing(ONE_LINE))
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("stops.txt", archive.read("stops.txt").replace(b"Alpha", b"Omega"))
    imported = import_feeds("test", [FeedSource(path)])

    assert "Omega" in imported.timetable.stop_name
    assert findings_of(imported) == [("table-repeated-assumed", 1, "stops.txt", 0)]


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


@pytest.mark.parametrize(("version", "is_read"), [(63, True), (64, False)])
def test_a_zip_file_of_a_newer_format_is_to_be_unpacked(tmp_path, version, is_read):
    """A member that needs version 6.3 of the format is read; from 6.4 on nobody here knows how."""
    path = write_feed(tmp_path / "feed.zip", {"routes.txt": ODD})
    packed = path.read_bytes()
    at = packed.index(b"PK\1\2") + 6  # of the directory's entry: the version needed
    path.write_bytes(packed[:at] + bytes([version]) + packed[at + 1 :])

    if is_read:
        assert len(rows_of(path, "routes.txt", "route_id")) == 3
    else:
        expected = "feed.zip is a zip file of a kind that cannot be read. Unpack it, and add the folder."
        assert refusal(tmp_path, path) == expected


def test_damaged_table_inside_a_zip(tmp_path):
    """A zip whose directory is whole and whose table is not names the table."""
    path = tmp_path / "feed.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as packed:
        for name, text in feed_from_drawing(ONE_LINE).items():
            packed.writestr(name, text)
    path.write_bytes(path.read_bytes().replace(b"Alpha,60", b"Omega,60"))

    assert refusal(tmp_path, path) == (
        "feed.zip: stops.txt cannot be unpacked (Bad CRC-32 for file 'stops.txt'). Download the feed again."
    )


@pytest.mark.parametrize("table", ["agency.txt", "stops.txt", "routes.txt", "trips.txt", "stop_times.txt"])
def test_required_table_missing(tmp_path, table):
    """Each table that GTFS requires is missed by name."""
    with pytest.raises(FeedUnusable) as caught:
        import_text(tmp_path, {table: None})

    assert caught.value.message == (
        f"feed holds no {table}, which GTFS requires. "
        "Check that this is a GTFS feed, and ask its publisher for a complete one."
    )


def test_required_column_missing(tmp_path):
    """A table without a column that GTFS requires is refused."""
    with pytest.raises(FeedUnusable) as caught:
        import_text(tmp_path, {"routes.txt": "route_short_name,route_type\nA,3\n"})

    assert caught.value.message == (
        "feed: routes.txt line 1 has no column route_id, which GTFS requires. Ask the publisher for a complete feed."
    )


@pytest.mark.parametrize(
    ("table", "text", "finding"),
    [
        ("stops.txt", "stop_id,stop_name,stop_lat,stop_lon|X,X,60.1,east", ("value-unreadable", "stop_lon")),
        (
            "routes.txt",
            "route_id,route_short_name,route_long_name,route_type|X,X,,32768",
            ("route-type-assumed", "route_type"),
        ),
        ("calendar_dates.txt", "service_id,date,exception_type|X,20260230,1", ("calendar-row-unreadable", "date")),
        ("stop_times.txt", f"{CALL}|A-1,ALPHA,9,8:60:00,8:50:00", ("call-time-unreadable-assumed", "arrival_time")),
        ("stop_times.txt", f"{CALL}|A-1,ALPHA,first,8:00:00,", ("call-sequence-unreadable", "stop_sequence")),
        ("stop_times.txt", f"{CALL},pickup_type|A-1,ALPHA,9,8:50:00,,4", ("value-unknown-assumed", "pickup_type")),
        (
            "frequencies.txt",
            "trip_id,start_time,end_time,headway_secs|A-1,8:00:00,9:00:00,0",
            ("frequency-unreadable", "headway_secs"),
        ),
        (
            "transfers.txt",
            "from_stop_id,to_stop_id,min_transfer_time|ALPHA,BETA,-1",
            ("value-unreadable-assumed", "min_transfer_time"),
        ),
    ],
)
def test_unreadable_value(tmp_path, table, text, finding):
    """A value that cannot be read is counted with its table, line and column; the rest of the feed is imported."""
    header, row = text.split("|")
    sound = feed_from_drawing(ONE_LINE).get(table, "").splitlines()[1:]
    columns = header.split(",")
    if table == "stop_times.txt":
        sound = [",".join((line.split(",") + [""] * 9)[: len(columns)]) for line in sound]
    rows = "\n".join([header, row, *(line if table != "transfers.txt" else "" for line in sound)])
    imported = import_text(tmp_path, {table: rows + "\n"})

    first = imported.report.feeds[0].findings[0]
    place = first.places[0]
    assert (first.reason, place.column, place.table, place.line, first.count) == (*finding, table, 2, 1)
    assert len(imported.timetable.trip_route) == 1


def test_a_member_without_a_name_is_passed_over(tmp_path):
    """A byte of the directory was lost: zipfile cuts the name at it, and nothing is left."""
    path = write_feed(tmp_path / "feed.zip", feed_from_drawing(ONE_LINE))
    nameless = zipfile.ZipInfo("x")
    nameless.filename = "\0x"
    with zipfile.ZipFile(path, "a") as packed:
        packed.writestr(nameless, "")

    with open_archive(path) as archive:
        assert "stops.txt" in archive.list_tables()
