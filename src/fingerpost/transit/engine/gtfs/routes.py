"""``routes.txt``: lines, with the names that riders know."""

from collections.abc import Sequence
from typing import NamedTuple

from fingerpost.transit.engine.gtfs.csv import Archive, Reason, find_integer
from fingerpost.transit.engine.timetable.draft import RouteRow
from fingerpost.transit.model.line_colors import parse_color

_LARGEST_TYPE = 32_767
_MOST_AGENCIES = 32_767
_COLORS = ("route_color", "route_text_color")
# Extended route type "Miscellaneous Service": what stands where the feed does not say what runs.
UNKNOWN_TYPE = 1700


class Routes(NamedTuple):
    """Routes of one feed; ``row_of`` maps a route id to its row."""

    rows: list[RouteRow]
    row_of: dict[str, int]


def read_routes(archive: Archive, agency_ids: Sequence[str]) -> Routes:
    """Read the routes, extended types included; rows say feed 0.

    A route that names no agency is the only agency's, where there is one only.
    """
    table = archive.get_table("routes.txt", "route_id")
    routes = Routes([], {})
    columns = ("route_id", "route_short_name", "route_long_name", "route_type", "agency_id", *_COLORS)
    agency_rows = {agency_id: row for row, agency_id in enumerate(agency_ids[:_MOST_AGENCIES])}
    if len(agency_ids) == 1:
        agency_rows[""] = 0
    for line, (route_id, short_name, long_name, type_text, agency_id, color, text_color) in table.rows(*columns):
        if not route_id or route_id in routes.row_of:
            table.note(Reason.ID_REPEATED if route_id else Reason.ID_MISSING, line, "route_id")
            continue
        type_ = find_integer(type_text)
        if type_ is None or not 0 <= type_ <= _LARGEST_TYPE:
            table.note(Reason.ROUTE_TYPE_ASSUMED, line, "route_type")
            type_ = UNKNOWN_TYPE
        routes.row_of[route_id] = len(routes.rows)
        agency = agency_rows.get(agency_id, -1)
        colors = parse_color(color), parse_color(text_color)
        routes.rows.append(RouteRow(0, route_id, short_name, long_name, type_, agency, *colors))
    return routes
