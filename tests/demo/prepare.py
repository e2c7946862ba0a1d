"""Prepare the demo networks from their GTFS tables: ``python -m tests.demo.prepare``."""

from dataclasses import replace
from datetime import date

import numpy as np

from fingerpost.transit.engine.demo import FOLDER, NAMES, PREPARED
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.timetable.array_file import save_timetable


def prepare(name):
    """The calendar of the tables is ignored, because a demo runs every day."""
    timetable, report = import_feeds(name, [FeedSource(FOLDER / "feeds" / name)])
    assert report.feeds[0].findings == ()
    feed = replace(timetable.feeds[0], source="shipped with fingerpost", version=None, licences=())
    return replace(
        timetable,
        feeds=(feed,),
        calendar_start=date(1970, 1, 1),
        service_runs_on=np.zeros((len(timetable.service_feed), 0), np.uint8),
        service_every_day=np.ones_like(timetable.service_every_day),
    )


if __name__ == "__main__":
    for each in NAMES:
        save_timetable(prepare(each), PREPARED / each)
