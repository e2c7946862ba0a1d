"""What an import took over and left out, as a person wants to read it."""

from fingerpost.apps.cli.output import new_console
from fingerpost.apps.cli.place_views import new_table
from fingerpost.transit.gtfs.report import FeedReport, Finding, ImportReport


def print_report(report: ImportReport) -> None:
    """Print the report of an import."""
    console = new_console()
    console.print(f"{report.network} is ready: {days_of(report)}")
    for feed in report.feeds:
        console.print(f"{feed.feed}: {counts_of(feed)}")
        if feed.findings:
            table = new_table("not as the feed wrote it", "count", "first at")
            for finding in feed.findings:
                table.add_row(finding.reason, f"{finding.count:,}", _place_of(finding))
            console.print(table)
        if feed.tables_not_read:
            console.print(f"Not read: {', '.join(feed.tables_not_read)}")


def _place_of(finding: Finding) -> str:
    """Return the first place of a finding; what a whole table is about has no line."""
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
