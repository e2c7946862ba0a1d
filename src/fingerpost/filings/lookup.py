"""Look up a metric of a company in a window: reported figures, or the values of a recipe."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from fingerpost.filings.calculation import Calculation, Computed, find_trailing
from fingerpost.filings.concepts import RECIPE, STOCK, Metric
from fingerpost.filings.figure import Figure
from fingerpost.filings.formula import list_lookups, read_recipe
from fingerpost.filings.library import CompanyFigures
from fingerpost.filings.period_filter import PeriodFilter, Selection
from fingerpost.filings.periods import INSTANT, QUARTER, YEAR, YEAR_TO_DATE
from fingerpost.filings.reasons import missing_figure, missing_metric, refused_quarter
from fingerpost.filings.reply import Missing, missing_entry
from fingerpost.filings.revisions import explain_break

ANNUAL = "annual"
# The period lengths of a series.
_FREQUENCIES = {ANNUAL: (YEAR,), "quarterly": (QUARTER,), "ytd": YEAR_TO_DATE, "instant": (INSTANT,)}


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    found: Selection = field(default_factory=Selection)
    missing: Missing = field(default_factory=dict)

    @property
    def points(self) -> list[dict[str, Any]]:
        return [{"end_date": figure.end, "value": figure.value} for figure in self.found.headline]


def look_up(source: CompanyFigures, text: str, window: PeriodFilter) -> Finding:
    """Return the figures of a metric, by any of its names.

    A figure that is not comparable with the one before it has a note.
    """
    finding = _find_all(source, text, source.locate(window).list_periods())
    notes = _list_breaks(source, finding.found.headline)

    def mark(figures: Sequence[Figure]) -> tuple[Figure, ...]:
        found = ((figure, notes.get((figure.start, figure.end))) for figure in figures)
        return tuple(figure.with_note(note) if note else figure for figure, note in found)

    found = replace(finding.found, figures=mark(finding.found.figures), headline=mark(finding.found.headline))
    return replace(finding, found=found)


def _find_all(source: CompanyFigures, text: str, periods: Sequence[PeriodFilter]) -> Finding:
    if len(periods) == 1:
        return _find(source, text, periods[0])
    findings = [_find(source, text, period) for period in periods]
    found = [finding.found for finding in findings]
    missing: Missing = {}
    for period, finding in zip(periods, findings, strict=True):
        for key, entry in finding.missing.items():
            missing[f"{text} {period.period}" if key == text else key] = entry
    entries = list(missing.values())
    if len(entries) == len(periods) and all(entry == entries[0] for entry in entries):
        missing = {text: entries[0]}
    figures, headline, refused = (
        tuple(figure for selection in found for figure in getattr(selection, name))
        for name in ("figures", "headline", "refused")
    )
    return Finding(findings[0].name, Selection(figures, headline, refused), missing)


def _list_breaks(source: CompanyFigures, headline: Sequence[Figure]) -> dict[tuple[str, str], str]:
    breaks = {}
    for before, figure in pairwise(headline):
        why = explain_break(before, figure, source.options)
        if YEAR in (before.period, figure.period) and figure.period not in (YEAR, INSTANT):
            why = "a transition period: the company moved its year end"
        if why is not None:
            breaks[figure.start, figure.end] = why
    return breaks


def _find(source: CompanyFigures, text: str, window: PeriodFilter) -> Finding:
    metric = source.find_metric(text)
    if metric is None:
        return Finding(text, missing={text: missing_metric(source, text)})
    if metric.kind == RECIPE:
        return _compute(source, metric, text, window)
    if window.is_trailing:
        trailing = find_trailing(source, metric, window)
        if not isinstance(trailing, Figure):
            return Finding(metric.name, missing={text: trailing})
        return Finding(metric.name, Selection((trailing,), (trailing,)))
    found = _select(source, metric, window)
    if not found.headline:
        return Finding(metric.name, found, {text: _explain_missing(source, metric, metric, window, found.figures)})
    return Finding(metric.name, found, _explain_refused(source, metric, text, found))


def _select(source: CompanyFigures, metric: Metric, window: PeriodFilter) -> Selection:
    found = source.select(metric, window)
    if not window.frequency:
        return found
    if all(figure.period == INSTANT for figure in found.figures):
        # A balance has no length; its year ends on its day.
        is_annual = window.frequency == ANNUAL
        chosen = [f for f in found.figures if not is_annual or source.calendar.is_year_end(f.end)]
    else:
        chosen = [f for f in found.figures if f.period in _FREQUENCIES[window.frequency]]
        if window.frequency == ANNUAL:
            chosen += _list_transitions(source, found.figures)
    return replace(found, headline=tuple(sorted(chosen, key=lambda figure: (figure.end, figure.start))))


def _list_transitions(source: CompanyFigures, figures: Sequence[Figure]) -> list[Figure]:
    """Return the figures of transition periods: from each start, the longest that a 10-KT states."""
    longest: dict[str, Figure] = {}
    for figure in figures:
        of_report = any(fact.form.startswith("10-KT") for fact in figure.headlines)
        if of_report and figure.period not in (YEAR, INSTANT) and source.calendar.begins_transition(figure.start):
            longest[figure.start] = max(figure, longest.get(figure.start, figure), key=lambda other: other.end)
    return list(longest.values())


def _explain_missing(
    source: CompanyFigures, metric: Metric, stated: Metric, window: PeriodFilter, figures: Sequence[Figure]
) -> dict[str, Any]:
    """Return why a window has no figure of a metric; ``stated`` is the metric, or a recipe's first flow."""
    there = [name for name, kinds in _FREQUENCIES.items() if any(figure.period in kinds for figure in figures)]
    if not window.frequency or not there:
        return missing_figure(source, stated, window)
    message = f"{metric.name} of {source.company.name} has no {window.frequency} values for {window.wording}"
    return missing_entry("not_reported", message, f"Ask for period {' or '.join(there)}")


def _explain_refused(source: CompanyFigures, metric: Metric, text: str, found: Selection) -> Missing:
    if found.headline[0].period != QUARTER:
        return {}
    refused = sorted(found.refused, key=lambda figure: figure.end)
    return {f"{text} {PeriodFilter.of(figure).period}": refused_quarter(source, metric, figure) for figure in refused}


def _compute(source: CompanyFigures, recipe: Metric, text: str, window: PeriodFilter) -> Finding:
    formula = read_recipe(recipe, recipe.name)
    periods = [window]
    missing: Missing = {}
    if window.year is None:
        words = [lookup.word for lookup in list_lookups(formula)]
        inputs = [metric for word in words if (metric := source.find_metric(word)) is not None]
        first = next((metric for metric in inputs if metric.kind != STOCK), inputs[0])
        kinds = (INSTANT,) if first.kind == STOCK else (YEAR, QUARTER)
        stated = _select(source, first, window)
        periods = list(dict.fromkeys(PeriodFilter.of(f) for f in stated.headline if f.period in kinds))
        if not periods:
            others = [figure for figure in stated.figures if figure.period in kinds]
            return Finding(recipe.name, missing={text: _explain_missing(source, recipe, first, window, others)})
        missing = _explain_refused(source, first, text, stated)
    figures: list[Figure] = []
    for period in periods:
        computed = Calculation(source, formula, period).compute()
        if isinstance(computed, Computed):
            figures.append(computed.to_figure(recipe))
        else:
            missing[text if window.year else f"{text} {period.period}"] = next(iter(computed.values()))
    if missing and not figures:
        missing = {text: next(iter(missing.values()))}
    return Finding(recipe.name, Selection(tuple(figures), tuple(figures)), missing)
