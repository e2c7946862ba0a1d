"""``frequencies.txt``: trips that run again and again; every departure becomes a run of its own."""

from fingerpost.transit.gtfs.archive import Archive
from fingerpost.transit.gtfs.findings import Findings, Reason
from fingerpost.transit.gtfs.stop_times import Events
from fingerpost.transit.gtfs.trips import Trips
from fingerpost.transit.timetable.draft import RunRow


def read_runs(archive: Archive, trips: Trips, events: Events, findings: Findings) -> list[RunRow]:
    """Return the runs of all trips, in the order of the trips.

    A row makes the trip leave at its start time and every headway after it, before its end time.
    With ``exact_times`` 1 those are times; else the timetable promises the headway only.
    A trip that no row names runs once, at its own times.

    Raises:
        FeedUnusable: a time or a headway cannot be read.
    """
    shifts: dict[int, list[RunRow]] = {}
    table = archive.find_table("frequencies.txt", "trip_id", "start_time", "end_time", "headway_secs")
    if table is not None:
        first_event = events.per_trip.cumsum() - events.per_trip
        first_departure_s = events.departure_s[first_event].tolist()
        columns = ("trip_id", "start_time", "end_time", "headway_secs", "exact_times")
        for line, (trip_id, start_text, end_text, headway_text, exact_text) in table.rows(*columns):
            start_s = table.time_s(line, "start_time", start_text)
            end_s = table.time_s(line, "end_time", end_text)
            headway_s = table.integer(line, "headway_secs", headway_text)
            if headway_s <= 0:
                raise table.fault(line, "headway_secs", headway_text, "a number of seconds above 0")
            if exact_text not in {"", "0", "1"}:
                raise table.fault(line, "exact_times", exact_text, "0 or 1")
            trip = trips.row_of.get(trip_id)
            if trip is None or trip < 0:
                unknown = Reason.FREQUENCY_OF_UNKNOWN_TRIP if trip is None else Reason.FREQUENCY_OF_LEFT_OUT_TRIP
                findings.add(unknown, table.name, line)
                continue
            if end_s <= start_s:
                findings.add(Reason.FREQUENCY_WITHOUT_DEPARTURES, table.name, line)
            promised_s = 0 if exact_text == "1" else headway_s
            shifts.setdefault(trip, []).extend(
                RunRow(trip, leaves_s - first_departure_s[trip], promised_s)
                for leaves_s in range(start_s, end_s, headway_s)
            )
    return [run for trip in range(len(trips.rows)) for run in shifts.get(trip, (RunRow(trip),))]
