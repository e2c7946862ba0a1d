"""The import report."""

from datetime import date

import pytest

from fingerpost.errors import FeedUnusable
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.gtfs.report import FeedReport, ImportReport
from tests.feeds import feed_from_drawing, write_feed
from tests.gtfs.importing import ONE_LINE, findings_of, import_text


def test_a_report_counts_rows_and_names_unread_tables(tmp_path):
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
                stops=3,
                routes=1,
                trips=1,
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
                "stops.txt": "stop_id,stop_lat,stop_lon,stop_name,stop_timezone\nALPHA,60.17,24.94,A,Europe/Mariehamn\n"
                "BETA,60.17,24.95,B,Europe/Stockholm\nGAMMA,60.17,24.96,G,\n"
            },
            [("stop-zone-unapplied", 1, "stops.txt", 3)],
            id="a stop whose zone has other times than the agency's, and one whose zone has the same",
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
            {"shapes.txt": "shape_id,shape_pt_lat,shape_dist_traveled\nS,60.3,1\n"},
            [("table-without-column", 1, "shapes.txt", 1)],
            id="shapes that lack a column, once, though they are looked into for distances before their turn",
        ),
    ],
)
def test_unused_and_guessed_values_are_counted(tmp_path, tables, findings):
    assert findings_of(import_text(tmp_path, tables)) == findings


INCOMPLETE = "Check that this is a GTFS feed, and ask its publisher for a complete one"
NO_COLUMN = "feed: {}, which GTFS requires. Ask the publisher for a complete feed"
NO_TRIPS = "feed has no usable trips on any day: {}. Ask its publisher for a complete feed"
NO_ZONE = (
    "feed: agency.txt {}, so the feed has no valid IANA time zone. Correct the table, or give the time zone with --zone"
)
WEEKDAYS = "monday,tuesday,wednesday,thursday,friday,saturday,sunday"


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        *(
            ({f"{name}.txt": None}, f"feed has no {name}.txt, which GTFS requires. {INCOMPLETE}")
            for name in ("agency", "stops", "routes", "trips", "stop_times")
        ),
        (
            {"calendar.txt": None},
            f"feed has neither calendar.txt nor calendar_dates.txt, so its service days are unknown. {INCOMPLETE}",
        ),
        ({"routes.txt": "route_short_name,route_type\nA,3\n"}, NO_COLUMN.format("routes.txt has no column route_id")),
        (
            {"routes.txt": "route_id;route_type\nA;3\n"},
            (
                "feed: routes.txt has no column route_id, which GTFS requires. "
                "Check that the file is in UTF-8, and that commas separate its columns"
            ),
        ),
        *(
            ({"agency.txt": f"agency_name,agency_timezone\n{row}"}, NO_ZONE.format(problem))
            for row, problem in (
                ("HSL,Europe/Helsinky\n", "line 2: agency_timezone is 'Europe/Helsinky'"),
                ("HSL,../etc/passwd\n", "line 2: agency_timezone is '../etc/passwd'"),
                ("", "has no rows"),
            )
        ),
        # All days are taken away.
        (
            {
                "calendar.txt": f"service_id,{WEEKDAYS},start_date,end_date\nALL,1,1,1,1,1,1,1,20260302,20260302\n",
                "calendar_dates.txt": "service_id,date,exception_type\nALL,20260302,2\n",
            },
            NO_TRIPS.format("1 service-without-days (these trips never run), first in calendar.txt line 2"),
        ),
        (
            {"routes.txt": "route_id,route_type\nB,3\n"},
            NO_TRIPS.format(
                "1 trip-without-route (the trip's route is not in the feed), first in trips.txt line 2; "
                "3 call-of-skipped-trip (a stop time for a skipped trip), first in "
                "stop_times.txt line 2"
            ),
        ),
        # Nothing but headers.
        (
            {
                "stops.txt": "stop_id\n",
                "routes.txt": "route_id,route_type\n",
                "trips.txt": "trip_id,route_id,service_id\n",
                "stop_times.txt": "trip_id,stop_id,stop_sequence,arrival_time,departure_time\n",
                "calendar.txt": None,
                "calendar_dates.txt": "service_id,date,exception_type\n",
            },
            NO_TRIPS.format("its tables are empty"),
        ),
    ],
)
def test_an_unusable_feed_is_reported_with_the_reason(tmp_path, tables, message):
    with pytest.raises(FeedUnusable) as caught:
        import_text(tmp_path, tables)

    assert f"{caught.value.message}. {caught.value.hint}" == message


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
def test_a_report_states_when_most_of_the_service_has_ended(tmp_path, extra, extra_days, days, thin_after):
    tables = {
        "trips.txt": "route_id,service_id,trip_id\nA,DAILY,A-1\n"
        + "".join(f"A,EXTRA,A-{number}\n" for number in range(2, extra + 2)),
        "calendar.txt": f"service_id,{WEEKDAYS},start_date,end_date\n"
        f"EXTRA,1,1,1,1,1,0,0,{extra_days}\nDAILY,1,1,1,1,1,1,1,{days}\n",
    }
    drawing = "line A | Alpha 08:00 | Beta 08:10\n" * (extra + 1)

    assert import_text(tmp_path, tables, drawing).report.feeds[0].thin_after == thin_after


def test_a_report_survives_json_with_its_findings(tmp_path):
    report = import_text(tmp_path, {"shapes.txt": "shape_id,länge\nS,1\n"}).report

    assert report.feeds[0].findings
    assert ImportReport.from_json(report.to_json()) == report


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"network":"N","feeds":[{}]}', '{"network":"N","feeds":3}'])
def test_a_text_that_is_not_a_report_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011  # the promise is the type; json has words of its own
        ImportReport.from_json(text)


def test_progress_goes_from_zero_to_the_bytes_of_each_feed(tmp_path):
    feed = feed_from_drawing(ONE_LINE)
    sources = [FeedSource(write_feed(tmp_path / f"{name}.zip", feed | {"README": "x" * 99})) for name in "ab"]
    told = []
    import_feeds("net", sources, progress=lambda what, done, whole: told.append((what, done, whole)))

    steps = list(dict.fromkeys(what for what, _, _ in told))
    size = sum(map(len, feed.values()))
    assert steps == ["NET", "NET-B", "linking stops"]
    for step, whole in zip(steps, (size, size, 1), strict=True):
        done = [at for what, at, _ in told if what == step]
        assert (done[0], done[-1], done) == (0, whole, sorted(done))
        assert {most for what, _, most in told if what == step} == {whole}
