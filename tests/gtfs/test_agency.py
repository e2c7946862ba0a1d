"""agency.txt and feed_info.txt: zone, names and language."""

import pytest

from tests.gtfs.importing import findings_of, import_text


def feed_of(tmp_path, agency, feed_info=None):
    return import_text(tmp_path, {"agency.txt": agency, "feed_info.txt": feed_info}).timetable.feeds[0]


def test_agencies_and_zone(tmp_path):
    """All agencies are named once, in order; the zone is the one that they share."""
    feed = feed_of(tmp_path, "agency_name,agency_timezone\nHSL,Europe/Helsinki\nVR,Europe/Helsinki\n")

    assert (feed.name, feed.zone, feed.agencies, feed.source) == ("TEST", "Europe/Helsinki", ("HSL", "VR"), "feed")


def test_two_zones(tmp_path):
    """Agencies must share a zone: the first that is known is taken for all, and the others are counted."""
    imported = import_text(
        tmp_path,
        {"agency.txt": "agency_name,agency_timezone\nX,Nowhere\nHSL,europe/helsinki\nSL,Europe/Stockholm\n"},
    )

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
def test_language(tmp_path, agency_langs, feed_lang, language):
    """The feed's language wins over the agencies'; several languages are no language."""
    rows = "".join(f"A{n},Europe/Helsinki,{lang}\n" for n, lang in enumerate(agency_langs))
    feed = feed_of(
        tmp_path,
        f"agency_name,agency_timezone,agency_lang\n{rows}",
        f"feed_publisher_name,feed_lang\nHSL,{feed_lang}\n",
    )

    assert feed.language == language


def test_feed_info(tmp_path):
    """Publisher and version are the first row's; a feed without the table has none."""
    agency = "agency_name,agency_timezone\nHSL,Europe/Helsinki\n"
    told = feed_of(tmp_path / "1", agency, "feed_publisher_name,feed_lang,feed_version\nHSL oy,fi,7b\n")
    silent = feed_of(tmp_path / "2", agency)
    empty = feed_of(tmp_path / "3", agency, "feed_publisher_name,feed_version\n")

    assert [(feed.publisher, feed.version) for feed in (told, silent, empty)] == [
        ("HSL oy", "7b"),
        (None, None),
        (None, None),
    ]
