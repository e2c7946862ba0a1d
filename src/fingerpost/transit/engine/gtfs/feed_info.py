"""Read GTFS ``agency.txt``, ``feed_info.txt`` and ``attributions.txt``: time zone, language and credits."""

from datetime import datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from fingerpost.clock import is_zone
from fingerpost.errors import FeedUnusable
from fingerpost.transit.engine.gtfs.csv.archive import Archive
from fingerpost.transit.engine.gtfs.csv.findings import Reason
from fingerpost.transit.engine.timetable.timetable import Feed

# The feed_lang of multilingual GTFS feeds.
_MANY_LANGUAGES = "mul"
# Limits on the characters in a credit, and on the number of credits in a feed.
_MAX_CREDIT_CHARS = 300
_MAX_CREDITS = 20


def read_feed_info(archive: Archive, name: str, default_zone: str | None) -> Feed:
    """Return the feed called ``name``; the language in feed_info.txt overrides that of the agencies."""
    zone, ids, agencies, agency_language = _read_agencies(archive, default_zone)
    table = archive.find_optional_table("feed_info.txt")
    columns = ("feed_publisher_name", "feed_publisher_url", "feed_lang", "default_lang", "feed_version")
    rows = () if table is None else table.read_rows(*columns)
    publisher, url, language, default_language, version = next((fields for _, fields in rows), ("",) * len(columns))
    publisher_credit = " ".join(filter(None, (publisher, url)))
    return Feed(
        name=name,
        zone=zone,
        language=find_primary_language(default_language or language or agency_language),
        agencies=tuple(dict.fromkeys(filter(None, agencies))),
        agency_ids=ids,
        publisher=publisher or None,
        version=version or None,
        source=archive.name,
        licences=tuple(dict.fromkeys(filter(None, (publisher_credit, *_read_credits(archive))))),
    )


def _read_agencies(archive: Archive, default_zone: str | None) -> tuple[str, tuple[str, ...], tuple[str, ...], str]:
    """Return the time zone, the agencies' ids and names, and their language (empty if they have several).

    The first valid time zone is used for all agencies (GTFS, agency_timezone).
    """
    table = archive.get_table("agency.txt", *(() if default_zone else ("agency_timezone",)))
    rows = list(table.read_rows("agency_id", "agency_name", "agency_timezone", "agency_lang"))
    zone = ""
    for line, (_, _, zone_text, _) in rows:
        if not is_zone(zone_text):
            table.note(Reason.ZONE_UNKNOWN_ASSUMED, line, "agency_timezone")
        elif not zone:
            zone = zone_text
        elif not has_same_times(zone_text, zone):
            table.note(Reason.ZONE_OF_OTHER_AGENCY_ASSUMED, line, "agency_timezone")
    zone = zone or default_zone or ""
    if not zone:
        line = rows[0][0] if rows else 0
        fault = f"line {line}: agency_timezone is {rows[0][1][2]!r}" if rows else "has no rows"
        raise FeedUnusable(
            f"{archive.name}: agency.txt {fault}, so the feed has no valid IANA time zone",
            {"file": archive.name, "table": "agency.txt", "line": line, "column": "agency_timezone"},
            hint="Correct the table, or give the time zone with --zone",
        )
    ids, names, _, languages = zip(*(fields for _, fields in rows), strict=True) if rows else ((), (), (), ())
    distinct_languages = set(filter(None, languages))
    language = distinct_languages.pop() if len(distinct_languages) == 1 else ""
    return zone, ids, names, language


@cache
def has_same_times(zone_text: str, zone: str) -> bool:
    """Whether two time zones agree all year, as America/Indiana/Indianapolis and America/New_York do."""
    if not is_zone(zone_text):
        return False
    first, second = ZoneInfo(zone), ZoneInfo(zone_text)
    # Check every day, because Athens and Jerusalem change their clocks in the same months but on different days.
    noons = [datetime(year, 1, 1, 12, tzinfo=first) + timedelta(day) for year in (2015, 2025) for day in range(365)]
    return all(noon.utcoffset() == noon.replace(tzinfo=second).utcoffset() for noon in noons)


def _read_credits(archive: Archive) -> tuple[str, ...]:
    """Return organisations' names and URLs from ``attributions.txt``, including credits for one route or trip."""
    table = archive.find_optional_table("attributions.txt", "organization_name")
    if table is None:
        return ()
    lines: dict[str, None] = {}
    for _, (name, url) in table.read_rows("organization_name", "attribution_url"):
        if name and len(lines) < _MAX_CREDITS:
            lines[f"{name} {url}".strip()[:_MAX_CREDIT_CHARS]] = None
    return tuple(lines)


def find_primary_language(tag: str) -> str | None:
    """Return a BCP 47 tag's primary subtag in lower case, or None if it does not name a single language."""
    subtag = tag.replace("_", "-").partition("-")[0].lower()
    return subtag if subtag.isalpha() and subtag != _MANY_LANGUAGES else None
