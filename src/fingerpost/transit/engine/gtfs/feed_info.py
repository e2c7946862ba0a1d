"""``feed_info.txt`` and ``attributions.txt``: who published the feed, and whom an answer must name."""

from typing import NamedTuple

from fingerpost.transit.engine.gtfs.csv import Archive

# GTFS, feed_lang: the texts are in several languages.
_MANY_LANGUAGES = "mul"
_ROLES = (("is_producer", "producer"), ("is_operator", "operator"), ("is_authority", "authority"))
# A credit is a line, and a feed has a handful.
_LONGEST_CREDIT = 300
_MOST_CREDITS = 20


class FeedInfo(NamedTuple):
    """What the feed says of itself; empty where it does not."""

    publisher: str = ""
    publisher_url: str = ""
    language: str = ""
    default_language: str = ""
    version: str = ""


def read_feed_info(archive: Archive) -> FeedInfo:
    """Read the first row, or nothing where the table is absent or empty."""
    table = archive.find_extra("feed_info.txt")
    if table is None:
        return FeedInfo()
    columns = ("feed_publisher_name", "feed_publisher_url", "feed_lang", "default_lang", "feed_version")
    for _, fields in table.rows(*columns):
        return FeedInfo(*fields)
    return FeedInfo()


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
