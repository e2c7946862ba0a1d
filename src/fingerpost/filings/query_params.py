"""Parameter models for the SEC filings tools (plan-step contract, rules F3, F7)."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

from fingerpost.errors import ParameterError
from fingerpost.filings.figure import FigureOptions
from fingerpost.filings.formula import MAX_LENGTH, to_number
from fingerpost.filings.period_filter import FIRST_DAY, LAST_DAY, NEWEST_TTM, NEWEST_YEAR, PeriodFilter, read_period


def build_error(field: str, sentence: str) -> ValidationError:
    """Return an error about one field, for use in a validator of the whole model."""
    error = PydanticCustomError("whole_sentence", "{sentence}", {"sentence": sentence})
    return ValidationError.from_exception_data("", [InitErrorDetails(type=error, loc=(field,), input=None)])


def _parse_fiscal_period(value: Any) -> PeriodFilter:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str):
        raise ValueError("period must be a string such as 2022 or 2022-Q2")
    return read_period(text)


_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class FinancialFactsParams(BaseModel):
    """Parameters for financial facts queries; a date is a YYYY-MM-DD string or a ``date``."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    ticker: str
    metrics: list[str]
    start_date: str
    end_date: str
    filing_type: str | None = None

    @field_validator("start_date", "end_date", mode="before")
    @classmethod
    def validate_date_format(cls, value: Any) -> str:
        """Return the date as a string. The contract prescribes the first two error messages."""
        if isinstance(value, date):
            value = value.isoformat()
        if not isinstance(value, str) or not value.strip():
            raise ValueError("Date must be a non-empty string")
        if not _DAY.fullmatch(value):
            raise ValueError("Date must be in YYYY-MM-DD format")
        try:
            date.fromisoformat(value)
        except ValueError as error:
            raise ValueError("Date must be a valid calendar date") from error
        return value

    @model_validator(mode="after")
    def _start_before_end(self) -> Self:
        if self.start_date > self.end_date:
            raise ValueError("start_date must not be after end_date")
        return self


_NON_BLANK = StringConstraints(strip_whitespace=True, min_length=1, max_length=200)
Ticker = Annotated[str, _NON_BLANK, Field(description="a symbol such as AAPL, or a CIK")]
Word = Annotated[str, _NON_BLANK]
Day = Annotated[str, BeforeValidator(FinancialFactsParams.validate_date_format), Field(description="YYYY-MM-DD")]
FiscalPeriod = Annotated[
    PeriodFilter,
    BeforeValidator(_parse_fiscal_period),
    WithJsonSchema({"type": "string", "description": "fiscal: 2022, 2022-Q2, 2019..2022, latest or ttm"}),
]


def _require_single_period(period: PeriodFilter) -> PeriodFilter:
    if period.count > 1 or period.newest == NEWEST_TTM:
        raise ValueError("must be one period here; financial_facts, compare and calculate accept ranges and ttm")
    return period


SinglePeriod = Annotated[
    FiscalPeriod,
    AfterValidator(_require_single_period),
    WithJsonSchema({"type": "string", "description": "fiscal: 2022, 2022-Q2 or latest"}),
]
Vintage = Literal["latest", "original", "split_adjusted"]


class StepParams(BaseModel):
    """Base model for query parameters; an explicit null counts as absent (rule A2)."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


class ViewParams(StepParams):
    as_of: Annotated[Day | None, Field(description="ignore later filings")] = None
    vintage: Annotated[Vintage, Field(description="which of several reported values")] = "latest"
    filing_type: Annotated[Word | None, Field(description="only from filings of this form, such as 10-K")] = None

    @property
    def options(self) -> FigureOptions:
        return FigureOptions(self.vintage, self.as_of, self.filing_type)


class WindowParams(ViewParams):
    """Base model for queries with an optional period filter. The default is all periods."""

    start_date: Day | None = None
    end_date: Day | None = None
    period: FiscalPeriod | None = None

    @model_validator(mode="after")
    def _check_date_order(self) -> Self:
        if self.start_date and self.end_date and self.start_date > self.end_date:
            raise ValueError("start_date must not be after end_date")
        return self

    @property
    def period_filter(self) -> PeriodFilter:
        period = self.period or PeriodFilter()
        if not (self.start_date or self.end_date):
            return period
        return replace(period, first=self.start_date or FIRST_DAY, last=self.end_date or LAST_DAY)


class FinancialFactsQuery(WindowParams, FinancialFactsParams):
    """Parameters of ``financial_facts``; they extend the contract's parameters. ``period`` can replace both dates."""

    ticker: Ticker
    metrics: Annotated[list[Word], Field(min_length=1, max_length=50, description="such as Revenue, or us-gaap:Assets")]
    start_date: Annotated[str | None, Field(description="first period end, YYYY-MM-DD")] = None  # type: ignore[assignment]
    end_date: Annotated[str | None, Field(description="last period end, YYYY-MM-DD")] = None  # type: ignore[assignment]

    @model_validator(mode="after")
    def _start_before_end(self) -> Self:
        if self.period is None and (self.start_date is None or self.end_date is None):
            field = "start_date" if self.start_date is None else "end_date"
            raise build_error(field, f"{field}: missing required parameter; period can replace both dates")
        return self


