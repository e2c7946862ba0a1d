"""agency.txt and feed_info.txt: who publishes a feed, and in which zone and language."""

from functools import cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from fingerpost.errors import FeedUnusable
from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.findings import Reason


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
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return _zones_by_folded_name().get(name.casefold().replace(" ", "_"))
    return name


@cache
def _zones_by_folded_name() -> dict[str, str]:
    return {name.casefold(): name for name in sorted(available_timezones())}


# GTFS, feed_lang: the texts are in several languages.
_MANY_LANGUAGES = "mul"
_ROLES = (("is_producer", "producer"), ("is_operator", "operator"), ("is_authority", "authority"))
# A credit is a line, and a feed has a handful.
_LONGEST_CREDIT = 300
_MOST_CREDITS = 20


class FeedInfo(NamedTuple):
    publisher: str = ""
    publisher_url: str = ""
    language: str = ""
    default_language: str = ""
    version: str = ""


def read_feed_info(archive: Archive) -> FeedInfo:
    table = archive.find_extra("feed_info.txt")
    if table is None:
        return FeedInfo()
    columns = ("feed_publisher_name", "feed_publisher_url", "feed_lang", "default_lang", "feed_version")
    return next((FeedInfo(*fields) for _, fields in table.rows(*columns)), FeedInfo())


def read_credits(archive: Archive) -> tuple[str, ...]:
    """Return a line for each organisation of ``attributions.txt``: its name, its roles, its address.

    A row for one route, trip or agency counts for the whole feed: a credit too many harms nobody.
    """
    table = archive.find_extra("attributions.txt", "organization_name")
    if table is None:
        return ()
    lines: dict[str, None] = {}
    names = [column for column, _ in _ROLES]
    for _, (name, url, *marks) in table.rows("organization_name", "attribution_url", *names):
        if name and len(lines) < _MOST_CREDITS:
            roles = ", ".join(role for (_, role), mark in zip(_ROLES, marks, strict=True) if mark == "1")
            line = " ".join(filter(None, (name, f"({roles})" if roles else "", url)))
            lines[line[:_LONGEST_CREDIT]] = None
    return tuple(lines)


def find_primary_language(tag: str) -> str | None:
    """Return the primary subtag of a BCP 47 tag in lower case, or None where it names no one language."""
    subtag = tag.replace("_", "-").partition("-")[0].lower()
    return subtag if subtag.isalpha() and subtag != _MANY_LANGUAGES else None
