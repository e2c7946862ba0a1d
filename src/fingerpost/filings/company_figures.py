"""The figures of one company, under the options of a question."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fingerpost.filings.concepts import Metric, find_concept, find_metric
from fingerpost.filings.figure import LATEST_FIGURES, Company, Fact, Figure, FigureOptions, Series
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.period_filter import PeriodFilter, Selection, select_figures
from fingerpost.filings.periods import FiscalCalendar
from fingerpost.filings.reply import row_of, source_of
from fingerpost.filings.resolver import count_in_shares, resolve
from fingerpost.filings.revisions import SPLIT_CONCEPT, WITNESS_CONCEPTS, Split, is_in_shares, list_splits


@dataclass(frozen=True, slots=True)
class CompanyFigures:
    """A company in a library; the library stores what was resolved until its file changes."""

    library: FactLibrary
    company: Company
    options: FigureOptions = LATEST_FIGURES

    def with_options(self, **changes: Any) -> "CompanyFigures":
        return replace(self, options=replace(self.options, **changes))

    @property
    def provenance(self) -> dict[str, Any]:
        return source_of(self.company, as_of=self.options.as_of)

    def row_of(self, metric_name: str, figure: Figure) -> dict[str, Any]:
        return row_of(self.company, metric_name, figure, self.options)

    @property
    def concepts(self) -> dict[str, str]:
        """The concepts that the company files, and their labels."""
        return self.library.keep(
            ("concepts", self.company.cik),
            lambda: dict(self._rows("SELECT name, label FROM concepts WHERE cik = ? ORDER BY name")),
        )

    def list_concepts_known(self, as_of: str) -> set[str]:
        query = (
            "SELECT DISTINCT concepts.name FROM concepts JOIN reported ON reported.concept = concepts.id"
            " JOIN reports ON reports.id = reported.report WHERE concepts.cik = ? AND reports.filed <= ?"
        )
        return {name for (name,) in self._rows(query, as_of)}

    def find_metric(self, text: str) -> Metric | None:
        """Return the meaning of a caller's word: a metric, a recipe, or one of the company's own concepts."""
        found = find_metric(text) if ":" not in text else None
        return found or find_concept(text, self.concepts)

    @property
    def calendar(self) -> FiscalCalendar:
        def read() -> FiscalCalendar:
            years = dict(self._rows("SELECT end_date, fiscal_year FROM fiscal_years WHERE cik = ?"))
            return FiscalCalendar(years.items())

        return self.library.keep(("calendar", self.company.cik), read)

    @property
    def splits(self) -> list[Split]:
        def read() -> list[Split]:
            return list_splits(self._facts((SPLIT_CONCEPT,)), self._facts(WITNESS_CONCEPTS))

        return self.library.keep(("splits", self.company.cik), read)

    def series(self, metric: Metric) -> Series:
        def read() -> Series:
            facts = self._facts(metric.concepts)
            # Only figures in shares need splits, and finding splits takes longer than finding the figures.
            in_shares = any(is_in_shares(fact.unit) for fact in facts)
            return resolve(
                metric,
                facts,
                calendar=self.calendar,
                splits=self.splits if in_shares else (),
                sic=self.company.sic,
                currency=self.company.currency,
                options=self.options,
            )

        return self.library.keep(("series", self.company.cik, metric.concepts, metric.name, self.options), read)

    def restate(self, figure: Figure, fact: Fact) -> Figure:
        """Return a figure as one filing states it, in the shares that the options ask for."""
        splits = self.splits if is_in_shares(figure.unit) else ()
        return count_in_shares((figure.as_filed or figure).restated_by(fact), splits, self.options)

    def select(self, metric: Metric, period: PeriodFilter) -> Selection:
        key = ("found", self.company.cik, metric.concepts, metric.name, period, self.options)
        return self.library.keep(key, lambda: select_figures(self.series(metric), period, self.calendar))

    def _facts(self, concepts: Sequence[str]) -> list[Fact]:
        marks = ", ".join("?" * len(concepts))
        query = (
            "SELECT concepts.name, reported.unit, reported.start_date, reported.end_date, reported.value,"  # noqa: S608
            " reports.accession, reports.form, reports.filed FROM concepts"
            " JOIN reported ON reported.concept = concepts.id JOIN reports ON reports.id = reported.report"
            f" WHERE concepts.cik = ? AND concepts.name IN ({marks})"
        )
        return [Fact(*row) for row in self._rows(query, *concepts)]

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query under each CIK of the company, which is its first value."""
        return [row for cik in self.library.list_ciks(self.company) for row in self.library.rows(query, cik, *values)]
