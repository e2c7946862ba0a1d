"""Prepares the map of an extract around the stops of a timetable."""

from pathlib import Path
from tempfile import TemporaryDirectory

from fingerpost.transit.engine.timetable.timetable import STOP, Timetable
from fingerpost.transit.osm.basemap.extract import read_lines
from fingerpost.transit.osm.basemap.store import pack_lines, save_basemap
from fingerpost.transit.osm.extract_file import ReadProgress
from fingerpost.transit.osm.streets.riders_area import RidersArea


def prepare_basemap(extract: Path, timetable: Timetable, folder: Path, progress: ReadProgress) -> None:
    """Write what an extract has to draw around the stops of a timetable, beside it in its folder.

    Raises:
        FeedUnusable: the extract cannot be read.
        SettingsInvalid: osmium is not installed.
        OSError: the disk refuses.
    """
    boardable = timetable.stop_kind == STOP
    area = RidersArea(timetable.stop_lat[boardable], timetable.stop_lon[boardable])
    with TemporaryDirectory() as scratch:
        lines = read_lines(extract, area.holds, Path(scratch), progress)
    save_basemap(pack_lines(lines), folder)
