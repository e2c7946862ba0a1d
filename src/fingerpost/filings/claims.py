"""Whether a stated figure is true: read the whole sentence, look its figures up, compare at the claim's own precision.

What is not understood wholly is not judged: the verdict is then ``cannot_judge``, with what was not understood.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from fingerpost.errors import ParameterError
from fingerpost.filings.claim_grammar import (
    ABOUT,
    EQUAL,
    RANGE,
    REACHES,
    Statement,
    Subject,
    read_statements,
)
from fingerpost.filings.claim_verdicts import (
    CANNOT_JUDGE,
    Judged,
    combine,
    find_calendar_figure,
    find_fiscal_figure,
    judge,
)
from fingerpost.filings.claim_words import Measure, NameSpotter, Period, read_words
from fingerpost.filings.figure import FigureOptions
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.period_filter import read_period
from fingerpost.filings.reasons import missing_metric
from fingerpost.filings.reply import Reply, nothing, source_of
from fingerpost.filings.rows import row_of

_WHAT = {"ticker": "company", "metric": "metric", "period": "fiscal year or quarter", "claim": "number"}


@dataclass(frozen=True, slots=True)
class Claim:
    """What a sentence states; ``not_understood`` holds what of it could not be read, and then nothing is stated."""

    statements: tuple[Statement, ...]
    not_understood: tuple[str, ...] = ()


def read_claim(
    library: FactLibrary, text: str, ticker: str | None = None, metric: str | None = None, period: str | None = None
) -> Claim:
    """Return the claim that a sentence makes; what is given beside it need not stand in it.

    Raises:
        ParameterError: every word is understood, and the company, the metric, the period or the number is not said.
    """
    known = [(company.ticker, company.name, company.tickers) for company in library.list_companies()]
    statements, unknown = read_statements(read_words(text, NameSpotter(known)))
    if unknown:
        return Claim((), tuple(unknown))
    given = _given(library, ticker, metric, period)
    said = {subject for each in statements for subject in (each.subject, each.versus) if subject is not None}
    clashes = [
        f"{name} is {value}, and the sentence says otherwise"
        for name, value, others in (
            ("ticker", ticker, {subject.ticker for subject in said if given.ticker} - {None, given.ticker}),
            ("metric", metric, {subject.measure for subject in said if given.measure} - {None, given.measure}),
            ("period", period, _other_periods(said, given.period)),
        )
        if others
    ]
    if clashes:
        return Claim((), tuple(clashes))
    filled = [replace(each, subject=each.subject.filled(given)) for each in statements]
    for each in filled:
        for field in ("ticker", "measure", "period"):
            if getattr(each.subject, field) is None:
                name = "metric" if field == "measure" else field
                raise ParameterError(f"no {_WHAT[name]} can be read from the claim; send {name}", {"field": name})
    return Claim(tuple(filled))


def verify_claim(library: FactLibrary, claim: Claim, options: FigureOptions) -> Reply:
    """Return the verdict on a claim, with the figures that decide it.

    Raises:
        DataNotFound: there is no such figure.
    """
    if not claim.statements:
        return _cannotjudge("not every word of the claim was understood", claim.not_understood, None)
    verdicts = {}
    for reading in (find_fiscal_figure, find_calendar_figure):
        judged = [judge(library, statement, options, reading) for statement in claim.statements]
        verdicts[combine(library, judged)] = judged
    judged = next(iter(verdicts.values()))
    companies = list({each.company.cik: each.company for part in judged for each in part.operands}.values())
    source = source_of(*companies) if companies else None
    if len(verdicts) > 1:
        explanation = "; ".join(dict.fromkeys(part.explanation for parts in verdicts.values() for part in parts))
        return _cannotjudge(
            f"a year is named that may be either of two: say which fiscal year: {explanation}", (), source
        )
    verdict = next(iter(verdicts))
    reasons = [part.explanation for part in judged if part.verdict == CANNOT_JUDGE]
    if verdict == CANNOT_JUDGE:
        return _cannotjudge("; ".join(dict.fromkeys(reasons)), (), source, _rows(judged, options))
    data: dict[str, Any] = {"verdict": verdict} | _measured(judged)
    if len(judged) > 1:
        data["parts"] = [{"verdict": part.verdict, "explanation": part.explanation} for part in judged]
    reply = Reply(_rows(judged, options), data=data, source=source)
    reply.extra["explanation"] = "; ".join(dict.fromkeys(part.explanation for part in judged))
    return reply


def _given(library: FactLibrary, ticker: str | None, metric: str | None, period: str | None) -> Subject:
    company = library.find_company(ticker) if ticker is not None else None
    measure = None
    if metric is not None:
        found = library.find_metric(company, metric) if company is not None else None
        if found is None and company is not None:
            missing = {metric: missing_metric(library, company, metric)}
            raise nothing(f"No financial facts found for {ticker}", missing, source_of(company))
        measure = Measure(found) if found is not None else None
    when = None
    if period is not None:
        year, quarter = read_period(period)
        when = Period(year, quarter, is_fiscal=True)
    return Subject(company.ticker if company is not None else ticker, measure, when)


def _other_periods(said: Iterable[Subject], given: Period | None) -> set[Period]:
    if given is None:
        return set()
    periods = {subject.period for subject in said if subject.period is not None}
    return {period for period in periods if period[:2] != given[:2]}


def _cannotjudge(
    why: str, not_understood: Iterable[str], source: dict[str, Any] | None, rows: list[dict[str, Any]] | None = None
) -> Reply:
    data = {"verdict": CANNOT_JUDGE, "not_understood": list(not_understood)}
    reply = Reply(rows or [], data=data, source=source)
    named = ": " + ", ".join(f'"{each}"' for each in data["not_understood"]) if data["not_understood"] else ""
    reply.extra["explanation"] = f"{why}{named}"
    return reply


def _rows(judged: Sequence[Judged], options: FigureOptions) -> list[dict[str, Any]]:
    rows: dict[tuple[int, str, str, str], dict[str, Any]] = {}
    for part in judged:
        for operand in part.operands:
            figure = operand.figure
            key = (operand.company.cik, operand.metric_name, figure.start, figure.end)
            rows.setdefault(key, row_of(operand.company, operand.metric_name, figure, options))
    return list(rows.values())


def _measured(judged: Sequence[Judged]) -> dict[str, Any]:
    """Return the stated number beside the filed one, where the claim is one number of one figure."""
    part = judged[0]
    amount = part.statement.amount
    if len(judged) > 1 or len(part.operands) > 1 or amount is None or part.statement.relation == RANGE:
        return {}
    value = part.operands[0].sign * Decimal(str(part.operands[0].figure.value))
    return {
        "claimed": _plain(amount.value),
        "value": _plain(value),
        "difference": _plain(amount.value - value),
        "tolerance": _plain(amount.step / 2) if part.statement.relation in (EQUAL, ABOUT, REACHES) else 0,
    }


def _plain(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)
