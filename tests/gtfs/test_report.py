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


@pytest.mark.parametrize(
    ("extra", "extra_days", "days", "thin_after"),
    [
        # One trip of six goes on for years.
        (5, "20260105,20260227", "20260105,20590101", date(2026, 2, 27)),
        # A week of extra trips, a season, a single day: the rest of the service is no remnant.
        (5, "20260601,20260605", "20260105,20261231", None),
        (2, "20260601,20260831", "20260105,20261231", None),
        (1, "20260601,20260601", "20260601,20260601", None),
    ],
)
def test_service_that_thins_out(tmp_path, extra, extra_days, days, thin_after):
    """A trip each day, and extra ones on weekdays: the report says when most of the service has ended."""
    weekdays = "monday,tuesday,wednesday,thursday,friday,saturday,sunday"
    tables = {
        "trips.txt": "route_id,service_id,trip_id\nA,DAILY,A-1\n"
        + "".join(f"A,EXTRA,A-{number}\n" for number in range(2, extra + 2)),
        "calendar.txt": f"service_id,{weekdays},start_date,end_date\n"
        f"EXTRA,1,1,1,1,1,0,0,{extra_days}\nDAILY,1,1,1,1,1,1,1,{days}\n",
    }
    drawing = "line A | Alpha 08:00 | Beta 08:10\n" * (extra + 1)

    assert import_text(tmp_path, tables, drawing).report.feeds[0].thin_after == thin_after


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
