"""Print an import report: the verdict, then what each feed brought in, and what was left out and why."""

from collections import Counter

from rich.text import Text

from fingerpost.apps.cli.fitting_table import new_table
from fingerpost.apps.cli.import_verdict import count_noun, list_verdict_lines
from fingerpost.apps.cli.output import new_console
from fingerpost.apps.cli.wire_times import today_in
from fingerpost.transit.engine.gtfs.finding_meanings import FindingKind, find_meaning
from fingerpost.transit.engine.gtfs.report import FeedReport, Finding, ImportReport
from fingerpost.transit.engine.timetable.street_coverage import StreetCoverage

_KINDS = {
    FindingKind.LEFT_OUT: "the row is not in the timetable.",
    FindingKind.NOT_USED: "the row is understood, and trips are planned without it.",
    FindingKind.GUESSED: "the feed does not say it clearly, and what is most likely was taken.",
    FindingKind.WITHOUT_EFFECT: "the row changes nothing for who rides.",
}
_IN_SEAT = "one vehicle goes on as another trip, and who rides may stay seated."


def print_report(report: ImportReport) -> None:
    """Print the report of an import."""
    console = new_console()
    today = today_in(report.feeds[0].zone)
    for line in list_verdict_lines(report, today):
        console.print(line, soft_wrap=True)
    for feed in report.feeds:
        days = f"{feed.first_day} to {feed.last_day}, {feed.service.say_state_on(today)}"
        console.print(f"{feed.feed}: {days}; {counts_of(feed)}", soft_wrap=True)
        if feed.findings:
            table = new_table("not as the feed wrote it", "count", "first at")
            for kind in FindingKind:
                of_kind = [finding for finding in feed.findings if find_meaning(finding.reason).kind is kind]
                if of_kind:
                    table.add_row(Text(kind.value, "bold"))
                for finding in of_kind:
                    table.add_row(f"  {finding.reason}", f"{finding.count:,}", _place_of(finding))
            console.print(table)
        if feed.tables_not_read:
            console.print(f"Not read: {', '.join(feed.tables_not_read)}", soft_wrap=True)
    words = _list_words(report)
    if words:
        console.print("In other words:")
    for word, text in words:
        console.print(f"  {word}: {text}", soft_wrap=True)
    if report.streets is not None:
        console.print(_say_streets(report.streets), soft_wrap=True)


def _list_words(report: ImportReport) -> list[tuple[str, str]]:
    """Return each word of this report that is not everyday, once, with what it means."""
    meanings = {found.reason: find_meaning(found.reason) for feed in report.feeds for found in feed.findings}
    words = [
        (kind.value, text) for kind, text in _KINDS.items() if any(each.kind is kind for each in meanings.values())
    ]
    words += [("in-seat transfer", _IN_SEAT)] if any(feed.in_seat for feed in report.feeds) else []
    by_kind = list(FindingKind)
    in_order = sorted(meanings.items(), key=lambda each: by_kind.index(each[1].kind))
    return words + [(reason, f"{meaning.text}.") for reason, meaning in in_order]


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


def counts_of(feed: FeedReport) -> str:
    """Return how much a feed brought in, and what became of the rest, by kind."""
    parts = [
        count_noun(feed.stops, "stop"),
        count_noun(feed.routes, "route"),
        count_noun(feed.trips, "trip"),
        count_noun(feed.events, "time at stops", "times at stops"),
    ]
    if feed.in_seat:
        parts.append(count_noun(feed.in_seat, "in-seat transfer"))
    if feed.narrow_transfers:
        parts.append(count_noun(feed.narrow_transfers, "rule for changes", "rules for changes") + " of certain trips")
    kinds: Counter[FindingKind] = Counter()
    for finding in feed.findings:
        kinds[find_meaning(finding.reason).kind] += finding.count
    by_kind = ", ".join(f"{kinds[kind]:,} {kind.value}" for kind in FindingKind if kind in kinds)
    return f"{', '.join(parts)}; {by_kind or 'nothing left out'}"
