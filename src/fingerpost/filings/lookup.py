"""Find a company's figures for a metric and period filter: reported values, or computed recipes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from fingerpost.filings.calculation import Calculation, Computation, find_trailing
from fingerpost.filings.concepts import RECIPE, STOCK, Metric
from fingerpost.filings.figure import Figure
from fingerpost.filings.formula import list_lookups, read_recipe
from fingerpost.filings.library import CompanyFigures
from fingerpost.filings.period_filter import PeriodFilter, Selection
from fingerpost.filings.periods import INSTANT, QUARTER, YEAR, YEAR_TO_DATE
from fingerpost.filings.reasons import explain_missing_figure, explain_missing_metric, explain_refused_quarter
from fingerpost.filings.reply import Missing, build_missing
from fingerpost.filings.revisions import explain_break

ANNUAL = "annual"
# Period classes by frequency.
_FREQUENCIES = {ANNUAL: (YEAR,), "quarterly": (QUARTER,), "ytd": YEAR_TO_DATE, "instant": (INSTANT,)}


@dataclass(frozen=True, slots=True)
class MetricResult:
    """The figures of a metric, those among them that are headlines, and the reasons for missing values."""

    name: str
    figures: Sequence[Figure] = ()
    headline: Sequence[Figure] = ()
    missing: Missing = field(default_factory=dict)


def find_figures(source: CompanyFigures, text: str, window: PeriodFilter) -> MetricResult:
    """Return the figures for a metric, given any of its names or an expression."""
    periods = source.resolve_period(window).list_periods()
    results = [_find(source, text, period) for period in periods]
    headline = mark_basis_changes([figure for result in results for figure in result.headline], source)
    marked = {(figure.start, figure.end): figure for figure in headline}
    figures = [marked.get((figure.start, figure.end), figure) for result in results for figure in result.figures]
    missing = results[0].missing
    if len(periods) > 1:
        missing = {
            f"{text} {period.period}" if key == text else key: entry
            for period, result in zip(periods, results, strict=True)
            for key, entry in result.missing.items()
        }
        entries = list(missing.values())
        if len(entries) == len(periods) and all(entry == entries[0] for entry in entries):
            missing = {text: entries[0]}
    return MetricResult(results[0].name, figures, headline, missing)


def mark_basis_changes(headline: Sequence[Figure], source: CompanyFigures) -> list[Figure]:
    """Return consecutive figures, with a note on each that is not comparable with the previous one."""
    marked = list(headline[:1])
    for previous, figure in pairwise(headline):
        explanation = explain_break(previous, figure, source.options)
        if YEAR in (previous.period, figure.period) and figure.period not in (YEAR, INSTANT):
            explanation = "a transition period: the company moved its year end"
        marked.append(figure.with_note(explanation) if explanation else figure)
    return marked


def _find(source: CompanyFigures, text: str, window: PeriodFilter) -> MetricResult:
    metric = source.find_metric(text)
    if metric is None:
        return MetricResult(text, missing={text: explain_missing_metric(source, text)})
    if metric.kind == RECIPE:
        return _compute(source, metric, text, window)
    if window.is_trailing:
        trailing = find_trailing(source, metric, window)
        if not isinstance(trailing, Figure):
            return MetricResult(metric.name, missing={text: trailing})
        return MetricResult(metric.name, [trailing], [trailing])
    found = _select(source, metric, window)
    if not found.headline:
        missing = {text: _explain_missing(source, metric, metric, window, found.figures)}
    else:
        missing = _explain_refused(source, metric, text, found)
    return MetricResult(metric.name, found.figures, found.headline, missing)


def _select(source: CompanyFigures, metric: Metric, window: PeriodFilter) -> Selection:
    found = source.select(metric, window)
    if not window.frequency:
        return found
    if all(figure.period == INSTANT for figure in found.figures):
        # Balances have no length; an annual balance is one at a year end.
        is_annual = window.frequency == ANNUAL
        chosen = [figure for figure in found.figures if not is_annual or source.calendar.is_year_end(figure.end)]
    else:
        chosen = [figure for figure in found.figures if figure.period in _FREQUENCIES[window.frequency]]
        if window.frequency == ANNUAL:
            chosen += _list_transitions(source, found.figures)
    return replace(found, headline=tuple(sorted(chosen, key=lambda figure: (figure.end, figure.start))))


def _list_transitions(source: CompanyFigures, figures: Sequence[Figure]) -> list[Figure]:
    """Return the longest figure of each transition period reported in a 10-KT."""
    longest: dict[str, Figure] = {}
    for figure in figures:
        is_transition = any(fact.form.startswith("10-KT") for fact in figure.headlines)
        if is_transition and figure.period not in (YEAR, INSTANT) and source.calendar.is_transition_start(figure.start):
            longest[figure.start] = max(figure, longest.get(figure.start, figure), key=lambda candidate: candidate.end)
    return list(longest.values())


def _explain_missing(
    source: CompanyFigures, metric: Metric, main_metric: Metric, window: PeriodFilter, figures: Sequence[Figure]
) -> dict[str, Any]:
    """Explain why a period has no figure for a metric; ``main_metric`` is the metric, or a recipe's main input."""
    available = [name for name, lengths in _FREQUENCIES.items() if any(figure.period in lengths for figure in figures)]
    if not window.frequency or not available:
        return explain_missing_figure(source, main_metric, window)
    message = f"{metric.name} of {source.company.name} has no {window.frequency} values for {window.wording}"
    return build_missing("not_reported", message, f"Ask for period {' or '.join(available)}")


def _explain_refused(source: CompanyFigures, metric: Metric, text: str, selection: Selection) -> Missing:
    if selection.headline[0].period != QUARTER:
        return {}
    refused = sorted(selection.refused, key=lambda figure: figure.end)
    names = [f"{text} {PeriodFilter.from_figure(figure).period}" for figure in refused]
    return {name: explain_refused_quarter(source, metric, f) for name, f in zip(names, refused, strict=True)}


def _compute(source: CompanyFigures, recipe: Metric, text: str, window: PeriodFilter) -> MetricResult:
    formula = read_recipe(recipe, recipe.name)
    periods = [window]
    missing: Missing = {}
    if window.year is None:
        words = [lookup.word for lookup in list_lookups(formula)]
        inputs = [metric for word in words if (metric := source.find_metric(word)) is not None]
        main_input = next((metric for metric in inputs if metric.kind != STOCK), inputs[0])
        lengths = (INSTANT,) if main_input.kind == STOCK else (YEAR, QUARTER)
        stated = _select(source, main_input, window)
        reported = [figure for figure in stated.headline if figure.period in lengths]
        periods = list(dict.fromkeys(map(PeriodFilter.from_figure, reported)))
        if not periods:
            candidates = [figure for figure in stated.figures if figure.period in lengths]
            missing = {text: _explain_missing(source, recipe, main_input, window, candidates)}
            return MetricResult(recipe.name, missing=missing)
        missing = _explain_refused(source, main_input, text, stated)
    figures: list[Figure] = []
    for period in periods:
        computed = Calculation(source, formula, period).compute()
        if isinstance(computed, Computation):
            figures.append(computed.to_figure(recipe))
        else:
            missing[text if window.year else f"{text} {period.period}"] = next(iter(computed.values()))
    if missing and not figures:
        missing = {text: next(iter(missing.values()))}
    return MetricResult(recipe.name, figures, figures, missing)
