"""Build responses about SEC filings: values, rows, sources and reasons for missing values."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from fingerpost import clock
from fingerpost.errors import DataNotFound, list_first
from fingerpost.filings.figure import SAMPLE, Company, Figure, FigureOptions, cite_filing
from fingerpost.filings.periods import HALF, INSTANT, NINE_MONTHS, QUARTER, TRAILING, YEAR

# Machine-readable reason codes for missing values (docs/filings.md).
Reason = Literal[
    "not_reported", "not_in_aggregate_yet", "before_xbrl", "unknown_metric", "unknown_ticker", "not_loaded", "no_match",
    "outside_sample", "hidden_by_as_of", "other_form", "not_derivable", "not_comparable",
]  # fmt: skip
Missing = dict[str, dict[str, Any]]

SAMPLE_NOTE = "A small sample that ships with fingerpost; it is neither complete nor up to date"

# The longest interval between annual reports (a year) or quarterly reports (half a year), plus time to file.
_OVERDUE_DAYS, _QUARTERLY_OVERDUE_DAYS = 430, 185
_MAX_NAMES = 3
_PERIOD_TYPES = {
    YEAR: "annual",
    QUARTER: "quarter",
    HALF: "half_year",
    NINE_MONTHS: "nine_months",
    INSTANT: "instant",
    TRAILING: "ttm",
}


@dataclass(slots=True)
class Reply:
    """The content of a response; ``data`` contains the values (rule F3), and ``extra`` any additional fields."""

    results: list[dict[str, Any]]
    data: dict[str, Any] | None = None
    missing: Missing = field(default_factory=dict)
    source: dict[str, Any] | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add_values(self, name: str, figures: Sequence[Figure], *, is_series: bool) -> None:
        """Add a metric's values to ``data``: one value as a number, a series as a list (rule F3)."""
        points = [{"end_date": figure.end, "value": figure.value} for figure in figures]
        if points:
            is_number = len(points) == 1 and not is_series
            self.data = {**(self.data or {}), name: figures[0].value if is_number else points}

    @property
    def value_mode(self) -> str | None:
        """The form of the values in ``data``: ``scalar`` for numbers, ``series`` for lists, or ``mixed``."""
        values: list[Any] = []
        for value in (self.data or {}).values():
            values += value.values() if isinstance(value, dict) else [value]
        modes = {"series" if isinstance(value, list) else "scalar" for value in values}
        return "mixed" if len(modes) > 1 else next(iter(modes), None)

    def require_rows(self, message: str) -> "Reply":
        if not self.results:
            raise build_not_found(message, self.missing, self.source)
        return self

    def to_fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"data": self.data, "value_mode": self.value_mode, "missing": self.missing or None}
        fields |= {"source": self.source, **self.extra, "notes": self.notes or None}
        return {name: value for name, value in fields.items() if value is not None}


def build_source(*companies: Company, as_of: str | None = None) -> dict[str, Any]:
    """Build the ``source`` field of a response; ``complete_through`` is the earliest of the companies' dates.

    A note warns about companies whose next report was due by ``as_of`` (default: today).
    """
    datasets = sorted({company.dataset for company in companies})
    source: dict[str, Any] = {
        "dataset": "+".join(datasets),
        "retrieved_at": min((company.retrieved_at for company in companies if company.retrieved_at), default=None),
        "complete_through": min(company.complete_through for company in companies),
    }
    notes = [SAMPLE_NOTE] if SAMPLE in datasets else []
    today = clock.now().date()
    day = today if as_of is None else min(today, date.fromisoformat(as_of))
    overdue = [
        company
        for company in companies
        if company.dataset != SAMPLE
        and (day - date.fromisoformat(company.complete_through)).days
        > (_QUARTERLY_OVERDUE_DAYS if company.is_quarterly else _OVERDUE_DAYS)
    ]
    if overdue:
        names = list_first([f"{company.ticker} ({company.complete_through})" for company in overdue], _MAX_NAMES)
        notes.append(
            f"The next report is overdue for {names}: run fingerpost filings sync, unless the company"
            " has stopped filing"
        )
    if notes:
        source["note"] = "; ".join(notes)
    return source


def build_missing(reason: Reason, message: str, next_step: str, suggestions: list[str] | None = None) -> dict[str, Any]:
    """Build an entry for ``missing``. ``message`` and ``next_step`` must not end with a period."""
    entry: dict[str, Any] = {"reason": reason, "message": message, "next_step": next_step}
    if suggestions:
        entry["did_you_mean"] = suggestions
    return entry


def build_not_found(message: str, missing: Missing, source: dict[str, Any] | None = None) -> DataNotFound:
    reasons = list(dict.fromkeys(entry["message"] for entry in missing.values()))
    steps = list(dict.fromkeys(entry["next_step"] for entry in missing.values()))
    sentence = f"{message}: {'; '.join(reasons)}" if reasons else message
    details: dict[str, Any] = {"missing": dict(missing)} if missing else {}
    if source is not None:
        details["source"] = source
    return DataNotFound(sentence, details, hint="; ".join(steps) or None)


def build_row(company: Company, figure: Figure, options: FigureOptions) -> dict[str, Any]:
    """Build the row for a figure. Omit empty fields, unless the original contract requires them."""
    fact, period = figure.fact, figure.period
    has_quarter = period in (QUARTER, INSTANT)
    longer_period = period if period in _PERIOD_TYPES else None
    row: dict[str, Any] = {
        "ticker": company.ticker,
        **_describe(figure),
        "period_type": _PERIOD_TYPES.get(period, "other"),
        "fiscal_year": figure.fiscal_year,
        "fiscal_period": f"Q{figure.fiscal_quarter}" if has_quarter else longer_period,
        **cite_filing(company.cik, fact.accession, fact.form, fact.filed),
        "cik": company.padded_cik,
        "metric_name": figure.metric,
        "fiscal_quarter": figure.fiscal_quarter if has_quarter else None,
        "vintage": options.label,
    }
    if figure.parts:
        row |= {"formula": figure.formula, "inputs": [_describe(part) for part in figure.parts]}
    if len(figure.values) > 1:
        row["revisions"] = [
            {
                "value": fact.value,
                "kind": kind,
                "filing_date": fact.filed,
                "filing_type": fact.form,
                "accession_number": fact.accession,
            }
            for fact, kind in figure.values
        ]
    if figure.alternatives:
        row["confidence"] = "low"
        row["alternatives"] = [
            {"xbrl_tag": fact.concept, "value": fact.value, "accession_number": fact.accession}
            for fact in figure.alternatives
        ]
    if figure.notes:
        row["notes"] = list(figure.notes)
    return row


def _describe(figure: Figure) -> dict[str, Any]:
    """Return the fields that a figure has as a row and as an input to another figure."""
    return {
        "value": figure.value,
        "unit": figure.unit,
        "start_date": figure.start or None,
        "end_date": figure.end,
        "xbrl_tag": figure.fact.concept or None,
        "accession_number": figure.fact.accession,
        "filing_date": figure.fact.filed,
        "kind": figure.kind,
    }
