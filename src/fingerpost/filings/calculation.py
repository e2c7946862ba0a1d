"""Find a company's figures for a metric and period: reported values, or formulas evaluated on a common basis."""

import ast
from collections.abc import Iterable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import Any

from fingerpost.filings.concepts import PER_SHARE, RECIPE, STOCK, Metric
from fingerpost.filings.figure import ORIGINAL, SPLIT_ADJUSTED, Figure, MetricFigures, derive_figure
from fingerpost.filings.formula import Lookup, NotComputable, Quantity, evaluate, list_lookups, read_formula, to_number
from fingerpost.filings.library import CompanyFigures
from fingerpost.filings.period_filter import PeriodFilter
from fingerpost.filings.periods import INSTANT, QUARTER, QUARTERS, YEAR, YEAR_DAYS, classify_period, day_number
from fingerpost.filings.reasons import explain_missing_figure, explain_missing_metric, explain_rejected_quarter
from fingerpost.filings.reply import Missing, Reason, build_missing
from fingerpost.filings.revisions import align_basis, explain_break, find_split_factor, is_in_shares, is_renamed_between

# A period starts within a week of the previous period's end. Balances have no start, and quarters of 12 or 16 weeks
# may end up to 25 days before or after the corresponding calendar quarter.
_SLACK_DAYS = 7
_QUARTER_SLACK_DAYS = 25
_DATES_HINT = "Use financial_facts with start_date and end_date"
ANNUAL = "annual"
# Period classes by frequency.
_FREQUENCIES = {ANNUAL: (YEAR,), "quarterly": (QUARTER,)}


class Unavailable(Exception):
    """There is no value; ``missing`` holds the reasons, and ``reason`` is the first of them."""

    def __init__(self, missing: Missing) -> None:
        super().__init__()
        self.missing = missing
        self.reason = next(iter(missing.values()))


@dataclass(slots=True)
class Computation:
    """A formula and its value for a company, ``lag`` periods before ``period``."""

    source: CompanyFigures
    formula: ast.expr
    period: PeriodFilter
    lag: int
    inputs: dict[Lookup, Figure]
    value: Fraction = field(init=False)
    unit: str = field(init=False)

    def __post_init__(self) -> None:
        quantities = {lookup: Quantity.parse(figure.value, figure.unit) for lookup, figure in self.inputs.items()}
        quantity = evaluate(self.formula, quantities, self.lag, self.period.periods_per_year)
        self.value, self.unit = quantity.value, quantity.unit_name

    @property
    def figures(self) -> list[Figure]:
        return list(self.inputs.values())

    @property
    def reported_figures(self) -> list[Figure]:
        return [part for figure in self.figures for part in (figure.parts or (figure,))]

    @property
    def period_label(self) -> str:
        return self.period.shift(-self.lag).label

    @property
    def period_figure(self) -> Figure:
        """The figure that has the same period as the value."""
        current = [figure for lookup, figure in self.inputs.items() if not lookup.lag and not figure.is_cover]
        metric = None if current else self.source.find_metric(next(iter(self.inputs)).name)
        if metric is not None:
            # The row has the period of the query, even if all inputs are from earlier periods.
            with suppress(Unavailable):
                current = [_find_figure(self.source, metric, self.period)]
        return max(current or self.figures, key=lambda figure: (figure.end, figure.start))

    def to_figure(self, recipe: Metric) -> Figure:
        notes = [recipe.note] if recipe.note else []
        notes += [f"{figure.metric}: {note}" for figure in self.figures for note in figure.notes]
        if is_renamed_between(self.figures, self.source.name_changes):
            notes.append("The company changed its name between the filings that state the inputs")
        figure = derive_figure(self.period_figure, self.figures, to_number(self.value), recipe.expression, notes)
        fact = figure.fact._replace(concept="")
        return replace(figure, metric=recipe.name, unit=self.unit, fact=fact, concepts=frozenset())


