"""Merge New York's nine feeds so that nigiri reads them as we do: ids as names, no parents, whole minutes, same walks.

nigiri does not walk from feed to feed, so the nine are merged first, as our importer merges them. Both engines then
read the merged feed. Footpaths lead between all stops of a cluster, as in ``tests/raptor/levelled.py``.
"""

import zipfile
from collections.abc import Iterator
from datetime import timedelta
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING, STOP, Timetable

# The stops of one crossing; a larger distance would join whole avenues into one cluster.
LINK_M = 45.0
HOURS = 60


def level_new_york(feeds: list[Path], path: Path) -> Timetable:
    """Write the levelled feed to a path, and return our timetable for it.

    Raises:
        RuntimeError: a trip is based on frequencies, which are not supported here.
    """
    from tests.raptor.levelled import clustered

    _write(import_feeds("NYC", [FeedSource(each, each.name.split(".")[0].upper()) for each in feeds]).timetable, path)
    timetable = clustered(import_feeds("NYC", [FeedSource(path)]).timetable, LINK_M)
    ids = list(timetable.stop_local_id)
    origins = np.repeat(np.arange(len(ids)), np.diff(timetable.footpaths.first)).tolist()
    links = zip(origins, timetable.footpaths.to.tolist(), timetable.footpaths.seconds.tolist(), strict=True)
    with zipfile.ZipFile(path, "a") as out:
        rows = [f"{ids[a]},{ids[b]},2,{seconds}\n" for a, b, seconds in links]
        out.writestr("transfers.txt", "from_stop_id,to_stop_id,transfer_type,min_transfer_time\n" + "".join(rows))
    return timetable


def _write(timetable: Timetable, path: Path) -> None:
    if len(timetable.trip_departure_trip) != len(timetable.trip_route) or timetable.trip_departure_shift_s.any():
        raise RuntimeError("New York has trips by frequency now: write them")
    zone = timetable.feeds[0].zone
    places = zip(timetable.stop_lat.tolist(), timetable.stop_lon.tolist(), timetable.stop_kind.tolist(), strict=True)
    trips = zip(timetable.trip_route.tolist(), timetable.trip_service.tolist(), strict=True)
    runs_on = zip(*(rows.tolist() for rows in np.nonzero(timetable.service_runs_on)), strict=True)
    tables = {
        "agency": ("agency_id,agency_name,agency_url,agency_timezone", [f"A,A,https://example.org,{zone}"]),
        "stops": (
            "stop_id,stop_name,stop_lat,stop_lon",
            (f"S{stop},S{stop},{lat:.6f},{lon:.6f}" for stop, (lat, lon, kind) in enumerate(places) if kind == STOP),
        ),
        "routes": (
            "route_id,agency_id,route_short_name,route_type",
            (f"R{row},A,{row},{kind}" for row, kind in enumerate(timetable.route_type.tolist())),
        ),
        "trips": (
            "route_id,service_id,trip_id",
            (f"R{route},D{service},T{trip}" for trip, (route, service) in enumerate(trips)),
        ),
        "calendar_dates": (
            "service_id,date,exception_type",
            (f"D{service},{timetable.calendar_start + timedelta(days=day):%Y%m%d},1" for service, day in runs_on),
        ),
        "stop_times": (
            "trip_id,arrival_time,departure_time,stop_id,stop_sequence,pickup_type,drop_off_type",
            _stop_times(timetable),
        ),
    }
    with zipfile.ZipFile(path, "w") as out:
        for name, (header, rows) in tables.items():
            with out.open(f"{name}.txt", "w", force_zip64=True) as table:
                for row in chain([header], rows):
                    table.write(f"{row}\n".encode())


def _stop_times(timetable: Timetable) -> Iterator[str]:
    clock = [f"{minute // 60:02}:{minute % 60:02}:00" for minute in range(HOURS * 60)]
    doors = [f"{bool(flags & NO_BOARDING):d},{bool(flags & NO_ALIGHTING):d}" for flags in range(4)]
    columns = (timetable.stop_time_arrival_s, timetable.stop_time_departure_s, timetable.stop_time_stop,
               timetable.stop_time_sequence, timetable.stop_time_flags)  # fmt: skip
    for trip, (first, last) in enumerate(pairwise(timetable.trip_first_stop_time.tolist())):
        for arrives_s, departs_s, stop, sequence, flags in zip(*(c[first:last].tolist() for c in columns), strict=True):
            yield f"T{trip},{clock[arrives_s // 60]},{clock[departs_s // 60]},S{stop},{sequence},{doors[flags & 3]}"
