"""``feed_info.txt``: who published the feed, in which language, and which version it is."""

from typing import NamedTuple

from fingerpost.transit.gtfs.archive import Archive

# GTFS, feed_lang: the texts are in several languages.
_MANY_LANGUAGES = "mul"


class FeedInfo(NamedTuple):
    """What the feed says of itself; empty where it does not."""

    publisher: str = ""
    language: str = ""
    version: str = ""


def read_feed_info(archive: Archive) -> FeedInfo:
    """Read the first row, or nothing where the table is absent or empty."""
    table = archive.find_table("feed_info.txt")
    if table is None:
        return FeedInfo()
    for _, (publisher, language, version) in table.rows("feed_publisher_name", "feed_lang", "feed_version"):
        return FeedInfo(publisher, language, version)
    return FeedInfo()


def find_primary_language(tag: str) -> str | None:
    """Return the primary subtag of a BCP 47 tag in lower case, or None where it names no one language."""
    subtag = tag.replace("_", "-").partition("-")[0].lower()
    return subtag if subtag.isalpha() and subtag != _MANY_LANGUAGES else None
