"""Look a metric up at a company in a window: reported figures, or the values of a recipe."""

from dataclasses import dataclass, field
from typing import Any

from fingerpost.filings.company_figures import CompanyFigures
from fingerpost.filings.concepts import RECIPE, STOCK, Metric
from fingerpost.filings.figure import DERIVED, Figure
from fingerpost.filings.formula import formula_of, plain
from fingerpost.filings.period_filter import PeriodFilter, Selection
from fingerpost.filings.period_inputs import Calculation, Computed
from fingerpost.filings.periods import INSTANT, QUARTER, YEAR
from fingerpost.filings.reasons import Missing, missing_figure, missing_metric, refused_quarter


@dataclass(frozen=True, slots=True)
class Finding:
    """The figures of a metric, and the reasons for what is missing; ``name`` is the metric's own."""

    name: str
    found: Selection = field(default_factory=Selection)
    missing: Missing = field(default_factory=dict)

    @property
    def points(self) -> list[dict[str, Any]]:
        """The days and values of the headline."""
        return [{"end_date": figure.end, "value": figure.value} for figure in self.found.headline]


def look_up(source: CompanyFigures, text: str, window: PeriodFilter) -> Finding:
    """Return what a company has of a metric, by any of its names."""
    metric = source.find_metric(text)
    if metric is None:
        return Finding(text, missing={text: missing_metric(source, text)})
    if metric.kind == RECIPE:
        return _compute(source, metric, text, window)
    found = source.select(metric, window)
    if not found.headline:
        return Finding(metric.name, found, {text: missing_figure(source, metric, window)})
    refused = explain_refused(source, metric, text, found) if found.headline[0].period == QUARTER else {}
    return Finding(metric.name, found, refused)


def explain_refused(source: CompanyFigures, metric: Metric, text: str, found: Selection) -> Missing:
    """Return why some quarters of a window are not derived."""
    return {
        f"{text} {PeriodFilter.of(figure).period}": refused_quarter(source, metric, figure) for figure in found.refused
    }


def _compute(source: CompanyFigures, recipe: Metric, text: str, window: PeriodFilter) -> Finding:
    """Return a recipe's values: of the fiscal period, or of the periods that a window has of its first flow."""
    formula = formula_of(recipe, recipe.name)
    periods = {window: True}
    if window.year is None:
        inputs = [metric for word in formula.words if (metric := source.find_metric(word)) is not None]
        first = next((metric for metric in inputs if metric.kind != STOCK), inputs[0])
        stated = source.select(first, window)
        if not stated.headline:
            return Finding(recipe.name, stated, {text: missing_figure(source, first, window)})
        kinds = (INSTANT,) if first.kind == STOCK else (YEAR, QUARTER)
        periods = {
            PeriodFilter.of(figure): figure in stated.headline for figure in stated.figures if figure.period in kinds
        }
    figures: list[Figure] = []
    headline: list[Figure] = []
    missing: Missing = {}
    for period, is_headline in periods.items():
        computed = Calculation(source, formula, period).compute()
        if isinstance(computed, Computed):
            figures.append(_figure_of(recipe, computed))
            headline += figures[-1:] if is_headline else []
        elif is_headline:
            missing[text if window.year else f"{text} {period.period}"] = next(iter(computed.values()))
    if missing and not headline:
        missing = {text: next(iter(missing.values()))}
    return Finding(recipe.name, Selection(tuple(figures), tuple(headline)), missing)


def _figure_of(recipe: Metric, computed: Computed) -> Figure:
    """Return a computed value as a figure of its period; the filing is the newest of those of its inputs."""
    figures = computed.figures
    current = [figure for lookup, (_, figure) in computed.inputs.items() if not lookup.back and not figure.is_cover]
    last = max(current or figures, key=lambda figure: (figure.end, figure.start))
    newest = max((figure.fact for figure in figures), key=lambda fact: (fact.filed, fact.accession))
    notes = [recipe.note] if recipe.note else []
    return Figure(
        start=last.start,
        end=last.end,
        unit=computed.unit,
        value=plain(computed.value),
        fact=newest._replace(concept=""),
        kind=DERIVED,
        parts=tuple(figures),
        formula=recipe.expression,
        notes=tuple(dict.fromkeys(notes + computed.notes)),
        fiscal_year=last.fiscal_year,
        fiscal_quarter=last.fiscal_quarter,
    )
