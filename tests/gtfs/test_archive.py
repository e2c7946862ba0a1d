"""A feed as a file or a folder: what can be read, what is refused, and what is malicious."""

import os
import tracemalloc
import zipfile
import zlib
from functools import partial

import pytest

from fingerpost.errors import FeedUnusable
from fingerpost.runtime.zip_members import read_member
from fingerpost.transit.engine.gtfs.csv import archive as archives
from fingerpost.transit.engine.gtfs.csv.archive import open_archive
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from tests.feeds import feed_from_drawing, write_feed
from tests.gtfs.importing import ONE_LINE, findings_of, import_text

FEED = feed_from_drawing(ONE_LINE)
# Of the directory's entry of a zip file: the version of the format that is needed, and flags.
VERSION, FLAGS = 6, 8
ENCRYPTED = 1
NO_ZIP = (
    "feed.zip is not a complete zip file, or is of an unsupported kind. Download the feed again, or "
    "unpack it and add the folder"
)
NO_TABLE = "feed.zip: agency.txt cannot be unpacked ({}). Download the feed again"
ENCRYPTED_TABLE = NO_TABLE.format("File 'agency.txt' is encrypted, password required for extraction")
UNSUPPORTED_TABLE = NO_TABLE.format("That compression method is not supported")


def trips_of(path):
    return list(import_feeds("test", [FeedSource(path)]).timetable.trip_local_id)


def rename_in_local_header(whole):
    """Set the flag for UTF-8 names, and a first byte that is not UTF-8."""
    name = whole.index(b"stops.txt")
    return whole[: name - 23] + b"\x08" + whole[name - 22 : name] + b"\xff" + whole[name + 1 :]


@pytest.mark.parametrize("form", ["feed.zip", "feed"])
@pytest.mark.parametrize("own", [ValueError, OSError, FileNotFoundError])
def test_an_error_of_a_reader_is_not_a_fault_of_the_file(tmp_path, form, own):
    path = write_feed(tmp_path / form, FEED)
    with pytest.raises(own, match=r"^mine$"), open_archive(path):
        raise own("mine")


def test_a_duplicate_table_in_an_archive_is_counted(tmp_path):
    path = write_feed(tmp_path / "feed.zip", feed_from_drawing(ONE_LINE))
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("stops.txt", archive.read("stops.txt").replace(b"Alpha", b"Omega"))
    imported = import_feeds("test", [FeedSource(path)])

    assert "Omega" in imported.timetable.stop_name
    assert findings_of(imported) == [("table-repeated-assumed", 1, "stops.txt", 0)]


def damaged(folder, change, compression=zipfile.ZIP_DEFLATED):
    path = folder / "feed.zip"
    with zipfile.ZipFile(path, "w", compression) as packed:
        for name, text in FEED.items():
            packed.writestr(name, text)
    path.write_bytes(change(path.read_bytes()))
    return path


def set_entry_byte(offset, value, whole):
    at = whole.index(b"PK\1\2") + offset
    return whole[:at] + bytes([value]) + whole[at + 1 :]


