"""The verdict of an import report, and the explanations of its terms."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from fingerpost.apps.cli.network_add import list_verdict_lines, print_report
from fingerpost.transit.engine.gtfs.csv.findings import Finding, FindingKind, FindingPlace, Reason, find_meaning
from fingerpost.transit.engine.gtfs.report import FeedReport, ImportReport

FIRST, LAST = date(2026, 3, 1), date(2026, 3, 31)


def a_feed(*findings, name="TOWN"):
    place = (FindingPlace(table="trips.txt", line=2),)
    found = tuple(Finding(reason=reason, count=count, places=place) for reason, count in findings)
    counts = {"stops": 3, "routes": 1, "trips": 9, "events": 27}
    return FeedReport(feed=name, first_day=FIRST, last_day=LAST, findings=found, **counts)


def verdict_on(*feeds, today=FIRST):
    return list_verdict_lines(ImportReport(network="TOWN", feeds=feeds), today)


@pytest.mark.parametrize(
    ("findings", "observed"),
    [
        ([], "TOWN is usable, 2026-03-01 to 2026-03-31."),
        ([("call-time-worked-out", 2)], "TOWN is usable, 2026-03-01 to 2026-03-31."),
        ([("service-without-days", 5)], "TOWN is usable, 2026-03-01 to 2026-03-31."),
        ([("trip-without-route", 2), ("trip-runs-backwards", 4)], "TOWN is partly usable, 2026-03-01 to 2026-03-31."),
    ],
)
def test_the_first_line_is_the_verdict(findings, observed):
    assert verdict_on(a_feed(*findings)) == [observed]


@pytest.mark.parametrize(
    ("today", "verdict"),
    [
        (FIRST - timedelta(days=1), "not usable today"),
        (FIRST, "usable"),
        (LAST, "usable"),
        (LAST + timedelta(days=1), "not usable today"),
    ],
)
def test_a_network_without_service_today_is_not_usable_today(today, verdict):
    line = verdict_on(a_feed(), today=today)[0]
    assert line.startswith(f"TOWN is {verdict},")


def test_a_network_with_one_feed_out_is_partly_usable():
    running = replace(a_feed(), last_day=date(2026, 4, 30))
    lines = verdict_on(running, a_feed(name="OLD"), today=date(2026, 4, 1))
    assert lines == [
        "TOWN is partly usable, 2026-03-01 to 2026-04-30.",
        (
            "A feed whose service has ended can be used only for the dates that it covers. "
            "When its publisher has a newer feed, run `fingerpost network refresh TOWN`."
        ),
    ]


def test_a_network_that_thinned_out_is_partly_usable():
    """From the day after the last on which at least a quarter of its trips run."""
    thin = replace(a_feed(), thin_after=FIRST)
    assert verdict_on(thin)[0].startswith("TOWN is usable, ")
    assert verdict_on(thin, today=LAST)[0].startswith("TOWN is partly usable, ")


def test_every_finding_is_explained():
    for reason in Reason:
        assert find_meaning(reason.code) is reason
        if reason.code.endswith(("-unapplied", "-unsupported")):
            assert reason.kind in (FindingKind.NOT_USED, FindingKind.WITHOUT_EFFECT), reason
        elif reason.code.endswith(("-assumed", "-worked-out")):
            assert reason.kind is FindingKind.GUESSED, reason
        else:
            assert reason.kind in (FindingKind.LEFT_OUT, FindingKind.WITHOUT_EFFECT), reason


def test_a_report_explains_each_finding(capsys):
    feeds = (a_feed(("trip-without-route", 1), name="A"), a_feed(("trip-without-route", 2), name="B"))
    print_report(ImportReport(network="TOWN", feeds=feeds))
    printed = capsys.readouterr().out

    for count in (1, 2):
        place = "(trips.txt, line 2)"
        line = f"  left out: {count} trip-without-route {place}: the trip's route is not in the feed.\n"
        assert printed.count(line) == 1
