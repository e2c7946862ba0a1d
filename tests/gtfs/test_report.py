"""The report of an import."""

from datetime import date

import pytest

from fingerpost.testing.feeds import feed_from_drawing, write_feed
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.gtfs.report import FeedReport, ImportReport
from tests.gtfs.importing import ONE_LINE, findings_of, import_text


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


STATION = (
    "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\n"
    "ALPHA,A,60.17,24.94,0,\nBETA,B,60.17,24.98,0,\nGAMMA,G,60.17,25,0,\nC,C,60.1,24.9,1,\n"
    "P1,P1,60.1,24.9,0,C\nP2,P2,60.1001,24.9,0,C\nE,E,60.1,24.9,2,C\nN,,60.1,24.9,3,C\n"
)
PATHWAYS = "pathway_id,from_stop_id,to_stop_id,pathway_mode,is_bidirectional,traversal_time,length\n"


@pytest.mark.parametrize(
    ("tables", "findings"),
    [
        pytest.param(
            {
                "stops.txt": "stop_id,stop_lat,stop_lon,stop_name,stop_timezone\nALPHA,60.17,24.94,A,Europe/Helsinki\n"
                "BETA,60.17,24.95,B,Europe/Stockholm\nGAMMA,60.17,24.96,G,\n"
            },
            [("stop-zone-unapplied", 1, "stops.txt", 3)],
            id="a stop in another time zone than the agency's",
        ),
        pytest.param(
            {"pathways.txt": PATHWAYS + "1,ALPHA,X,1,1,,\n2,ALPHA,BETA,9,1,,\n"},
            [("pathway-at-unknown-stop", 1, "pathways.txt", 2), ("pathway-unreadable", 1, "pathways.txt", 3)],
            id="pathways of unknown places or kinds",
        ),
        pytest.param(
            {"stops.txt": STATION, "pathways.txt": PATHWAYS + "1,P1,P2,2,1,,20\n2,E,N,6,1,,\n"},
            [("pathway-without-time-unapplied", 1, "pathways.txt", 2)],
            id="stairs without a time, but no gate",
        ),
        pytest.param(
            {"shapes.txt": "shape_id;shape_pt_lat;shape_dist_traveled\nS;60.3;1\n"},
            [("table-without-column", 1, "shapes.txt", 1), ("table-delimiter-assumed", 1, "shapes.txt", 1)],
            id="shapes that lack a column, once, though they are looked into for distances before their turn",
        ),
    ],
)
def test_what_is_not_used_or_guessed_is_counted(tmp_path, tables, findings):
    """By reason, with how often, and where first."""
    assert findings_of(import_text(tmp_path, tables)) == findings


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


def test_progress(tmp_path):
    """Each feed goes from nothing to the bytes of its tables, never back; linking the stops comes last."""
    feed = feed_from_drawing(ONE_LINE)
    sources = [FeedSource(write_feed(tmp_path / f"{name}.zip", feed | {"README": "x" * 99})) for name in "ab"]
    told = []
    import_feeds("net", sources, progress=lambda what, done, whole: told.append((what, done, whole)))

    steps = list(dict.fromkeys(what for what, _, _ in told))
    size = sum(map(len, feed.values()))
    assert steps == ["NET-A", "NET-B", "linking stops"]
    for step, whole in zip(steps, (size, size, 1), strict=True):
        done = [at for what, at, _ in told if what == step]
        assert (done[0], done[-1], done) == (0, whole, sorted(done))
        assert {most for what, _, most in told if what == step} == {whole}