def compute(
    source: CompanyFigures, formula: ast.expr, period: PeriodFilter, lag: int = 0, *, check: bool = True
) -> Computation:
    """Evaluate a formula on a common basis, or raise Unavailable.

    If ``check``, reject inputs that mix per-share amounts or share counts from before and after a split.
    """
    inputs: dict[Lookup, Figure] = {}
    missing: Missing = {}
    for lookup in list_lookups(formula, lag, period.periods_per_year):
        metric = source.find_metric(lookup.name)
        if metric is None:
            missing[lookup.name] = explain_missing_metric(source, lookup.name)
            continue
        try:
            inputs[lookup] = _find_figure(source, metric, period, lookup.lag)
        except Unavailable as error:
            missing[f"{lookup.name} {period.shift(-lookup.lag).period}"] = error.reason
    if missing:
        raise Unavailable(missing)
    try:
        computed = Computation(source, formula, period, lag, align_basis(inputs, source.options, source.name_changes))
        conflict = explain_split(source, computed.figures) if check else None
    except NotComputable as error:
        conflict = build_missing("not_comparable", str(error), _suggest_original(source, formula, period, lag))
    if conflict is not None:
        raise Unavailable({f"{ast.unparse(formula)} {period.period}": conflict})
    return computed


def _suggest_original(source: CompanyFigures, formula: ast.expr, period: PeriodFilter, lag: int) -> str:
    if source.options.vintage != ORIGINAL:
        with suppress(Unavailable):
            original = compute(source.with_options(vintage=ORIGINAL), formula, period, lag, check=False)
            return f"Set vintage to original to get {to_number(original.value)} {original.unit}, as first filed"
    return "Get the inputs with financial_facts"


def _find_figure(source: CompanyFigures, metric: Metric, period: PeriodFilter, lag: int = 0) -> Figure:
    """Return the figure ``lag`` periods before a period; raise Unavailable if there is none."""
    earlier = period.shift(-lag)
    matches = _select_headline(source, metric, earlier)
    current: tuple[Figure, ...] = ()
    if lag:
        with suppress(Unavailable):
            current = _select_headline(source, metric, period)
    subject = f"{metric.name} of {source.company.name}"
    message = ""
    if len(current) == 1 and not current[0].is_cover:
        end, slack_days = _find_earlier_end(current[0], period, lag)
        adjacent = _filter_by_end(matches, end, slack_days)
        # After a change of year end, the earlier period may have a different name, or the earlier balance may fall
        # inside a fiscal year.
        matches = adjacent or _filter_by_end(source.series(metric).figures, end, slack_days, current[0].period)
        day = date.fromordinal(end).isoformat()
        message = f"{subject}: no period comparable to the one ending {current[0].end} ends around {day}"
    if len(matches) == 1:
        return matches[0]
    if matches:
        ends = ", ".join(figure.end for figure in matches)
        message = f"{subject} for {earlier.label} is ambiguous: {ends}"
    raise Unavailable({metric.name: build_missing("not_comparable", message, _DATES_HINT)})


def _select_headline(source: CompanyFigures, metric: Metric, period: PeriodFilter) -> tuple[Figure, ...]:
    """Return a period's headline figures (for a trailing year, its sum or last balance), or raise Unavailable."""
    if period.is_trailing and metric.kind != STOCK:
        return (_find_trailing(source, metric, period),)
    if headline := source.select(metric, period).headline:
        return headline
    raise Unavailable({metric.name: explain_missing_figure(source, metric, period)})


def _find_trailing(source: CompanyFigures, metric: Metric, period: PeriodFilter) -> Figure:
    """Return a fiscal year's value or the sum of the last four quarters; raise Unavailable if there is none."""

    def refuse(reason: Reason, message: str, step: str) -> Unavailable:
        return Unavailable({metric.name: build_missing(reason, message, step)})

    name = f"{metric.name} of {source.company.name}"
    last_period = replace(period, is_trailing=False)
    current = source.select(metric, last_period).headline
    if metric.kind == STOCK or any(figure.period == INSTANT for figure in current):
        message = f"{name} is a balance at a point in time; balances cannot be summed across quarters"
        raise refuse("not_derivable", message, f"Set period to {last_period.period}")
    if last_period.quarter is None:
        if len(current) == 1 and current[0].period == YEAR:
            return current[0]
        raise Unavailable({metric.name: explain_missing_figure(source, metric, last_period)})
    if metric.kind == PER_SHARE or any(is_in_shares(figure.unit) or figure.unit == "pure" for figure in current):
        message = f"{name} is per share or a count; such values cannot be summed across quarters"
        raise refuse("not_derivable", message, "Use latest or latest-annual")
    quarters = [_find_figure(source, metric, last_period, lag) for lag in range(QUARTERS)][::-1]
    try:
        quarters = list(align_basis(dict(enumerate(quarters)), source.options, source.name_changes).values())
        if classify_period(quarters[0].start, quarters[-1].end) != YEAR:
            raise NotComputable("its last four quarters do not make up a full year")
        is_restated = any(part.restated for quarter in quarters for part in quarter.parts)
        with suppress(Unavailable):
            # The newest report may have recast the same quarter of the previous year, but not the quarters in between.
            year_ago = _find_figure(source, metric, last_period, QUARTERS)
            first_day = quarters[0].fact.filed
            is_restated |= any(part.is_restated_after(first_day) for part in year_ago.parts or (year_ago,))
        if len({quarter.tier for quarter in quarters}) > 1 or (is_restated and source.options.vintage != ORIGINAL):
            raise NotComputable("its last four quarters are not on the same basis")
    except NotComputable as error:
        raise refuse("not_comparable", f"{name} for {period.label}: {error}", "Use latest-annual") from error
    total = to_number(sum((Fraction(str(quarter.value)) for quarter in quarters), Fraction(0)))
    formula = " + ".join(PeriodFilter.from_figure(quarter).period for quarter in quarters)
    notes = [note for quarter in quarters for note in quarter.notes]
    trailing = derive_figure(quarters[-1], quarters, total, formula, notes)
    return replace(trailing, start=quarters[0].start, is_trailing=True)


