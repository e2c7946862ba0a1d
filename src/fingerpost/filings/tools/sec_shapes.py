"""Response models for the filings tools: the original contract's fields, and the source of each number."""

from typing import Annotated, Any, Literal

from pydantic import Field

from fingerpost.contract.wire import Number
from fingerpost.filings.claims import VerdictName
from fingerpost.filings.tools.sec_query import StandardAnswer, StepModel

Value = int | Number
Cell = int | float | str | None
Kind = Literal["reported", "derived"]
Change = Literal["original", "rounded", "split", "restated"]
Vintage = Literal["latest", "original", "as_of", "split_adjusted"]


class Source(StepModel):
    dataset: str
    retrieved_at: str | None = None
    complete_through: str
    note: str | None = None


class Missing(StepModel):
    reason: str
    message: str
    next_step: str
    did_you_mean: list[str] | None = None


class Part(StepModel):
    value: Value
    unit: str
    start_date: str | None = None
    end_date: str
    xbrl_tag: str
    accession_number: str
    filing_date: str
    kind: Kind


class FilingReference(StepModel):
    filing_date: str
    filing_type: str
    accession_number: str


class RevisionRow(FilingReference):
    value: Value
    kind: Change


class Alternative(StepModel):
    xbrl_tag: str
    value: Value
    accession_number: str


class FiledRow(FilingReference):
    ticker: str
    value: Value
    unit: str
    start_date: str | None = None
    end_date: str
    fiscal_year: int
    filing_url: str


class FigureRow(FiledRow):
    period_type: Literal["annual", "quarter", "half_year", "nine_months", "instant", "ttm", "other"]
    fiscal_period: str | None = None
    cik: str
    metric_name: str
    fiscal_quarter: int | None = None
    xbrl_tag: str | None = None
    kind: Kind
    vintage: Vintage
    formula: str | None = None
    inputs: list[Part] | None = None
    revisions: list[RevisionRow] | None = None
    confidence: Literal["low"] | None = None
    alternatives: list[Alternative] | None = None
    notes: list[str] | None = None


class CompanyRow(StepModel):
    ticker: str
    tickers: list[str]
    name: str
    cik: str
    sic: str | None = None
    sector: str | None = None
    industry: str | None = None
    exchange: str | None = None
    currency: str
    dataset: str
    first_period_end: str
    complete_through: str


class MetricRow(StepModel):
    xbrl_tag: str
    standard_metric_name: str | None = None
    category: str
    description: str


class Point(StepModel):
    end_date: str
    value: Value


Headline = Value | list[Point]
Mode = Annotated[
    Literal["scalar", "series", "mixed"] | None, Field(description="whether the values in data are numbers or lists")
]


class SourcedAnswer(StandardAnswer):
    """Base class for responses about figures, with their source and missing values."""

    source: Source
    missing: dict[str, Missing] | None = None


class ValuesAnswer(SourcedAnswer):
    """Rows, and ``data`` with the values by metric name as spelled in the query (rule F3)."""

    value_mode: Mode = None
    data: dict[str, Any]


class StatementAnswer(ValuesAnswer):
    statement: Literal["income", "balance", "cash_flow"]


class SqlAnswer(StandardAnswer):
    """The rows of a SQL query; ``truncated`` is true if there are more rows."""

    truncated: bool


class FilingRow(FilingReference):
    filing_url: str
    fiscal_year: int | None = None
    fiscal_period: str | None = None
    report_date: str | None = None
    description: str | None = None


class CountedAnswer(StandardAnswer):
    total_results: int


class TextRow(FilingReference):
    """A page from a filing's text."""

    ticker: str | None = None
    cik: str
    filing_url: str
    section: str
    section_type: str
    page: int
    pages: int
    text: str


class HitMetadata(FilingReference):
    company: str | None = None
    ticker: str | None = None
    cik: str
    section: str
    section_type: str


class Hit(StepModel):
    """A paragraph that shares words with the query; a higher ``score`` is a better match."""

    id: str
    score: Number
    text: str
    metadata: HitMetadata


class SearchAnswer(CountedAnswer):
    query: str
    ranking: Literal["lexical"]


class Verdict(StepModel):
    """The verdict on a claim; all values are in ``unit``, and ``tolerance`` is the allowed difference.

    The dates are those of the claim's period; ``true_statement`` states the filed value.
    """

    verdict: VerdictName
    claimed: Value | None = None
    value: Value | None = None
    difference: Value | None = None
    tolerance: Value | None = None
    unit: str | None = None
    start_date: str | None = None
    end_date: str | None = None
    true_statement: str | None = None


class ClaimAnswer(SourcedAnswer):
    data: Verdict
    explanation: str