def pipe(folder):
    os.mkfifo(folder / "feed.zip")
    return folder / "feed.zip"


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda folder: folder / "none.zip", "There is no file or folder {path}. Check the path of the feed"),
        # A download that broke off, and a web page that came instead.
        *(
            (lambda folder, change=change: damaged(folder, change), NO_ZIP)
            for change in (
                lambda whole: whole[:-30],
                lambda _whole: b"<html>not found</html>",
                # A version of the format that nobody here knows.
                partial(set_entry_byte, VERSION, 64),
            )
        ),
        (lambda folder: damaged(folder, partial(set_entry_byte, FLAGS, ENCRYPTED)), ENCRYPTED_TABLE),
        # A block of these methods can unpack to gigabytes, whatever the directory says.
        (lambda folder: damaged(folder, bytes, zipfile.ZIP_BZIP2), UNSUPPORTED_TABLE),
        (lambda folder: damaged(folder, bytes, zipfile.ZIP_LZMA), UNSUPPORTED_TABLE),
        # The directory is whole, a table is not.
        (
            lambda folder: damaged(folder, lambda whole: whole.replace(b"Alpha,60", b"Omega,60"), zipfile.ZIP_STORED),
            "feed.zip: stops.txt cannot be unpacked (Bad CRC-32 for file 'stops.txt'). Download the feed again",
        ),
        # A pipe would be waited on for ever.
        (
            lambda folder: damaged(folder, rename_in_local_header),
            (
                "feed.zip: stops.txt cannot be unpacked ('utf-8' codec can't decode byte 0xff in position 0: "
                "invalid start byte). Download the feed again"
            ),
        ),
        (pipe, "feed.zip is neither a file nor a folder. Check the path of the feed"),
        (
            lambda folder: write_feed(
                folder / "feed.zip", {f"{part}/{n}": t for part in "ab" for n, t in FEED.items()}
            ),
            "feed.zip contains several feeds (a, b). Unpack it, and add each feed by its own path",
        ),
        (
            lambda folder: write_feed(folder / "feed.zip", {"bus.zip": "", "README": "", "Tram.ZIP": ""}),
            (
                "feed.zip has no agency.txt, which GTFS requires. "
                "Unpack it. It contains Tram.ZIP, bus.zip; add each by its own path"
            ),
        ),
        # A file without lines is no table, and is not read to its end.
        (
            lambda folder: write_feed(folder / "feed.zip", FEED | {"stops.txt": "x" * 9_000_000}),
            "feed.zip: stops.txt is not a text table. Ask the publisher for a valid feed",
        ),
    ],
)
def test_a_file_that_is_not_a_feed_is_refused_in_a_sentence(tmp_path, write, message):
    path = write(tmp_path)
    with pytest.raises(FeedUnusable) as caught:
        trips_of(path)

    assert f"{caught.value.message}. {caught.value.hint}" == message.format(path=path)


def test_a_member_is_unpacked_only_to_its_declared_size(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(20_000_000))
        info = archive.getinfo("a")
        info.file_size, info.CRC = 10, zlib.crc32(bytes(10))
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        tracemalloc.start()
        content = read_member(archive, "a")
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    assert content == bytes(10)
    assert peak_bytes < 1_000_000


def test_a_zip_file_of_the_newest_format_that_is_known_is_read(tmp_path):
    """Members may need version 6.3 of the format, but not 6.4."""
    assert trips_of(damaged(tmp_path, partial(set_entry_byte, VERSION, 63))) == ["A-1"]


@pytest.mark.parametrize(
    ("table", "rows", "reason", "column"),
    [
        ("stops.txt", "X,X,60.1,east", "value-unreadable-assumed", "stop_lon"),
        ("routes.txt", "X,X,,32768", "route-type-assumed", "route_type"),
        ("calendar_dates.txt", "service_id,date,exception_type\nX,20260230,1", "calendar-row-unreadable", "date"),
        ("stop_times.txt", "A-1,ALPHA,9,8:60:00,8:50:00,,", "call-time-unreadable-assumed", "arrival_time"),
        ("stop_times.txt", "A-1,ALPHA,first,8:50:00,,,", "call-sequence-unreadable", "stop_sequence"),
        ("stop_times.txt", "A-1,ALPHA,9,8:50:00,,4,", "value-unreadable-assumed", "pickup_type"),
        (
            "frequencies.txt", "trip_id,start_time,end_time,headway_secs\nA-1,8:00:00,9:00:00,0",
            "frequency-unreadable", "headway_secs",
        ),
        ("transfers.txt", "ALPHA,BETA,0,-1", "value-unreadable-assumed", "min_transfer_time"),
    ],
)  # fmt: skip
def test_an_unreadable_value_is_counted_with_its_place(tmp_path, table, rows, reason, column):
    text = f"{FEED.get(table, '')}{rows}\n"
    imported = import_text(tmp_path, {table: text})

    first = imported.report.feeds[0].findings[0]
    place = first.places[0]
    assert (first.reason, place.column, place.table, place.line, first.count) == (
        reason, column, table, text.count("\n"), 1
    )  # fmt: skip
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


