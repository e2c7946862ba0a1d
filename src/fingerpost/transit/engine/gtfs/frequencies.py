"""``frequencies.txt``: repeated trips; every departure becomes a trip departure of its own."""

import numpy as np

from fingerpost.transit.engine.gtfs.csv import LEFT_OUT, Archive, Reason, find_integer, find_time_s
from fingerpost.transit.engine.gtfs.stop_times import StopTimes
from fingerpost.transit.engine.gtfs.trips import Trips
from fingerpost.transit.engine.timetable.draft import TripDepartureColumns

# More departures of one row, or of a whole feed, are an error of the publisher.
MOST_OF_A_ROW = 10_000
MOST_OF_A_FEED = 5_000_000


def read_trip_departures(archive: Archive, trips: Trips, stop_times: StopTimes) -> TripDepartureColumns:
    """Return the trip departures of all trips, in the order of the trips.

    A row gives departures from its start time on, one every headway, before its end time. They are exact if
    ``exact_times`` is 1; otherwise only the headway is promised. A trip without a row departs once, at its own times.
    """
    table = archive.find_extra("frequencies.txt", "trip_id", "start_time", "end_time", "headway_secs")
    once = np.ones(len(trips), np.bool_)
    trip_departures: list[tuple[int, int, int]] = []
    if table is not None:
        first_departure_s = stop_times.departure_s[stop_times.per_trip.cumsum() - stop_times.per_trip].tolist()
        rows = _rows_by_id(trips)
        columns = ("trip_id", "start_time", "end_time", "headway_secs", "exact_times")
        for line, (trip_id, start_text, end_text, headway_text, exact_text) in table.rows(*columns):
            start_s, end_s, headway_s = find_time_s(start_text), find_time_s(end_text), find_integer(headway_text)
            trip = rows.get(trip_id)
            if trip is None or trip < 0:
                unknown = Reason.FREQUENCY_OF_UNKNOWN_TRIP if trip is None else Reason.FREQUENCY_OF_LEFT_OUT_TRIP
                table.note(unknown, line, "trip_id")
                continue
            if start_s is None or end_s is None or headway_s is None or headway_s <= 0:
                column = "start_time" if start_s is None else "end_time" if end_s is None else "headway_secs"
                table.note(Reason.FREQUENCY_UNREADABLE, line, column)
                continue
            if exact_text not in {"", "0", "1"}:
                table.note(Reason.VALUE_UNREADABLE_ASSUMED, line, "exact_times")
            leaves_s = range(start_s, end_s, headway_s)
            if len(leaves_s) > MOST_OF_A_ROW or len(trip_departures) + len(leaves_s) > MOST_OF_A_FEED:
                table.note(Reason.FREQUENCY_TOO_DENSE, line, "headway_secs")
                continue
            once[trip] = False
            if end_s <= start_s:
                table.note(Reason.FREQUENCY_WITHOUT_DEPARTURES, line, "end_time")
            promised_s = 0 if exact_text == "1" else headway_s
            trip_departures += [(trip, at_s - first_departure_s[trip], promised_s) for at_s in leaves_s]
    often = np.array(trip_departures, np.int32).reshape(-1, 3)
    single = np.flatnonzero(once).astype(np.int32)
    trip_column = np.concatenate([single, often[:, 0]])
    order = np.argsort(trip_column, kind="stable")
    zeros = np.zeros(len(single), np.int32)
    return TripDepartureColumns(
        trip=trip_column[order],
        shift_s=np.concatenate([zeros, often[:, 1]])[order],
        headway_s=np.concatenate([zeros, often[:, 2]])[order],
    )


def _rows_by_id(trips: Trips) -> dict[str, int]:
    rows = np.where(trips.row_of_id >= 0, trips.row_of_id, LEFT_OUT)
    return dict(zip(trips.ids.to_texts(), rows.tolist(), strict=True))