def _find_earlier_end(current: Figure, period: PeriodFilter, lag: int) -> tuple[int, int]:
    """Return the end of the period ``lag`` periods earlier, and the tolerance in days."""
    if lag == 1 and current.start:
        return day_number(current.start) - 1, _SLACK_DAYS
    end = day_number(current.end) - round(lag * YEAR_DAYS / period.periods_per_year)
    return end, _QUARTER_SLACK_DAYS if lag % period.periods_per_year else _SLACK_DAYS


def _filter_by_end(figures: Iterable[Figure], end: int, slack_days: int, kind: str | None = None) -> tuple[Figure, ...]:
    return tuple(
        figure
        for figure in figures
        if kind in (None, figure.period) and abs(day_number(figure.end) - end) <= slack_days
    )


def explain_split(source: CompanyFigures, figures: Iterable[Figure]) -> dict[str, Any] | None:
    share_figures = [figure for figure in figures if is_in_shares(figure.unit)]
    if not share_figures or source.options.vintage == SPLIT_ADJUSTED:
        return None
    if len({find_split_factor(source.splits, figure.fact.filed, source.options.as_of) for figure in share_figures}) < 2:
        return None
    message = f"{source.company.name} split its shares between the filings that state the inputs"
    return build_missing("not_comparable", message, "Set vintage to split_adjusted")


@dataclass(frozen=True, slots=True)
class MetricResult:
    """A metric's figures, the headline figures among them, and the reasons for missing values."""

    figures: Sequence[Figure] = ()
    headline: Sequence[Figure] = ()
    missing: Missing = field(default_factory=dict)


def find_figures(source: CompanyFigures, text: str, window: PeriodFilter) -> MetricResult:
    """Return the figures for a metric's name, alias or tag, or for an expression."""
    # The reasons in ``missing`` name the ticker. They are copied, because readers may modify a response.
    key = ("result", text, window, source.options)
    result = source.cached(lambda: _find_figures(source, text, window), *key)
    return replace(result, missing=deepcopy(result.missing)) if result.missing else result


def _find_figures(source: CompanyFigures, text: str, window: PeriodFilter) -> MetricResult:
    periods = source.resolve_period(window).list_periods()
    results = [_find(source, text, period) for period in periods]
    if len(periods) == 1 and len(results[0].headline) == 1:
        return results[0]
    headline = mark_basis_changes([figure for result in results for figure in result.headline], source)
    by_dates = {(figure.start, figure.end): figure for figure in headline}
    figures = [by_dates.get((figure.start, figure.end), figure) for result in results for figure in result.figures]
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
    return MetricResult(figures, headline, missing)


def mark_basis_changes(headline: Sequence[Figure], source: CompanyFigures) -> list[Figure]:
    """Return consecutive figures, with a note on each figure that is not comparable with the previous one."""
    noted_figures = list(headline[:1])
    for previous, figure in pairwise(headline):
        explanation = explain_break(previous, figure, source.options, source.name_changes)
        is_next_year = previous.period == figure.period == YEAR and figure.fiscal_year - previous.fiscal_year == 1
        if YEAR in (previous.period, figure.period) and figure.period not in (YEAR, INSTANT):
            explanation = "a transition period: the company changed its fiscal year end"
        elif is_next_year and abs(day_number(figure.start) - day_number(previous.end)) > _SLACK_DAYS:
            explanation = "the company changed its fiscal year end: this year does not follow the previous one"
        noted_figures.append(figure.with_note(explanation) if explanation else figure)
    return noted_figures


