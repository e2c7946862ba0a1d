"""The report of an import."""

from datetime import date

import pytest

from fingerpost.transit.engine.gtfs.report import FeedReport, ImportReport
from tests.gtfs.importing import import_text


def test_counts_and_unread_tables(tmp_path):
    """A report counts what came in, bounds its days, and names the tables that were not read."""
    report = import_text(
        tmp_path,
        {
            "frequencies.txt": "trip_id,start_time,end_time,headway_secs\nA-1,08:00:00,09:00:00,600\n",
            "booking_rules.txt": "booking_rule_id\n",
            "locations.geojson": "{}",
            "README.md": "hello",
        },
    ).report

    assert report == ImportReport(
        network="TEST",
        feeds=(
            FeedReport(
                feed="TEST",
                source="feed",
                stops=3,
                routes=1,
                trips=1,
                runs=6,
                events=3,
                first_day=date(2026, 1, 1),
                last_day=date(2026, 12, 31),
                zone="Europe/Helsinki",
                tables_not_read=("booking_rules.txt", "locations.geojson"),
            ),
        ),
    )


def test_service_that_thins_out(tmp_path):
    """One of three trips goes on for years: the report says until when at least half of them run."""
    drawing = "line A | Alpha 08:00 | Beta 08:10\n" * 3
    weekdays = "monday,tuesday,wednesday,thursday,friday,saturday,sunday"
    tables = {
        "trips.txt": "route_id,service_id,trip_id\nA,SHORT,A-1\nA,SHORT,A-2\nA,LONG,A-3\n",
        "calendar.txt": f"service_id,{weekdays},start_date,end_date\n"
        "SHORT,1,1,1,1,1,0,0,20260105,20260227\nLONG,1,1,1,1,1,1,1,20260105,20590101\n",
    }
    feed = import_text(tmp_path, tables, drawing).report.feeds[0]

    assert (feed.last_day, feed.full_until) == (date(2059, 1, 1), date(2026, 2, 27))


def test_json_round_trip(tmp_path):
    """A report survives JSON, findings included."""
    report = import_text(tmp_path, {"shapes.txt": "shape_id,länge\nS,1\n"}).report

    assert report.feeds[0].findings
    assert ImportReport.from_json(report.to_json()) == report


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"network":"N","feeds":[{}]}', '{"network":"N","feeds":3}'])
def test_what_is_no_report(text):
    """Anything else is refused as a value."""
    with pytest.raises(ValueError):  # noqa: PT011  # the promise is the type; json has words of its own
        ImportReport.from_json(text)
