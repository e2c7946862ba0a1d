"""``agency.txt``: who runs the trips, and in which zone their times are told."""

from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fingerpost.errors import FeedUnusable
from fingerpost.transit.gtfs.archive import Archive


class Agencies(NamedTuple):
    """All agencies of a feed. ``language`` is empty where they name none, or not the same; so may an id be."""

    zone: str
    names: tuple[str, ...]
    language: str
    ids: tuple[str, ...]


def read_agencies(archive: Archive) -> Agencies:
    """Read the agencies.

    Raises:
        FeedUnusable: there is none, or their zones differ or are unknown (all must share one: GTFS, agency_timezone).
    """
    table = archive.get_table("agency.txt", "agency_name", "agency_timezone")
    names: list[str] = []
    ids: list[str] = []
    languages: set[str] = set()
    zone = ""
    columns = ("agency_id", "agency_name", "agency_timezone", "agency_lang")
    for line, (agency_id, name, agency_zone, language) in table.rows(*columns):
        if not _is_zone(agency_zone):
            raise table.fault(line, "agency_timezone", agency_zone, "a time zone of the IANA list")
        zone = zone or agency_zone
        if agency_zone != zone:
            raise table.fault(line, "agency_timezone", agency_zone, f"{zone}, the zone of the first agency")
        if name and name not in names:
            names.append(name)
        languages.add(language)
        ids.append(agency_id)
    if not zone:
        raise FeedUnusable(f"{archive.name}: agency.txt has no rows, so no time zone is known. Add the agency.")
    languages.discard("")
    return Agencies(zone, tuple(names), languages.pop() if len(languages) == 1 else "", tuple(ids))


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
