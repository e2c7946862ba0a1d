"""Print an import report: what was imported, and what was left out and why."""

from datetime import date

from fingerpost.apps.cli.output import new_console
from fingerpost.apps.cli.place_views import new_table
from fingerpost.apps.cli.wire_times import today_in
from fingerpost.transit.coverage import ServiceState
from fingerpost.transit.gtfs.report import FeedReport, Finding, ImportReport
from fingerpost.transit.timetable.street_coverage import StreetCoverage

_GLOSSARY = (
    "A finding is a row, or a value, that was left out or read otherwise than the feed wrote it; all else is as it "
    "wrote it. A call is one stop of one trip."
)


def print_report(report: ImportReport) -> None:
    """Print the report of an import."""
    console = new_console()
    today = today_in(report.feeds[0].zone)
    for line in _list_heads(report, today):
        console.print(line, soft_wrap=True)
    for feed in report.feeds:
        days = f"{feed.first_day} to {feed.last_day}, {feed.service.say_state_on(today)}"
        console.print(f"{feed.feed}: {days}; {counts_of(feed)}", soft_wrap=True)
        if feed.findings:
            table = new_table("not as the feed wrote it", "count", "first at")
            for finding in feed.findings:
                table.add_row(finding.reason, f"{finding.count:,}", _place_of(finding))
            console.print(table)
        if feed.tables_not_read:
            console.print(f"Not read: {', '.join(feed.tables_not_read)}")
    if any(feed.findings for feed in report.feeds):
        console.print(_GLOSSARY, soft_wrap=True)
    if report.streets is not None:
        console.print(_say_streets(report.streets), soft_wrap=True)


def _list_heads(report: ImportReport, today: date) -> list[str]:
    """Return whether a network is ready to answer today, which of its feeds are not, and what to do about it."""
    out = [feed for feed in report.feeds if feed.service.state_on(today) is not ServiceState.IN_SERVICE]
    if not out:
        return [f"{report.network} is ready: {days_of(report)}"]
    named = ", ".join(f"{feed.feed} ({feed.service.say_state_on(today)})" for feed in out)
    if len(out) < len(report.feeds):
        feeds = f"{len(report.feeds) - len(out)} of {len(report.feeds)} feeds"
        lines = [f"{report.network} answers from {feeds} today, {today}. Without service: {named}."]
    else:
        lines = [f"{report.network} is imported, but has no service today, {today}: {named}."]
    if any(feed.service.state_on(today) is ServiceState.ENDED for feed in out):
        lines.append(
            "A feed that has ended answers for its own days only. When its publisher has a newer one, run "
            f"`fingerpost network refresh {report.network}`."
        )
    return lines


def _say_streets(streets: StreetCoverage) -> str:
    """Return what an extract gives a network."""
    covered = (
        f"all {streets.stops:,} stops"
        if streets.is_whole
        else f"{streets.covered_stops:,} of {streets.stops:,} stops; walks at the others go in a straight line"
    )
    text = f"Streets of {streets.extract}: {streets.street_km:,.0f} km on foot around {covered}"
    if streets.matched_stops:
        text += f"; {streets.matched_stops:,} stops stand where the map has them"
    if streets.entered_stops:
        text += f"; {streets.entered_stops:,} platforms are entered by the entrances of their stations"
    if streets.left_out_km:
        text += f"; {streets.left_out_km:,.0f} km left out, which no other street leads to"
    return f"{text}. © OpenStreetMap contributors, ODbL."


def _place_of(finding: Finding) -> str:
    """Return ``table:line`` of a finding's first occurrence, the table alone where it concerns all of it."""
    parts = (finding.table, f"line {finding.line}" if finding.line else "", finding.column)
    return ", ".join(part for part in parts if part)


def days_of(report: ImportReport) -> str:
    """Return the days on which any feed of a network has trips."""
    return f"{min(feed.first_day for feed in report.feeds)} to {max(feed.last_day for feed in report.feeds)}"


def counts_of(feed: FeedReport) -> str:
    """Return how much a feed brought in."""
    left_out = sum(finding.count for finding in feed.findings)
    counted = f"{feed.stops:,} stops, {feed.routes:,} routes, {feed.trips:,} trips, {feed.events:,} calls"
    if feed.in_seat:
        counted += f", {feed.in_seat:,} in-seat transfers"
    if feed.narrow_transfers:
        counted += f", {feed.narrow_transfers:,} changes of single trips or routes"
    return f"{counted}; {left_out:,} findings" if left_out else f"{counted}; nothing left out"
