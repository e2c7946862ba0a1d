"""Print the report of a GTFS import: the verdict, then the counts and findings of each feed."""

from collections import Counter
from collections.abc import Iterator
from datetime import date

from rich.text import Text

from fingerpost import clock
from fingerpost.apps.cli.output import print_line
from fingerpost.transit.engine.gtfs.csv.findings import Finding, FindingKind, find_meaning
from fingerpost.transit.engine.gtfs.report import FeedReport, ImportReport, StreetCoverage
from fingerpost.transit.model.provenance import ServiceState

# Kinds of loss in the verdict; the findings below list all.
_MAX_LOSSES = 3
# The field of a report that counts the imported ones, by the subject of findings, the gravest loss first.
_TOTALS = {"trips": "trips", "stop times": "events", "stops": "stops"}
_SINGULARS = {"rows": "row", "tables": "table"}


def print_report(report: ImportReport) -> None:
    today = clock.today_in(report.feeds[0].zone)
    for line in list_verdict_lines(report, today):
        print_line(line)
    for feed in report.feeds:
        days = f"{feed.first_day} to {feed.last_day}, {feed.service.format_service_state(today)}"
        if feed.thin_after is not None:
            days += f", fewer than a quarter of the trips after {feed.thin_after}"
        print_line(f"{feed.feed}: {days}; {_list_counts(feed)}")
        for kind in FindingKind:
            of_kind = [finding for finding in feed.findings if find_meaning(finding.reason).kind is kind]
            if of_kind:
                print_line(Text(f"  {kind.value}", "bold"))
            for finding in of_kind:
                print_line(f"    {finding.reason}  {finding.count:,}  {_format_place(finding)}")
        if feed.tables_not_read:
            print_line(f"Not read: {', '.join(feed.tables_not_read)}")
    meanings = {finding.reason: find_meaning(finding.reason) for feed in report.feeds for finding in feed.findings}
    kinds = list(FindingKind)
    for reason, meaning in sorted(meanings.items(), key=lambda item: kinds.index(item[1].kind)):
        print_line(f"  {reason}: {meaning.text}.")
    if report.streets is not None:
        print_line(_describe_streets(report.streets))


def list_verdict_lines(report: ImportReport, today: date) -> list[str]:
    """Return the verdict as a line: usable, usable with losses, or not usable today, and why; then what to do."""
    out = [feed for feed in report.feeds if feed.service.state_on(today) is not ServiceState.IN_SERVICE]
    named = ", ".join(f"{feed.feed} ({feed.service.format_service_state(today)})" for feed in out)
    losses = [
        f"{feed.feed} has fewer than a quarter of its trips after {feed.thin_after}"
        for feed in report.feeds
        if feed.thin_after is not None and feed.thin_after < today and feed not in out
    ]
    losses += _list_losses(report)
    if len(out) == len(report.feeds):
        verdict, reasons = f"not usable today, {today}", [f"no feed has service today: {named}", *losses]
    elif out:
        count = f"{len(out)} of {len(report.feeds)} feeds without service today"
        verdict, reasons = "usable with losses", [f"{count}, {today}: {named}", *losses]
    elif losses:
        verdict, reasons = f"usable with losses, {report.days}", losses
    else:
        verdict, reasons = f"usable, {report.days}", _list_no_loss(report)
    lines = [f"{report.network} is {verdict}: {'; '.join(reasons)}."]
    if any(feed.service.state_on(today) is ServiceState.ENDED for feed in out):
        lines.append(
            "A feed that has ended answers for its own days only. When its publisher has a newer one, run "
            f"`fingerpost network refresh {report.network}`."
        )
    return lines


def _list_losses(report: ImportReport) -> Iterator[str]:
    counted: Counter[tuple[str, FindingKind]] = Counter()
    for finding in (finding for feed in report.feeds for finding in feed.findings):
        meaning = find_meaning(finding.reason)
        if meaning.is_loss:
            counted[meaning.subject, meaning.kind] += finding.count
    order = [*_TOTALS]
    gravest = sorted(counted, key=lambda loss: order.index(loss[0]) if loss[0] in order else len(order))
    for subject, kind in gravest[:_MAX_LOSSES]:
        count = counted[subject, kind]
        if subject in _TOTALS:
            lost = sum(counted[other] for other in counted if other[0] == subject)
            imported = sum(getattr(feed, _TOTALS[subject]) for feed in report.feeds)
            what = f"{count:,} of {imported + lost:,} {subject}"
        elif subject in _SINGULARS:
            what = _count(count, _SINGULARS[subject])
        else:
            what = _count(count, f"row about {subject}", f"rows about {subject}")
        yield f"{what} {'is' if count == 1 else 'are'} {kind.value}"
    if len(gravest) > _MAX_LOSSES:
        yield f"{_count(len(gravest) - _MAX_LOSSES, 'more kind of loss', 'more kinds of loss')}, listed below"


def _list_no_loss(report: ImportReport) -> list[str]:
    has_unread = any(feed.tables_not_read for feed in report.feeds)
    whole = f"nothing is left out{' of the tables that are read' if has_unread else ''}"
    guessed = sum(_count_kinds(feed)[FindingKind.GUESSED] for feed in report.feeds)
    return [whole, f"{_count(guessed, 'value')} guessed"] if guessed else [whole]


def _count_kinds(feed: FeedReport) -> Counter[FindingKind]:
    kinds: Counter[FindingKind] = Counter()
    for finding in feed.findings:
        kinds[find_meaning(finding.reason).kind] += finding.count
    return kinds


def _list_counts(feed: FeedReport) -> str:
    counts = {"stop": feed.stops, "route": feed.routes, "trip": feed.trips, "stop time": feed.events}
    parts = [_count(count, what) for what, count in counts.items()]
    if feed.in_seat:
        parts.append(_count(feed.in_seat, "in-seat transfer"))
    if feed.narrow_transfers:
        parts.append(_count(feed.narrow_transfers, "transfer rule") + " of certain trips")
    kinds = _count_kinds(feed)
    by_kind = ", ".join(f"{kinds[kind]:,} {kind.value}" for kind in FindingKind if kind in kinds)
    return f"{', '.join(parts)}; {by_kind or 'nothing left out'}"


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
        text += f"; {streets.entered_stops:,} platforms are reached by the entrances of their stations"
    if streets.left_out_km:
        text += f"; {streets.left_out_km:,.0f} km skipped: other streets do not connect to it in both directions"
    return f"{text}. © OpenStreetMap contributors, ODbL."


def _format_place(finding: Finding) -> str:
    first = finding.places[0]
    return ", ".join(part for part in (first.table, f"line {first.line}" if first.line else "", first.column) if part)


def _count(count: int, singular: str, plural: str = "") -> str:
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"
