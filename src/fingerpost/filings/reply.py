"""Answers about filings, without the plan-step contract's envelope: values, rows, sources, reasons."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Literal

from fingerpost import clock
from fingerpost.errors import DataNotFound
from fingerpost.filings.figure import SAMPLE, Company, Fact, Figure, FigureOptions, filing_url
from fingerpost.filings.periods import HALF, INSTANT, NINE_MONTHS, QUARTER, TRAILING, YEAR

# Why something is missing, for machines (docs/filings.md).
Reason = Literal[
    "not_reported", "not_in_aggregate_yet", "before_xbrl", "unknown_metric", "unknown_ticker", "not_loaded", "no_match",
    "outside_sample", "hidden_by_as_of", "other_unit", "other_form", "not_derivable", "not_comparable",
]  # fmt: skip
Missing = dict[str, dict[str, Any]]

SAMPLE_NOTE = "A small sample that ships with fingerpost; it is neither complete nor up to date"

# From one annual report to the next, with the delay of a late filer.
_OVERDUE_DAYS = 430
_NAMED = 3
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
    """Rows, the values in ``data`` (rule F3), missing values with reasons, and the source."""

    results: list[dict[str, Any]]
    data: dict[str, Any] | None = None
    missing: Missing = field(default_factory=dict)
    source: dict[str, Any] | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def put(self, name: str, points: Sequence[dict[str, Any]], *, is_series: bool = False) -> None:
        """Add the values of a metric to ``data``: one as a number, several as a list (rule F3)."""
        is_number = len(points) == 1 and not is_series
        self.data = {**(self.data or {}), name: points[0]["value"] if is_number else list(points)}

    @property
    def value_mode(self) -> str | None:
        """Whether the values in ``data`` are numbers (scalar), lists (series), or both."""
        values = [
            value for own in (self.data or {}).values() for value in (own.values() if isinstance(own, dict) else [own])
        ]
        modes = {"series" if isinstance(value, list) else "scalar" for value in values}
        return "mixed" if len(modes) > 1 else next(iter(modes), None)

    def require_rows(self, message: str) -> "Reply":
        if not self.results:
            raise no_result(message, self.missing, self.source)
        return self

    def to_fields(self) -> dict[str, Any]:
        fields = {
            "data": self.data,
            "value_mode": self.value_mode,
            "missing": self.missing or None,
            "source": self.source,
        }
        return {name: value for name, value in fields.items() if value is not None} | self.extra


def points_of(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{"end_date": row["end_date"], "value": row["value"]} for row in rows]


def source_of(*companies: Company, as_of: str | None = None) -> dict[str, Any]:
    """Return the source of an answer about some companies, with the least complete day of them.

    A note warns of companies whose next annual report was due by today, or by ``as_of``.
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
    oldest = (day - timedelta(days=_OVERDUE_DAYS)).isoformat()
    overdue = [company for company in companies if company.dataset != SAMPLE and company.complete_through < oldest]
    if overdue:
        more = f" and {len(overdue) - _NAMED} more" if len(overdue) > _NAMED else ""
        named = ", ".join(f"{company.ticker} ({company.complete_through})" for company in overdue[:_NAMED])
        notes.append(
            f"The next annual report is overdue for {named}{more}: run fingerpost filings sync, unless the company"
            " stopped filing"
        )
    if notes:
        source["note"] = "; ".join(notes)
    return source


def missing_entry(reason: Reason, message: str, next_step: str, near: list[str] | None = None) -> dict[str, Any]:
    """Return an entry of ``missing``; ``reason`` is for machines, the sentences have no full stop."""
    entry: dict[str, Any] = {"reason": reason, "message": message, "next_step": next_step}
    if near:
        entry["did_you_mean"] = near
    return entry


def no_result(message: str, missing: Missing, source: dict[str, Any] | None = None) -> DataNotFound:
    reasons = list(dict.fromkeys(entry["message"] for entry in missing.values()))
    steps = list(dict.fromkeys(entry["next_step"] for entry in missing.values()))
    sentence = f"{message}: {'; '.join(reasons)}" if reasons else message
    details: dict[str, Any] = {"missing": dict(missing)} if missing else {}
    if source is not None:
        details["source"] = source
    return DataNotFound(sentence, details, hint="; ".join(steps) or None)


def row_of(company: Company, metric_name: str, figure: Figure, options: FigureOptions) -> dict[str, Any]:
    """Return a figure's row; empty optional fields are left out, the original's fields never."""
    row = cited_row(company, figure, figure.fact) | {
        "cik": company.padded_cik,
        "metric_name": metric_name,
        "fiscal_quarter": figure.fiscal_quarter if figure.period in (QUARTER, INSTANT) else None,
        "xbrl_tag": figure.fact.concept or None,
        "kind": figure.kind,
        "vintage": options.label,
    }
    if figure.parts:
        row["formula"] = figure.formula
        row["inputs"] = [input_of(part) for part in figure.parts]
    if len(figure.values) > 1:
        row["revisions"] = [
            {
                "value": revision.value,
                "kind": revision.kind,
                "filing_date": revision.fact.filed,
                "filing_type": revision.fact.form,
                "accession_number": revision.fact.accession,
            }
            for revision in figure.values
        ]
    if figure.alternatives:
        row["confidence"] = "low"
        row["alternatives"] = [
            {"xbrl_tag": other.concept, "value": other.value, "accession_number": other.accession}
            for other in figure.alternatives
        ]
    if figure.notes:
        row["notes"] = list(figure.notes)
    return row


def cited_row(company: Company, figure: Figure, fact: Fact) -> dict[str, Any]:
    return {
        "ticker": company.ticker,
        "value": figure.value,
        "unit": figure.unit,
        "period_type": _PERIOD_TYPES.get(figure.period, "other"),
        "start_date": figure.start or None,
        "end_date": figure.end,
        "fiscal_year": figure.fiscal_year,
        "fiscal_period": _fiscal_period(figure),
        "filing_date": fact.filed,
        "filing_type": fact.form,
        "accession_number": fact.accession,
        "filing_url": filing_url(company.cik, fact.accession),
    }


def input_of(figure: Figure) -> dict[str, Any]:
    return {
        "value": figure.value,
        "unit": figure.unit,
        "start_date": figure.start or None,
        "end_date": figure.end,
        "xbrl_tag": figure.fact.concept,
        "accession_number": figure.fact.accession,
        "filing_date": figure.fact.filed,
        "kind": figure.kind,
    }


def _fiscal_period(figure: Figure) -> str | None:
    if figure.period in (QUARTER, INSTANT):
        return f"Q{figure.fiscal_quarter}"
    return figure.period if figure.period in (YEAR, HALF, NINE_MONTHS, TRAILING) else None
