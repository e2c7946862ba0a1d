"""Read GTFS ``translations.txt``: stop and line names, and headsigns, in other languages (rule A7)."""

from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.findings import Reason
from fingerpost.transit.engine.gtfs.csv.table import IdIndex
from fingerpost.transit.engine.gtfs.feed_info import find_primary_language
from fingerpost.transit.engine.gtfs.stops import Stops
from fingerpost.transit.engine.gtfs.trips import Routes, Trips
from fingerpost.transit.engine.timetable.columns import group_rows

_COLUMNS = ("table_name", "field_name", "language", "translation")

Names = dict[str, dict[int, str]]
"""Names by language and row."""

_FIELDS = {
    ("stops", "stop_name"): "stops",
    ("routes", "route_long_name"): "routes",
    ("trips", "trip_headsign"): "headsigns",
    ("stop_times", "stop_headsign"): "headsigns",
}


def read_translations(
    archive: Archive, stops: Stops, routes: Routes, trips: Trips, headsigns: IdIndex
) -> tuple[Names, Names, dict[str, dict[str, str]]]:
    """Return stop names and route names by language and row, and headsigns by language and original text.

    Translations are matched by record id or, if there is none, by field value (GTFS, translations.txt).
    """
    stop_names: Names = {}
    route_names: Names = {}
    headsign_names: dict[str, dict[str, str]] = {}
    table = archive.find_optional_table("translations.txt", *_COLUMNS)
    if table is None:
        return stop_names, route_names, headsign_names
    by_name = {
        "stops": group_rows([stop.name for stop in stops.rows], range(len(stops.rows))),
        "routes": group_rows([route.long_name for route in routes.rows], range(len(routes.rows))),
    }
    headsign_by_trip: dict[str, str] = {}
    by_id: list[tuple[Names, int, str, str]] = []
    for line, (file_name, field, tag, text, record_id, value) in table.read_rows(*_COLUMNS, "record_id", "field_value"):
        table_name = file_name.removesuffix(".txt")
        language = find_primary_language(tag)
        if not language or not text:
            table.note(Reason.TRANSLATION_UNREADABLE, line, "translation" if language else "language")
            continue
        if not value and (table_name, field) == ("trips", "trip_headsign"):
            headsign_by_trip = headsign_by_trip or _map_trip_headsigns(trips, headsigns)
            value = headsign_by_trip.get(record_id, "")
        kind = _FIELDS.get((table_name, field))
        if kind is None or (kind == "headsigns" and not value):
            table.note(Reason.TRANSLATION_OF_OTHER_FIELD_UNAPPLIED, line, "field_name")
            continue
        if kind == "headsigns":
            headsign_names.setdefault(language, {})[value] = text
            continue
        records, names = (stops, stop_names) if kind == "stops" else (routes, route_names)
        if record_id in records.row_by_id:
            by_id.append((names, records.row_by_id[record_id], language, text))
            continue
        rows = () if record_id else by_name[kind].get(value, ())
        if not rows:
            table.note(Reason.TRANSLATION_OF_UNKNOWN, line, "record_id" if record_id else "field_value")
        for row in rows:
            names.setdefault(language, {})[row] = text
    for names, row, language, text in by_id:
        names.setdefault(language, {})[row] = text
    return stop_names, route_names, headsign_names


def _map_trip_headsigns(trips: Trips, headsigns: IdIndex) -> dict[str, str]:
    texts = headsigns.to_texts()
    trip_headsigns = zip(trips.ids.to_texts(), trips.headsign.tolist(), strict=True)
    return {local_id: texts[row] if row >= 0 else "" for local_id, row in trip_headsigns}
