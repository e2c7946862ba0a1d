"""Prepares the addresses of an extract for the stops of a timetable."""

from pathlib import Path
from tempfile import TemporaryDirectory

from fingerpost.transit.engine.timetable.timetable import STOP, Timetable
from fingerpost.transit.osm.addresses.extract import read_addresses
from fingerpost.transit.osm.addresses.gathering import gather
from fingerpost.transit.osm.addresses.index_file import FILE_NAME, write_index
from fingerpost.transit.osm.extract_file import ReadProgress
from fingerpost.transit.osm.streets.riders_area import RidersArea


def save_addresses(extract: Path, timetable: Timetable, folder: Path, progress: ReadProgress) -> None:
    """Write an index of what an extract has around the stops of a timetable, beside it in its folder.

    Raises:
        FeedUnusable: the extract cannot be read.
        SettingsInvalid: osmium is not installed, or the disk refuses.
    """
    boardable = timetable.stop_kind == STOP
    area = RidersArea(timetable.stop_lat[boardable], timetable.stop_lon[boardable])
    with TemporaryDirectory() as scratch:
        found = read_addresses(extract, area.holds, Path(scratch), progress)
    write_index(gather(found), folder / FILE_NAME)