def _find(source: CompanyFigures, text: str, window: PeriodFilter) -> MetricResult:
    metric = source.find_metric(text)
    if metric is None:
        return MetricResult(missing={text: explain_missing_metric(source, text)})
    if metric.kind == RECIPE:
        return _compute(source, metric, text, window)
    if window.is_trailing:
        try:
            trailing = _find_trailing(source, metric, window)
        except Unavailable as error:
            return MetricResult(missing={text: error.reason})
        return MetricResult([trailing], [trailing])
    selection = _select(source, metric, window)
    if not selection.headline:
        missing = {text: _explain_missing(source, metric, metric, window, selection.figures)}
    else:
        missing = _explain_rejected(source, metric, text, selection)
    return MetricResult(selection.figures, selection.headline, missing)


def _select(source: CompanyFigures, metric: Metric, window: PeriodFilter) -> MetricFigures:
    selection = source.select(metric, window)
    if not window.frequency:
        return selection
    if all(figure.period == INSTANT for figure in selection.figures):
        # Balances have no duration; an annual balance is one at a fiscal year end.
        is_annual = window.frequency == ANNUAL
        chosen = [figure for figure in selection.figures if not is_annual or source.calendar.is_year_end(figure.end)]
    else:
        chosen = [figure for figure in selection.figures if figure.period in _FREQUENCIES[window.frequency]]
        if window.frequency == ANNUAL:
            chosen += _list_transitions(source, selection.figures)
    return replace(selection, headline=tuple(sorted(chosen, key=lambda figure: (figure.end, figure.start))))


def _list_transitions(source: CompanyFigures, figures: Sequence[Figure]) -> list[Figure]:
    """Return, for each transition period reported in a 10-KT, the figure that covers the most time."""
    longest: dict[str, Figure] = {}
    for figure in figures:
        is_transition = any(fact.form.startswith("10-KT") for fact in figure.headlines)
        if is_transition and figure.period not in (YEAR, INSTANT) and source.calendar.is_transition_start(figure.start):
            longest[figure.start] = max(figure, longest.get(figure.start, figure), key=lambda candidate: candidate.end)
    return list(longest.values())


def _explain_missing(
    source: CompanyFigures, metric: Metric, main_metric: Metric, window: PeriodFilter, figures: Sequence[Figure]
) -> dict[str, Any]:
    """Explain why a period has no figure for a metric; ``main_metric`` is the metric or a recipe's main input."""
    available = [name for name, lengths in _FREQUENCIES.items() if any(figure.period in lengths for figure in figures)]
    if not window.frequency or not available:
        return explain_missing_figure(source, main_metric, window)
    message = f"{metric.name} of {source.company.name} has no {window.frequency} values for {window.label}"
    return build_missing("not_reported", message, f"Set period to {' or '.join(available)}")


def _explain_rejected(source: CompanyFigures, metric: Metric, text: str, selection: MetricFigures) -> Missing:
    if selection.headline[0].period != QUARTER:
        return {}
    return {
        f"{text} {PeriodFilter.from_figure(figure).period}": explain_rejected_quarter(source, metric, figure)
        for figure in sorted(selection.rejected, key=lambda figure: figure.end)
    }


def _compute(source: CompanyFigures, recipe: Metric, text: str, window: PeriodFilter) -> MetricResult:
    formula = read_formula(recipe.expression)
    periods = [window]
    missing: Missing = {}
    if window.year is None:
        words = [lookup.name for lookup in list_lookups(formula)]
        inputs = [metric for word in words if (metric := source.find_metric(word)) is not None]
        main_input = next((metric for metric in inputs if metric.kind != STOCK), inputs[0])
        lengths = (INSTANT,) if main_input.kind == STOCK else (YEAR, QUARTER)
        selection = _select(source, main_input, window)
        reported = [figure for figure in selection.headline if figure.period in lengths]
        periods = list(dict.fromkeys(map(PeriodFilter.from_figure, reported)))
        if not periods:
            candidates = [figure for figure in selection.figures if figure.period in lengths]
            missing = {text: _explain_missing(source, recipe, main_input, window, candidates)}
            return MetricResult(missing=missing)
        missing = _explain_rejected(source, main_input, text, selection)
    figures: list[Figure] = []
    for period in periods:
        try:
            figures.append(compute(source, formula, period).to_figure(recipe))
        except Unavailable as error:
            missing[text if window.year else f"{text} {period.period}"] = error.reason
    if missing and not figures:
        missing = {text: next(iter(missing.values()))}
    return MetricResult(figures, figures, missing)
