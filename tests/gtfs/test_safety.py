"""Archives that mean harm, or are merely odd: bounded, never followed out of themselves, read where they can be."""

import os
import zipfile

import pytest

from fingerpost.errors import FeedUnusable
from fingerpost.testing.feeds import feed_from_drawing, write_feed
from fingerpost.transit.engine.gtfs.csv.archive import ArchiveLimits, open_archive
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from tests.gtfs.importing import ONE_LINE

FEED = feed_from_drawing(ONE_LINE)
SMALL = ArchiveLimits(members=20, whole_bytes=100_000, listed_bytes=3_000, trusted_bytes=1_000, ratio=20)


def refusal(path, limits=None):
    with pytest.raises(FeedUnusable) as caught, open_archive(path, None, limits) as archive:
        archive.find_table("stops.txt")
    return caught.value.message


def trips_of(path):
    return list(import_feeds("test", [FeedSource(path)]).timetable.trip_local_id)


def test_bomb(tmp_path):
    """A table that unpacks to many times its size is refused before a byte of it is unpacked; one just below is not."""
    bomb = write_feed(tmp_path / "bomb.zip", FEED | {"stops.txt": "stop_id\n" + "A\n" * 1_400})
    assert refusal(bomb, SMALL).startswith("bomb.zip: stops.txt unpacks to ")

    sound = write_feed(tmp_path / "sound.zip", FEED | {"stops.txt": "stop_id\n" + "A\n" * 490})
    with open_archive(sound, None, SMALL) as archive:
        assert len(list(archive.get_table("stops.txt").rows("stop_id"))) == 490


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        ({"stops.txt": "stop_id\n" + "".join(f"{n:x}{n**5:x}\n" for n in range(400))}, "stops.txt has 0 MB, more than"),
        ({"big.bin": "x" * 100_000}, "large.zip unpacks to more than 0 MB."),
        ({f"{n}.bin": "" for n in range(20)}, "large.zip holds 27 files."),
    ],
)
def test_too_large(tmp_path, extra, sentence):
    """A table, an archive and a number of files have a bound."""
    assert sentence in refusal(write_feed(tmp_path / "large.zip", FEED | extra), SMALL)


@pytest.mark.parametrize("folder", ["gtfs/", "a/b/", "./", "GTFS\\", "../../"])
def test_subfolder_of_an_archive(tmp_path, folder):
    """Tables may lie in one folder, whatever it is called; nothing is written anywhere."""
    path = write_feed(tmp_path / "feed.zip", {folder + name: text for name, text in FEED.items()})

    assert (trips_of(path), sorted(p.name for p in tmp_path.iterdir())) == (["A-1"], ["feed.zip"])


def test_subfolder_of_a_folder(tmp_path):
    """A folder may hold the feed one level down."""
    write_feed(tmp_path / "feed" / "inside", FEED)

    assert trips_of(tmp_path / "feed") == ["A-1"]


def test_resource_forks_and_letter_case(tmp_path):
    """A Mac's shadow files are not a second feed, and names may be written in capitals."""
    shadows = {f"__MACOSX/._{name}": "\x00" for name in FEED}
    path = write_feed(tmp_path / "feed.zip", {name.upper(): text for name, text in FEED.items()} | shadows)

    assert trips_of(path) == ["A-1"]


def test_several_feeds_in_one_archive(tmp_path):
    """Two folders that each hold a feed are named, none is chosen."""
    path = write_feed(tmp_path / "both.zip", {f"{part}/{name}": t for part in "ab" for name, t in FEED.items()})

    assert refusal(path) == "both.zip holds several feeds (a, b). Unpack it, and add each by its own path."


def test_archive_in_an_archive(tmp_path):
    """An archive of archives says what to do."""
    inner = write_feed(tmp_path / "inner.zip", FEED)
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as packed:
        packed.write(inner, "inner.zip")

    assert refusal(tmp_path / "outer.zip") == (
        "outer.zip holds no stops.txt but other archives (inner.zip). Unpack it, and add the feeds inside one by one."
    )


def test_link_that_leads_out(tmp_path):
    """A link in a folder that leads out of it is not followed."""
    feed = write_feed(tmp_path / "feed", FEED)
    (tmp_path / "secret").write_text(FEED["stops.txt"])
    (feed / "stops.txt").unlink()
    (feed / "stops.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(FeedUnusable, match=r"feed holds no stops\.txt"):
        trips_of(feed)


def test_what_is_neither_file_nor_folder(tmp_path):
    """A pipe would be waited on for ever: it is refused."""
    os.mkfifo(tmp_path / "pipe.zip")

    assert refusal(tmp_path / "pipe.zip") == "pipe.zip is neither a file nor a folder. Check the path of the feed."


def test_encrypted(tmp_path):
    """An encrypted archive says so."""
    path = write_feed(tmp_path / "feed.zip", FEED)
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)

    assert refusal(path) == "feed.zip is encrypted. Unpack it with its password, and add the folder."


def test_line_without_end(tmp_path):
    """A file without lines is no table, and is not read to its end."""
    path = write_feed(tmp_path / "feed.zip", FEED | {"stops.txt": "x" * 9_000_000})
    with pytest.raises(FeedUnusable, match=r"feed\.zip: stops\.txt is not a table of text"):
        trips_of(path)
