"""Build statements: the lines for fiscal periods side by side, each period from the filing that states its totals."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fingerpost.filings.calculation import mark_basis_changes
from fingerpost.filings.concepts import Metric, list_metrics
from fingerpost.filings.figure import ORIGINAL, SAMPLE, Fact, Figure
from fingerpost.filings.library import CompanyFigures, FactLibrary
from fingerpost.filings.period_filter import PeriodFilter
from fingerpost.filings.periods import INSTANT
from fingerpost.filings.query_params import StatementParams
from fingerpost.filings.reasons import explain_missing_figure, explain_missing_tag, open_company, suggest_load
from fingerpost.filings.reply import Missing, Reply, build_missing, build_not_found, build_points
from fingerpost.filings.resolver import adjust_for_splits
from fingerpost.filings.revisions import is_in_shares, is_rounding

# The totals of each statement, with the main total first.
TOTALS: Mapping[str, tuple[str, ...]] = {
    "income": ("Revenue", "NetIncome"),
    "balance": ("Assets", "StockholdersEquity", "LiabilitiesAndEquity"),
    "cash_flow": ("OperatingCashFlow", "InvestingCashFlow", "FinancingCashFlow"),
}


@dataclass(frozen=True, slots=True)
class _Column:
    """The lines for one period, keyed by metric name; if it has no figures, ``missing`` gives the reason."""

    lines: Mapping[str, Figure]
    missing: Missing
    note: str = ""


def statement(library: FactLibrary, params: StatementParams) -> Reply:
    """Return the lines of a statement for one or several periods, by default the newest fiscal year.

    Unreported lines are listed in ``missing``, never computed.
    """
    kind, not_found = params.statement, f"No financial facts found for {params.ticker}"
    source = open_company(library, params.ticker, not_found, params.options)
    periods = source.resolve_period(params.period_filter).list_periods()
    metrics = [metric for metric in list_metrics() if metric.statement == kind]
    columns = [_build_column(source, metrics, TOTALS[kind], period) for period in periods]
    if not any(column.lines for column in columns):
        raise build_not_found(not_found, columns[-1].missing, source.provenance)
    reply = Reply([], data={}, source=source.provenance, extra={"statement": kind})
    for metric in metrics:
        lines = [column.lines[metric.name] for column in columns if metric.name in column.lines]
        marked = mark_basis_changes(lines, source)
        reply.results += [source.build_row(metric.name, line) for line in marked]
        if marked:
            reply.add_values(metric.name, build_points(marked), is_series=len(periods) > 1)
    in_all = set.intersection(*(set(column.missing) for column in columns))
    for period, column in zip(periods, columns, strict=True):
        # A line that all periods lack gets a single entry.
        entries = column.missing.items()
        reply.missing |= {name if name in in_all else f"{name} {period.period}": entry for name, entry in entries}
    if notes := [column.note for column in columns if column.note]:
        reply.extra["notes"] = notes
    return reply


def _build_column(
    source: CompanyFigures, metrics: Sequence[Metric], totals: Sequence[str], period: PeriodFilter
) -> _Column:
    company, is_original = source.company, source.options.vintage == ORIGINAL
    headlines = {metric.name: source.select(metric, period).headline for metric in metrics}
    newest = _find_newest(headlines)
    if newest is None:
        anchor = next(metric for metric in metrics if metric.name == totals[0])
        return _Column({}, {anchor.name: explain_missing_figure(source, anchor, period)})
    stated_lines = {metric.name: _find_line(source, metric, newest) for metric in metrics}
    filing = _choose_filing(stated_lines, totals, is_original=is_original)
    lines: dict[str, Figure] = {}
    missing: Missing = {}
    for metric in metrics:
        line = stated_lines[metric.name]
        if line is not None:
            lines[metric.name] = _match_filing(source, line, filing)
        elif company.dataset == SAMPLE:
            message = f"the sample does not include {metric.name}"
            missing[metric.name] = build_missing("outside_sample", message, suggest_load(company.ticker))
        else:
            missing[metric.name] = explain_missing_tag(source, metric, PeriodFilter.from_figure(newest))
    stated = [figure for headline in headlines.values() for figure in headline if not figure.is_cover]
    ends = {figure.end for figure in stated if figure.period == newest.period}
    note = f"the window has {len(ends)} periods; this is the newest, ending {newest.end}" if len(ends) > 1 else ""
    return _Column(lines, missing, note)


def _find_newest(headlines: Mapping[str, Sequence[Figure]]) -> Figure | None:
    """Return a figure of the newest period with at least half the lines of the fullest period."""
    counts = Counter(
        (figure.end, figure.period) for headline in headlines.values() for figure in headline if not figure.is_cover
    )
    if not counts:
        return None
    min_count = max(counts.values()) / 2
    chosen = max(period for period, count in counts.items() if count >= min_count)
    figures = (figure for headline in headlines.values() for figure in headline)
    return next(figure for figure in figures if (figure.end, figure.period) == chosen)


def _find_line(source: CompanyFigures, metric: Metric, newest: Figure) -> Figure | None:
    """Return a statement line for a period; cover-page numbers may have another date."""
    period_key = (newest.end, newest.period)
    lines = [figure for figure in source.series(metric).figures if (figure.end, figure.period) == period_key]
    if not lines and newest.period == INSTANT:
        figures_found = source.select(metric, PeriodFilter.from_figure(newest)).headline
        lines = [figure for figure in figures_found if figure.is_cover]
    return lines[0] if lines else None


def _choose_filing(lines: Mapping[str, Figure | None], totals: Sequence[str], *, is_original: bool) -> Fact | None:
    """Return a fact from the newest filing (for originals, the first) that states the most totals.

    Later filings with few of the other lines are skipped, because they only repeat totals in a multi-period table.
    """
    facts = {
        name: figure.headlines[:1] if is_original else figure.headlines
        for name, figure in lines.items()
        if figure is not None
    }
    total_facts = [fact for name in totals for fact in facts.get(name, ())]
    if not is_original:
        stated = Counter(fact.accession for line in facts.values() for fact in line)
        full_filing_facts = [fact for fact in total_facts if stated[fact.accession] >= max(stated.values()) / 2]
        total_facts = full_filing_facts or total_facts
    counts = Counter(fact.accession for fact in total_facts)
    complete = [fact for fact in total_facts if counts[fact.accession] == max(counts.values())]
    choose = min if is_original else max
    return choose(complete, key=lambda fact: (fact.filed, fact.accession)) if complete else None


def _match_filing(source: CompanyFigures, line: Figure, filing: Fact | None) -> Figure:
    """Return a line with the value from the statement's filing, or with a note if only another filing states it.

    Original lines keep their first value.
    """
    if filing is None or line.is_cover or not line.headlines:
        return line
    stated = (line.as_filed or line).value
    fact = next((fact for fact in line.headlines if fact.accession == filing.accession), None)
    if fact is None:
        return line.with_note(
            f"from another filing: {filing.form} {filing.accession} states the totals but not this line"
        )
    if fact.taxonomy == line.fact.taxonomy and (fact.value == stated or is_rounding(stated, fact.value)):
        return line
    if source.options.vintage == ORIGINAL:
        return line.with_note(f"from an earlier filing: {fact.form} {fact.accession} states {fact.value}")
    splits = source.splits if is_in_shares(line.unit) else ()
    return adjust_for_splits((line.as_filed or line).with_fact(fact), splits, source.options)
