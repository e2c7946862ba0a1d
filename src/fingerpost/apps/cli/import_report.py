"""Print the report of a GTFS import: the verdict, then the counts and findings of each feed."""

from collections.abc import Iterator
from datetime import date

from fingerpost import clock
from fingerpost.apps.cli.output import print_line
from fingerpost.transit.engine.gtfs.csv.findings import FindingKind, find_meaning
from fingerpost.transit.engine.gtfs.report import FeedReport, ImportReport, StreetCoverage
from fingerpost.transit.model.provenance import ServiceState


def print_report(report: ImportReport) -> None:
    today = clock.today_in(report.feeds[0].zone)
    for line in list_verdict_lines(report, today):
        print_line(line)
    for feed in report.feeds:
        days = f"{feed.first_day} to {feed.last_day}, {feed.service.format_service_state(today)}"
        if feed.thin_after is not None:
            days += f", fewer than a quarter of the trips after {feed.thin_after}"
        counts = f"{feed.stops:,} stops, {feed.routes:,} routes, {feed.trips:,} trips, {feed.events:,} stop times"
        print_line(f"{feed.feed}: {days}; {counts}{'' if feed.findings else '; nothing left out'}")
        for line in _list_findings(feed):
            print_line(f"  {line}")
        if feed.tables_not_read:
            print_line(f"Not read: {', '.join(feed.tables_not_read)}")
    if report.streets is not None:
        print_line(_describe_streets(report.streets))


def list_verdict_lines(report: ImportReport, today: date) -> list[str]:
    """Return the verdict (usable, usable with losses, or not usable today), then any advice."""
    states = [feed.service.state_on(today) for feed in report.feeds]
    thinned_out = [feed for feed in report.feeds if feed.thin_after is not None and feed.thin_after < today]
    losses = [finding for feed in report.feeds for finding in feed.findings if find_meaning(finding.reason).is_loss]
    verdict = "usable with losses" if losses or thinned_out or {*states} != {ServiceState.IN_SERVICE} else "usable"
    if ServiceState.IN_SERVICE not in states:
        verdict = "not usable today"
    lines = [f"{report.network} is {verdict}, {report.days}."]
    if ServiceState.ENDED in states:
        lines.append(
            "A feed that has ended answers only for its own dates. When its publisher has a newer one, run "
            f"`fingerpost network refresh {report.network}`."
        )
    return lines


def _list_findings(feed: FeedReport) -> Iterator[str]:
    """Yield a line for each finding, losses first, with its count, first place and meaning."""
    kinds = list(FindingKind)
    for finding in sorted(feed.findings, key=lambda finding: kinds.index(find_meaning(finding.reason).kind)):
        meaning, place = find_meaning(finding.reason), finding.places[0]
        parts = (place.table, f"line {place.line}" if place.line else "", place.column)
        location = ", ".join(part for part in parts if part)
        yield f"{meaning.kind.value}: {finding.count:,} {finding.reason} ({location}): {meaning.text}."


def _describe_streets(streets: StreetCoverage) -> str:
    covered = (
        f"all {streets.stops:,} stops"
        if streets.is_whole
        else f"{streets.covered_stops:,} of {streets.stops:,} stops; walks at the others are straight lines"
    )
    text = f"Streets of {streets.extract}: {streets.street_km:,.0f} km of footways around {covered}"
    if streets.matched_stops:
        text += f"; {streets.matched_stops:,} stops use their position on the map"
    if streets.entered_stops:
        text += f"; {streets.entered_stops:,} platforms are reached through the entrances of their stations"
    if streets.left_out_km:
        text += f"; {streets.left_out_km:,.0f} km skipped: other streets do not connect to it in both directions"
    return f"{text}. © OpenStreetMap contributors, ODbL."