SMALL = {"MAX_BYTES": 100_000, "MAX_TABLE_BYTES": 3_000, "MIN_CHECKED_BYTES": 1_000, "MAX_RATIO": 20}


@pytest.fixture
def small_limits(monkeypatch):
    for name, limit in SMALL.items():
        monkeypatch.setattr(archives, name, limit)


def refusal(path):
    with pytest.raises(FeedUnusable) as caught, open_archive(path) as archive:
        archive.find_table("stops.txt")
    return caught.value.message


@pytest.mark.usefixtures("small_limits")
def test_a_table_packed_too_densely_is_refused_before_it_is_read(tmp_path):
    bomb = write_feed(tmp_path / "bomb.zip", FEED | {"stops.txt": "stop_id\n" + "A\n" * 1_400})
    assert refusal(bomb).startswith("bomb.zip: stops.txt unpacks to ")

    sound = write_feed(tmp_path / "sound.zip", FEED | {"stops.txt": "stop_id\n" + "A\n" * 490})
    with open_archive(sound) as archive:
        assert len(list(archive.get_table("stops.txt").read_rows("stop_id"))) == 490


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (
            {"stops.txt": "stop_id\n" + "".join(f"{n:x}{n**5:x}\n" for n in range(400))},
            "stops.txt is 0 MB, but no feed needs more than",
        ),
        ({"big.bin": "x" * 100_000}, "large.zip unpacks to more than 0 MB"),
    ],
)
def test_tables_and_archives_are_bounded(tmp_path, extra, sentence):
    assert sentence in refusal(write_feed(tmp_path / "large.zip", FEED | extra))


OLD = {f"old/{name}": text.replace("A-1", "OLD-1") for name, text in FEED.items()}
SHADOWS = {f"__MACOSX/._{name}": "\x00" for name in FEED}


@pytest.mark.parametrize(
    "tables",
    [
        *(
            {folder + name: text for name, text in FEED.items()}
            for folder in ("gtfs/", "a/b/", "./", "GTFS\\", "../../")
        ),
        # The feed at the root is read before one in a folder.
        OLD | FEED,
        # Shadow files of a Mac are no second feed.
        {name.upper(): text for name, text in FEED.items()} | SHADOWS,
    ],
    ids=["folder", "subfolder", "here", "Windows", "outside", "root", "Mac"],
)
def test_a_feed_may_be_in_a_folder_of_an_archive(tmp_path, tables):
    path = write_feed(tmp_path / "feed.zip", tables)

    assert (trips_of(path), [p.name for p in tmp_path.iterdir()]) == (["A-1"], ["feed.zip"])


def test_a_feed_beside_the_one_at_the_root_is_reported(tmp_path):
    with open_archive(write_feed(tmp_path / "feed.zip", OLD | FEED)) as archive:
        found = [(each.reason, each.places[0].table) for each in archive.findings.list_all()]

    assert found == [("folder-unapplied", "old/stops.txt")]


def test_a_feed_may_be_in_a_subfolder(tmp_path):
    write_feed(tmp_path / "feed" / "inside", FEED)

    assert trips_of(tmp_path / "feed") == ["A-1"]


def test_a_link_that_leads_out_is_not_followed(tmp_path):
    feed = write_feed(tmp_path / "feed", FEED)
    (tmp_path / "secret").write_text(FEED["stops.txt"])
    (feed / "stops.txt").unlink()
    (feed / "stops.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(FeedUnusable, match=r"feed has no stops\.txt"):
        trips_of(feed)