class CompanyInfoParams(StepParams):
    ticker: Annotated[Ticker | None, Field(description="defaults to all loaded companies")] = None
    as_of: Annotated[Day | None, Field(description="no effect: company information has no vintages")] = None


class MetricsParams(StepParams):
    ticker: Ticker
    category: Annotated[
        Literal["income", "balance", "cash_flow", "other"] | None, Field(description="only this statement")
    ] = None
    as_of: Annotated[Day | None, Field(description="ignore tags that were first filed later")] = None


def _parse_series_period(value: Any) -> PeriodFilter:
    if isinstance(value, str) and value.lower() in ("annual", "quarterly"):
        return PeriodFilter(frequency=value.lower())
    return _parse_fiscal_period(value)


class TimeSeriesParams(WindowParams):
    ticker: Ticker
    metric: Word
    period: Annotated[
        PeriodFilter | None,
        BeforeValidator(_parse_series_period),
        WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        Field(description="annual, quarterly, or a fiscal period"),
    ] = None


class FinancialRatiosParams(WindowParams):
    ticker: Ticker
    ratios: Annotated[list[Word] | None, Field(max_length=20, description="such as net_margin; defaults to all")] = None


class CompareParams(WindowParams):
    tickers: Annotated[list[Ticker], Field(min_length=1, max_length=20)]
    metrics: Annotated[list[Word], Field(min_length=1, max_length=20)]


def _reject_trailing_year(period: PeriodFilter) -> PeriodFilter:
    if period.newest == NEWEST_TTM:
        raise ValueError("must be a fiscal period here; financial_facts, compare and calculate accept ttm")
    return period


class StatementParams(ViewParams):
    ticker: Ticker
    statement: Literal["income", "balance", "cash_flow"]
    period: Annotated[FiscalPeriod, AfterValidator(_reject_trailing_year)] = PeriodFilter(newest=NEWEST_YEAR)


Relation = Literal["equals", "about", "more_than", "less_than", "grew_by", "is_record", "ranks"]
RATIO, PERCENT = "ratio", "percent"
SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_SCALE_WORDS = SCALES | {"k": 3, "m": 6, "mn": 6, "mm": 6, "b": 9, "bn": 9, "tn": 12, "in": 0, "of": 0}
_UNIT_WORDS = {"US$": "USD", "$": "USD", "€": "EUR", "£": "GBP", "%": PERCENT, "per share": "/share"}
# A limit far above any reported figure.
_AMOUNT_RANGE = {"ge": -(10**24), "le": 10**24}
_RELATION_FIELDS: Mapping[Relation, set[str]] = {
    "equals": {"value", "unit", "tolerance"},
    "about": {"value", "unit", "tolerance"},
    "more_than": {"value", "unit"},
    "less_than": {"value", "unit"},
    "grew_by": {"value", "unit", "tolerance", "base_period"},
    "is_record": set(),
    "ranks": {"value", "among"},
}
_CLAIM_HINT = (
    'Send fields such as {"ticker": "AAPL", "metric": "Revenue", "period": "2022", "relation": "equals",'
    f' "value": 394.3, "unit": "USD billion"}}; relation is one of {", ".join(_RELATION_FIELDS)};'
    " formula may replace metric; optional: tolerance, base_period (with grew_by), among (tickers, with ranks)"
)
Amount = Annotated[int, Field(strict=True, **_AMOUNT_RANGE)] | Annotated[float, Field(strict=True, **_AMOUNT_RANGE)]


