"""Say whether an imported network can be used today, and what its answers lack."""

from collections import Counter
from collections.abc import Iterator
from datetime import date

from fingerpost.transit.engine.gtfs.finding_meanings import FindingKind, FindingMeaning, find_meaning
from fingerpost.transit.engine.gtfs.report import FeedReport, ImportReport
from fingerpost.transit.model.coverage import ServiceState

# So many kinds of loss stand in the verdict; the tables below it have them all.
_MOST_LOSSES = 3
# Subjects of findings of which the report knows how many there are in all.
_TOTALS = {"trips": "trips", "stops of trips": "events", "stops": "stops"}


def list_verdict_lines(report: ImportReport, today: date) -> list[str]:
    """Return the verdict as a line: usable, usable with losses, or not usable today, and why; then what to do."""
    out = [feed for feed in report.feeds if _state_on(feed, today) is not ServiceState.IN_SERVICE]
    named = ", ".join(f"{feed.feed} ({feed.service.say_state_on(today)})" for feed in out)
    losses = list(_list_losses(report))
    if len(out) == len(report.feeds):
        reasons = [f"no feed of it has service today: {named}", *losses]
        lines = [f"{report.network} is not usable today, {today}: {'; '.join(reasons)}."]
    elif out:
        reasons = [f"{len(out)} of {len(report.feeds)} feeds without service today, {today}: {named}", *losses]
        lines = [f"{report.network} is usable with losses: {'; '.join(reasons)}."]
    elif losses:
        lines = [f"{report.network} is usable with losses, {report.days}: {'; '.join(losses)}."]
    else:
        lines = [f"{report.network} is usable, {report.days}: {_say_nothing_lost(report)}."]
    if any(_state_on(feed, today) is ServiceState.ENDED for feed in out):
        lines.append(
            "A feed that has ended answers for its own days only. When its publisher has a newer one, run "
            f"`fingerpost network refresh {report.network}`."
        )
    return lines


def count_noun(count: int, singular: str, plural: str = "") -> str:
    """Return a count and its noun, such as ``1 trip`` or ``2 trips``."""
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"


def _state_on(feed: FeedReport, today: date) -> ServiceState:
    return feed.service.state_on(today)


def _list_losses(report: ImportReport) -> Iterator[str]:
    """Yield what the network's answers lack, the gravest first."""
    counted: Counter[tuple[str, FindingKind]] = Counter()
    for meaning, count in _meanings(report):
        if meaning.is_loss:
            counted[meaning.subject, meaning.kind] += count
    order = list(_TOTALS)
    gravest = sorted(counted, key=lambda each: order.index(each[0]) if each[0] in order else len(order))
    for subject, kind in gravest[:_MOST_LOSSES]:
        count = counted[subject, kind]
        verb = "is" if count == 1 else "are"
        yield f"{_say_lost(report, subject, count)} {verb} {kind.value}"
    if len(gravest) > _MOST_LOSSES:
        yield f"{count_noun(len(gravest) - _MOST_LOSSES, 'kind of loss', 'kinds of loss')} more, listed below"


def _say_lost(report: ImportReport, subject: str, count: int) -> str:
    if subject in _TOTALS:
        # What is left out is counted beside what came in.
        lost = sum(count for meaning, count in _meanings(report) if meaning.subject == subject and meaning.is_loss)
        came_in = sum(getattr(feed, _TOTALS[subject]) for feed in report.feeds)
        return f"{count:,} of {came_in + lost:,} {subject}"
    if subject in ("rows", "tables"):
        return count_noun(count, subject.removesuffix("s"))
    return count_noun(count, f"row about {subject}", f"rows about {subject}")


def _say_nothing_lost(report: ImportReport) -> str:
    unread = any(feed.tables_not_read for feed in report.feeds)
    guessed = sum(count for meaning, count in _meanings(report) if meaning.kind is FindingKind.GUESSED)
    whole = "nothing is left out of the tables that are read" if unread else "nothing is left out"
    return f"{whole}; {count_noun(guessed, 'value')} guessed" if guessed else whole


def _meanings(report: ImportReport) -> Iterator[tuple[FindingMeaning, int]]:
    for feed in report.feeds:
        for finding in feed.findings:
            yield find_meaning(finding.reason), finding.count
