"""``agency.txt``: who runs the trips, and the time zone of the feed."""

from functools import cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from fingerpost.errors import FeedUnusable
from fingerpost.transit.engine.gtfs.csv import Archive, Reason


class Agencies(NamedTuple):
    """All agencies of a feed. ``language`` is empty where they name none, or not the same; so may an id be."""

    zone: str
    names: tuple[str, ...]
    language: str
    ids: tuple[str, ...]


def read_agencies(archive: Archive) -> Agencies:
    """Read the agencies. All share one zone (GTFS, agency_timezone): the first that is known.

    Raises:
        FeedUnusable: no agency names a zone that is known, so no time of the feed means anything.
    """
    table = archive.get_table("agency.txt", "agency_timezone")
    names: list[str] = []
    ids: list[str] = []
    languages: set[str] = set()
    zone, first_text, first_line = "", "", 0
    columns = ("agency_id", "agency_name", "agency_timezone", "agency_lang")
    for line, (agency_id, name, zone_text, language) in table.rows(*columns):
        first_text, first_line = (first_text, first_line) if first_line else (zone_text, line)
        known = _find_zone(zone_text)
        if known is None:
            table.note(Reason.ZONE_UNKNOWN_ASSUMED, line, "agency_timezone")
        elif zone and known != zone:
            table.note(Reason.ZONE_OF_OTHER_AGENCY_ASSUMED, line, "agency_timezone")
        else:
            zone = known
        if name and name not in names:
            names.append(name)
        languages.add(language)
        ids.append(agency_id)
    if not zone:
        what = f"line {first_line}: agency_timezone is {first_text!r}" if first_line else "has no rows"
        raise FeedUnusable(
            f"{archive.name}: agency.txt {what}, so no time zone of the IANA list is known. Correct the table.",
            {"file": archive.name, "table": "agency.txt", "line": first_line, "column": "agency_timezone"},
        )
    languages.discard("")
    return Agencies(zone, tuple(names), languages.pop() if len(languages) == 1 else "", tuple(ids))


def _find_zone(name: str) -> str | None:
    """Return a zone of the IANA list, or None; letter case and blanks may differ."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return _zones_by_folded_name().get(name.casefold().replace(" ", "_"))
    return name


@cache
def _zones_by_folded_name() -> dict[str, str]:
    return {name.casefold(): name for name in sorted(available_timezones())}