def _parse_unit(text: str) -> tuple[str | None, Fraction]:
    """Return a unit as spelled in figures (USD, USD/shares, shares, ratio) and its scale: 10^6 for ``$ million``."""
    for symbol, symbol_word in _UNIT_WORDS.items():
        text = text.replace(symbol, f" {symbol_word} ")
    powers = [(word, _SCALE_WORDS.get(word.lower().rstrip("s"))) for word in text.split()]
    scale = Fraction(10 ** sum(power or 0 for _, power in powers))
    name = "".join(word for word, power in powers if power is None).lower()
    if name in (PERCENT, RATIO, "pure"):
        return RATIO, Fraction(1, 100) if name == PERCENT else scale
    if name in ("share", "shares"):
        return "shares", scale
    currency, separator, _ = name.upper().partition("/")
    return f"{currency}/shares" if separator else currency or None, scale


class Claim(ViewParams):
    """A claim about a metric or a formula in one fiscal period (rule F8)."""

    ticker: Ticker
    metric: Annotated[Word | None, Field(description="such as Revenue")] = None
    formula: Annotated[Word | None, Field(description="instead of metric: a recipe or an expression")] = None
    period: SinglePeriod
    relation: Relation
    value: Annotated[
        Amount | None, Field(description="as claimed: 394.3 with unit USD billion; growth in percent; a rank for ranks")
    ] = None
    unit: Annotated[Word | None, Field(description="USD, USD million, USD/shares, shares, ratio or percent")] = None
    tolerance: Annotated[
        Amount | None, Field(ge=0, description="in the same unit; defaults to half a unit of value's last digit")
    ] = None
    base_period: Annotated[SinglePeriod | None, Field(description="for grew_by; by default the previous period")] = None
    among: Annotated[
        list[Ticker] | None, Field(min_length=1, max_length=20, description="the other companies, for ranks")
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _reject_text(cls, fields: Any) -> Any:
        if isinstance(fields, str) or (isinstance(fields, dict) and "claim" in fields):
            raise ParameterError(
                "verify_claim takes the fields of a claim, not a sentence", {"field": "claim"}, hint=_CLAIM_HINT
            )
        return fields

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        if (self.metric is None) == (self.formula is None):
            raise ValueError("send either metric or formula")
        allowed = _RELATION_FIELDS[self.relation]
        for name in ("value", "unit", "tolerance", "base_period", "among"):
            if name not in allowed and getattr(self, name) is not None:
                raise ValueError(f"relation {self.relation} takes no {name}")
        for name in ("value", "among"):
            if name in allowed and getattr(self, name) is None:
                raise ValueError(f"relation {self.relation} needs {name}")
        if self.relation == "ranks" and not (self.value == int(self.value or 0) and self.value >= 1):
            raise ValueError("value must be a rank, 1 for the highest")
        return self

    @property
    def subject(self) -> str:
        return self.metric or self.formula or ""

    @property
    def is_rate(self) -> bool:
        return self.relation == "grew_by" and (self.unit is None or self.unit_name == RATIO)

    @property
    def unit_name(self) -> str | None:
        return _parse_unit(self.unit or "")[0]

    @property
    def scale(self) -> Fraction:
        """The factor that converts the claim's unit to the figure's unit; growth without a unit is in percent."""
        is_percent = self.unit is None and self.relation == "grew_by"
        return Fraction(1, 100) if is_percent else _parse_unit(self.unit or "")[1]

    @property
    def amount(self) -> Fraction:
        assert self.value is not None
        return Fraction(str(self.value)) * self.scale

    @property
    def precision(self) -> Fraction:
        """The precision of the claim: one unit in the last digit of the claimed value."""
        exponent = Decimal(str(to_number(Fraction(str(self.value))))).as_tuple().exponent
        return Fraction(10) ** int(exponent) * self.scale

    @property
    def allowed_difference(self) -> Fraction:
        """The largest accepted difference: ``tolerance`` or, by default, half of ``precision``."""
        if self.relation not in ("equals", "about", "grew_by"):
            return Fraction(0)
        return self.precision / 2 if self.tolerance is None else Fraction(str(self.tolerance)) * self.scale


class CalculateParams(ViewParams):
    ticker: Ticker
    expression: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_LENGTH),
        Field(description="a recipe such as free_cash_flow, or Revenue / avg(Assets), change(), prior(), cagr(x, 3)"),
    ]
    period: FiscalPeriod


class CustomSqlParams(StepParams):
    sql_query: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
    as_of: Annotated[Day | None, Field(description="ignore later filings")] = None
