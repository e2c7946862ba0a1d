"""agency.txt and feed_info.txt: zone, names and language."""

import pytest

from fingerpost.transit.engine.gtfs.feed_info import has_same_times
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from tests.feeds import feed_from_drawing, write_feed
from tests.gtfs.importing import ONE_LINE, findings_of, import_text


def feed_of(tmp_path, agency, feed_info=None):
    return import_text(tmp_path, {"agency.txt": agency, "feed_info.txt": feed_info}).timetable.feeds[0]


def test_agencies_are_named_once_and_share_a_zone(tmp_path):
    feed = feed_of(tmp_path, "agency_name,agency_timezone\nHSL,Europe/Helsinki\nVR,Europe/Helsinki\n")

    assert (feed.name, feed.zone, feed.agencies, feed.source) == ("TEST", "Europe/Helsinki", ("HSL", "VR"), "feed")


def test_the_first_known_zone_applies_to_all_agencies(tmp_path):
    agencies = "agency_name,agency_timezone\nX,Nowhere\nHSL,Europe/Helsinki\nSL,Europe/Stockholm\n"
    imported = import_text(tmp_path, {"agency.txt": agencies})

    assert imported.timetable.feeds[0].zone == "Europe/Helsinki"
    assert findings_of(imported) == [
        ("zone-unknown-assumed", 1, "agency.txt", 2),
        ("zone-of-other-agency-assumed", 1, "agency.txt", 4),
    ]


@pytest.mark.parametrize(
    ("agency_langs", "feed_lang", "language"),
    [
        (["sv"], "fi", "fi"),
        (["en"], "fr-CA", "fr"),
        (["SV-FI"], "", "sv"),
        (["sv", "fi"], "", None),
        (["sv"], "mul", None),
    ],
)
def test_the_language_of_the_feed_wins_over_its_agencies(tmp_path, agency_langs, feed_lang, language):
    rows = "".join(f"A{n},Europe/Helsinki,{lang}\n" for n, lang in enumerate(agency_langs))
    info = f"feed_publisher_name,feed_lang\nHSL,{feed_lang}\n"

    assert feed_of(tmp_path, f"agency_name,agency_timezone,agency_lang\n{rows}", info).language == language


def test_publisher_and_version_are_of_the_first_row(tmp_path):
    agency = "agency_name,agency_timezone\nHSL,Europe/Helsinki\n"
    infos = ("feed_publisher_name,feed_version\nHSL oy,7b\nVR,8\n", None, "feed_publisher_name,feed_version\n")
    feeds = [feed_of(tmp_path / str(number), agency, info) for number, info in enumerate(infos)]

    assert [(feed.publisher, feed.version) for feed in feeds] == [("HSL oy", "7b"), (None, None), (None, None)]


def test_a_feed_without_a_zone_uses_that_of_the_network(tmp_path):
    tables = ("agency_name\nHSL\n", "agency_name,agency_timezone\nHSL,EET2\n", "agency_name\n")
    feeds = [feed_from_drawing(ONE_LINE) | {"agency.txt": table} for table in tables]
    sources = [FeedSource(write_feed(tmp_path / str(row), feed), str(row)) for row, feed in enumerate(feeds)]
    imported = import_feeds("net", sources, zone="Europe/Helsinki")

    assert [feed.zone for feed in imported.timetable.feeds] == ["Europe/Helsinki"] * 3


def test_a_feed_in_another_zone_than_the_first_is_reported(tmp_path):
    feeds = [feed_from_drawing(ONE_LINE, zone=f"Europe/{city}") for city in ("Helsinki", "Athens", "Stockholm")]
    sources = [FeedSource(write_feed(tmp_path / str(row), feed), str(row)) for row, feed in enumerate(feeds)]
    reports = import_feeds("net", sources).report.feeds

    reasons = [[finding.reason for finding in report.findings] for report in reports]
    assert reasons == [[], [], ["zone-of-other-feed-unapplied"]]


def test_zones_are_one_if_their_clocks_agree_every_day():
    """The clocks of Jerusalem change two days before those of Athens."""
    assert has_same_times("America/Indiana/Indianapolis", "America/New_York")
    assert not has_same_times("Asia/Jerusalem", "Europe/Athens")
