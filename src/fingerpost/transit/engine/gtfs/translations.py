"""Read GTFS ``translations.txt``: stop and line names, and headsigns, in other languages (rule A7)."""

from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.columns import IdIndex
from fingerpost.transit.engine.gtfs.csv.findings import Reason
from fingerpost.transit.engine.gtfs.feed_info import find_primary_language
from fingerpost.transit.engine.gtfs.stops import Stops
from fingerpost.transit.engine.gtfs.trips import Routes, Trips
from fingerpost.transit.engine.timetable.columns import group_rows

Names = dict[str, dict[int, str]]
"""Names by language and row."""

_FIELDS = {
    ("stops", "stop_name"): "stops",
    ("routes", "route_long_name"): "routes",
    ("trips", "trip_headsign"): "headsigns",
    ("stop_times", "stop_headsign"): "headsigns",
}

# No column has this name, so its fields read as empty.
_NO_COLUMN = "-"


def read_translations(
    archive: Archive, stops: Stops, routes: Routes, trips: Trips, headsigns: IdIndex
) -> tuple[Names, Names, dict[str, dict[str, str]]]:
    """Return the names of stops and of routes by language and row, and headsigns by language and original text.

    Translations are matched by record id or, if there is none, by field value (GTFS, translations.txt). The draft
    format (``trans_id``, ``lang``, ``translation``), which some feeds use, has only field values.
    """
    stop_names: Names = {}
    route_names: Names = {}
    headsign_names: dict[str, dict[str, str]] = {}
    table = archive.find_optional_table("translations.txt")
    if table is None:
        return stop_names, route_names, headsign_names
    columns = ("table_name", "field_name", "language", "translation", "record_id", "field_value")
    is_draft_format = "trans_id" in table.columns and "table_name" not in table.columns
    if is_draft_format:
        columns = (_NO_COLUMN, _NO_COLUMN, "lang", "translation", _NO_COLUMN, "trans_id")
    by_name = {
        "stops": group_rows([stop.name for stop in stops.rows], range(len(stops.rows))),
        "routes": group_rows([route.long_name for route in routes.rows], range(len(routes.rows))),
    }
    headsign_by_trip: dict[str, str] = {}
    by_id: list[tuple[Names, int, str, str]] = []
    for line, (file_name, field, tag, text, record_id, value) in table.read_rows(*columns):
        table_name = file_name.removesuffix(".txt")
        language = find_primary_language(tag)
        if not language or not text:
            table.note(Reason.TRANSLATION_UNREADABLE, line, columns[3] if language else columns[2])
            continue
        if not value and (table_name, field) == ("trips", "trip_headsign"):
            headsign_by_trip = headsign_by_trip or _map_trip_headsigns(trips, headsigns)
            value = headsign_by_trip.get(record_id, "")
        kinds = ("stops", "routes", "headsigns") if is_draft_format else (_FIELDS.get((table_name, field)),)
        if kinds == (None,) or (kinds == ("headsigns",) and not value):
            table.note(Reason.TRANSLATION_OF_OTHER_FIELD_UNAPPLIED, line, "field_name")
            continue
        if "headsigns" in kinds:
            headsign_names.setdefault(language, {})[value] = text
        for kind, records, names in (("stops", stops, stop_names), ("routes", routes, route_names)):
            if kind not in kinds:
                continue
            if record_id:
                if record_id in records.row_by_id:
                    by_id.append((names, records.row_by_id[record_id], language, text))
                else:
                    table.note(Reason.TRANSLATION_OF_UNKNOWN, line, "record_id")
                continue
            rows = by_name[kind].get(value, ())
            if not rows and not is_draft_format:
                table.note(Reason.TRANSLATION_OF_UNKNOWN, line, "field_value")
            for row in rows:
                names.setdefault(language, {})[row] = text
    for names, row, language, text in by_id:
        names.setdefault(language, {})[row] = text
    return stop_names, route_names, headsign_names


def _map_trip_headsigns(trips: Trips, headsigns: IdIndex) -> dict[str, str]:
    texts = headsigns.to_texts()
    trip_headsigns = zip(trips.ids.to_texts(), trips.headsign.tolist(), strict=True)
    return {local_id: texts[row] if row >= 0 else "" for local_id, row in trip_headsigns}
