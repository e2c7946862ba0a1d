"""Read GTFS ``translations.txt``: stop and line names, and headsigns, in other languages (rule A7)."""

from collections.abc import Iterable
from typing import NamedTuple

from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.columns import IdIndex
from fingerpost.transit.engine.gtfs.csv.findings import Reason
from fingerpost.transit.engine.gtfs.feed_info import find_primary_language
from fingerpost.transit.engine.gtfs.stops import Stops
from fingerpost.transit.engine.gtfs.trips import Routes, Trips

Names = dict[str, dict[int, str]]
"""Names by language and row."""

_FIELDS = {
    ("stops", "stop_name"): "stops",
    ("routes", "route_long_name"): "routes",
    ("trips", "trip_headsign"): "headsigns",
    ("stop_times", "stop_headsign"): "headsigns",
}

# No table has a column of this name.
_NONE = "-"


class Translations(NamedTuple):
    """Other names by language: of stops and routes by row, of headsigns by their text."""

    stops: Names
    routes: Names
    headsigns: dict[str, dict[str, str]]


def read_translations(archive: Archive, stops: Stops, routes: Routes, trips: Trips, headsigns: IdIndex) -> Translations:
    """Read the table, by record id or by field value; an id beats a value (GTFS, translations.txt).

    The draft form of some feeds (``trans_id``, ``lang``, ``translation``) is read by value.
    """
    found = Translations({}, {}, {})
    table = archive.find_extra("translations.txt")
    if table is None:
        return found
    columns = ("table_name", "field_name", "language", "translation", "record_id", "field_value")
    old = "trans_id" in table.columns and "table_name" not in table.columns
    if old:
        columns = (_NONE, _NONE, "lang", "translation", _NONE, "trans_id")
    by_name = {
        "stops": _rows_by_name(stop.name for stop in stops.rows),
        "routes": _rows_by_name(route.long_name for route in routes.rows),
    }
    headsign_of: dict[str, str] = {}
    by_id: list[tuple[Names, int, str, str]] = []
    for line, (file_name, field, tag, text, record_id, value) in table.rows(*columns):
        table_name = file_name.removesuffix(".txt")
        language = find_primary_language(tag)
        if not language or not text:
            table.note(Reason.TRANSLATION_UNREADABLE, line, columns[3] if language else columns[2])
            continue
        if not value and (table_name, field) == ("trips", "trip_headsign"):
            headsign_of = headsign_of or _headsigns_by_trip(trips, headsigns)
            value = headsign_of.get(record_id, "")
        kinds = ("stops", "routes", "headsigns") if old else (_FIELDS.get((table_name, field)),)
        if kinds == (None,) or (kinds == ("headsigns",) and not value):
            table.note(Reason.TRANSLATION_OF_OTHER_FIELD_UNAPPLIED, line, "field_name")
            continue
        if "headsigns" in kinds:
            found.headsigns.setdefault(language, {})[value] = text
        for kind, known, names in (("stops", stops, found.stops), ("routes", routes, found.routes)):
            if kind not in kinds:
                continue
            if record_id:
                if record_id in known.row_of:
                    by_id.append((names, known.row_of[record_id], language, text))
                else:
                    table.note(Reason.TRANSLATION_OF_UNKNOWN, line, "record_id")
                continue
            rows = by_name[kind].get(value, ())
            if not rows and not old:
                table.note(Reason.TRANSLATION_OF_UNKNOWN, line, "field_value")
            for row in rows:
                names.setdefault(language, {})[row] = text
    for names, row, language, text in by_id:
        names.setdefault(language, {})[row] = text
    return found


def _headsigns_by_trip(trips: Trips, headsigns: IdIndex) -> dict[str, str]:
    texts = headsigns.to_texts()
    named = zip(trips.ids.to_texts(), trips.headsign.tolist(), strict=True)
    return {local_id: texts[row] if row >= 0 else "" for local_id, row in named}


def _rows_by_name(names: Iterable[str]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        rows.setdefault(name, []).append(row)
    return rows
