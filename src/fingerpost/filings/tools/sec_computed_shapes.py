"""What the query types answer that compute or judge: calculations and verdicts, with the figures behind them."""

from typing import Literal

from fingerpost.filings.tools.sec_query import StepModel
from fingerpost.filings.tools.sec_shapes import FigureRow, Headline, Mode, Part, SourcedAnswer, Value


class Verdict(StepModel):
    """The verdict; the claimed and the filed value are in ``unit``, ``tolerance`` is the gap that is allowed."""

    verdict: Literal["confirmed", "contradicted", "stale_vintage", "cannot_judge"]
    claimed: Value | None = None
    value: Value | None = None
    difference: Value | None = None
    tolerance: Value | None = None
    unit: str | None = None


class ClaimAnswer(SourcedAnswer):
    """The verdict on a claim, and the figures that decide it."""

    query_type: Literal["verify_claim"]
    results: list[FigureRow]
    data: Verdict
    explanation: str


class CalculationInput(Part):
    """A figure that a calculation takes, the period that it is of, and the filing that states it."""

    metric_name: str
    fiscal_period: str
    filing_type: str
    filing_url: str
    kind: Literal["reported", "derived", "estimated"]


class CalculationRow(StepModel):
    """A value, the formula as asked and as filled in, and every input; ``filing_date`` is the newest of theirs."""

    ticker: str
    cik: str
    expression: str
    value: Value
    unit: str
    fiscal_year: int
    fiscal_period: str
    end_date: str | None = None
    filing_date: str | None = None
    kind: Literal["derived"]
    vintage: Literal["latest", "original", "as_of", "split_adjusted"]
    formula: str
    filled_in: str
    inputs: list[CalculationInput]
    notes: list[str] | None = None


class CalculationAnswer(SourcedAnswer):
    """An expression's values; ``data`` by the expression as asked."""

    query_type: Literal["calculate"]
    results: list[CalculationRow]
    data: dict[str, Headline]
    value_mode: Mode = None
