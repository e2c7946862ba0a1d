"""Whether a stated figure is true: read the whole sentence, look its figures up, compare at the claim's own precision.

What is not understood wholly is not judged: the verdict is then ``cannot_judge``, with what was not understood.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from fingerpost.errors import ParameterError
from fingerpost.filings.claim_grammar import (
    ABOUT,
    AT_LEAST,
    AT_MOST,
    EQUAL,
    LESS,
    MORE,
    RANGE,
    REACHES,
    Statement,
    Subject,
    read_statements,
)
from fingerpost.filings.claim_words import SIGN_SHARED, Amount, Measure, Names, Period, read_words
from fingerpost.filings.fact import Company, Fact
from fingerpost.filings.figure import SPLIT_ADJUSTED, Figure, View
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.periods import INSTANT, QUARTER, YEAR
from fingerpost.filings.questions import get_company
from fingerpost.filings.reasons import missing_figure, missing_metric
from fingerpost.filings.reply import Reply, nothing, source_of
from fingerpost.filings.rows import row_of
from fingerpost.filings.splits import is_per_share, is_share_count, split_factor
from fingerpost.filings.window import LAST_DAY, Window, read_period

CONFIRMED, CONTRADICTED, STALE, CANNOT_JUDGE = "confirmed", "contradicted", "stale_vintage", "cannot_judge"

# "About" says how near without saying how near: within this share nobody can tell.
_VAGUE_SHARE = Decimal("0.1")
_WHAT = {"ticker": "company", "metric": "metric", "period": "fiscal year or quarter", "claim": "number"}
_RELATIONS = {MORE: "more than", AT_LEAST: "at least", LESS: "less than", AT_MOST: "at most", ABOUT: "about"}


class _Unjudgeable(Exception):
    """A sentence that was read, and cannot be held against the figures: why."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a sentence states; ``not_understood`` holds what of it could not be read, and then nothing is stated."""

    statements: tuple[Statement, ...]
    not_understood: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Operand:
    """One figure that a statement is about."""

    company: Company
    metric_name: str
    sign: int
    figure: Figure
    is_adjusted: bool = False

    @property
    def is_shares(self) -> bool:
        return is_per_share(self.figure.unit) or is_share_count(self.figure.unit)


# What a figure was at some time, and when that was filed; None where it was not known.
_World = Callable[[_Operand], tuple[Decimal, str] | None]


@dataclass(frozen=True, slots=True)
class _Judged:
    """A statement's verdict, and the figures that decided it."""

    statement: Statement
    operands: tuple[_Operand, ...]
    verdict: str
    told: str


def read_claim(
    library: FactLibrary, text: str, ticker: str | None = None, metric: str | None = None, period: str | None = None
) -> Claim:
    """Return the claim that a sentence makes; what is given beside it need not stand in it.

    Raises:
        ParameterError: every word is understood, and the company, the metric, the period or the number is not said.
    """
    known = [(company.ticker, company.name, company.tickers) for company in library.list_companies()]
    statements, unknown = read_statements(read_words(text, Names(known)))
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


def verify_claim(library: FactLibrary, claim: Claim, view: View) -> Reply:
    """Return the verdict on a claim, with the figures that decide it.

    Raises:
        DataNotFound: there is no such figure.
    """
    if not claim.statements:
        return _cannot_judge("not every word of the claim was understood", claim.not_understood, None)
    verdicts = {}
    for reading in (_fiscal_figure, _calendar_figure):
        judged = [_judge(library, statement, view, reading) for statement in claim.statements]
        verdicts[_combine(library, judged)] = judged
    judged = next(iter(verdicts.values()))
    companies = list({each.company.cik: each.company for part in judged for each in part.operands}.values())
    source = source_of(*companies) if companies else None
    if len(verdicts) > 1:
        told = "; ".join(dict.fromkeys(part.told for parts in verdicts.values() for part in parts))
        return _cannot_judge(f"a year is named that may be either of two: say which fiscal year: {told}", (), source)
    verdict = next(iter(verdicts))
    reasons = [part.told for part in judged if part.verdict == CANNOT_JUDGE]
    if verdict == CANNOT_JUDGE:
        return _cannot_judge("; ".join(dict.fromkeys(reasons)), (), source, _rows(judged, view))
    data: dict[str, Any] = {"verdict": verdict} | _measured(judged)
    if len(judged) > 1:
        data["parts"] = [{"verdict": part.verdict, "explanation": part.told} for part in judged]
    reply = Reply(_rows(judged, view), data=data, source=source)
    reply.extra["explanation"] = "; ".join(dict.fromkeys(part.told for part in judged))
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


# Figures of a statement.


def _fiscal_figure(
    library: FactLibrary, company: Company, measure: Measure, period: Period, view: View
) -> Figure | None:
    """Return the figure of a period by its fiscal name, where there is one."""
    found = library.look(company, measure.metric, Window(year=period.year, quarter=period.quarter), view)
    return found.headline[0] if found.is_scalar else None


def _calendar_figure(
    library: FactLibrary, company: Company, measure: Measure, period: Period, view: View
) -> Figure | None:
    """Return the figure of the fiscal year that ends in a calendar year, where "2022" may mean that one."""
    named = _fiscal_figure(library, company, measure, period, view)
    if period.quarter is not None or period.is_fiscal:
        return named
    window = Window(f"{period.year}-01-01", f"{period.year}-12-31")
    ended = library.look(company, measure.metric, window, view)
    if not ended.is_scalar or ended.headline[0].period not in (YEAR, INSTANT):
        return named
    return ended.headline[0]


def _find_operand(
    library: FactLibrary, subject: Subject, view: View, reading: Any, amount: Amount | None = None
) -> _Operand:
    """Return the figure that a subject names, in the currency of an amount where the company states that too.

    Raises:
        DataNotFound: there is none.
    """
    assert subject.ticker is not None
    assert subject.measure is not None
    assert subject.period is not None
    nobody = f"No financial facts found for {subject.ticker}"
    company = get_company(library, subject.ticker, nobody)
    metric = subject.measure.metric
    if amount is not None and amount.currencies is not None and view.unit is None and len(amount.currencies) == 1:
        (currency,) = amount.currencies
        units = library.series(company, metric, view).units
        if currency != company.currency and {currency, f"{currency}/shares"} & units:
            view = replace(view, unit=currency)
    figure = reading(library, company, subject.measure, subject.period, view)
    if figure is None:
        window = Window(year=subject.period.year, quarter=subject.period.quarter)
        missing = {metric.name: missing_figure(library, company, metric, window, view)}
        raise nothing(nobody, missing, source_of(company))
    return _Operand(company, metric.name, subject.measure.sign, figure, view.vintage == SPLIT_ADJUSTED)


def _before(period: Period) -> Period:
    return period._replace(year=period.year - 1)


# The verdict on a statement.


def _judge(library: FactLibrary, statement: Statement, view: View, reading: Any) -> _Judged:
    operands: tuple[_Operand, ...] = ()
    try:
        operands = tuple(_list_operands(library, statement, view, reading))
        verdict = _compare(library, statement, operands)
        told = "; ".join(_cite(operand) for operand in operands)
        if verdict == STALE:
            told = f"an earlier filing stated it so; since then {told}"
        elif verdict == CONFIRMED:
            told = f"{told}, which the claim meets"
        return _Judged(statement, operands, verdict, told)
    except _Unjudgeable as error:
        return _Judged(statement, operands, CANNOT_JUDGE, str(error))


def _list_operands(library: FactLibrary, statement: Statement, view: View, reading: Any) -> list[_Operand]:
    subject, versus = statement.subject, statement.versus
    period = subject.period
    assert period is not None
    if statement.is_prior:
        period = _before(period)
        subject = replace(subject, period=period)
    money = None if statement.is_rate else statement.amount
    operands = [_find_operand(library, subject, view, reading, money)]
    if statement.direction:
        since = versus.period if versus is not None and versus.period is not None else None
        if since is None:
            if period.quarter is not None:
                raise _Unjudgeable("a quarter may have grown from the quarter or from the year before: say which")
            since = _before(period)
        operands.append(_find_operand(library, replace(subject, period=since), view, reading, money))
    elif versus is not None:
        operands.append(_find_operand(library, versus.filled(subject), view, reading))
    if len(operands) == 2 and operands[0].figure.unit != operands[1].figure.unit:
        units = " and ".join(operand.figure.unit for operand in operands)
        raise _Unjudgeable(f"{units} cannot be compared")
    if money is not None:
        for operand in operands:
            _check_unit(operand, money)
    return operands


def _check_unit(operand: _Operand, amount: Amount) -> None:
    """Refuse an amount that is not told in the figure's own unit."""
    unit = operand.figure.unit
    if amount.is_shares != is_share_count(unit) and (amount.is_shares or amount.currencies is not None):
        raise _Unjudgeable(f"{operand.company.name} states {operand.metric_name} in {unit}, the claim does not")
    if amount.is_per_share and not is_per_share(unit):
        raise _Unjudgeable(f"{operand.company.name} states {operand.metric_name} in {unit}, not per share")
    if amount.currencies is None:
        return
    currency = unit.removesuffix("/shares")
    shared = {other for named in amount.currencies for other in SIGN_SHARED.get(named, ())}
    if currency not in amount.currencies:
        perhaps = " perhaps" if currency in shared else ""
        named = " or ".join(sorted(amount.currencies))
        raise _Unjudgeable(f"the claim is{perhaps} in {named}, {operand.company.name} reports in {currency}")


def _compare(library: FactLibrary, statement: Statement, operands: Sequence[_Operand]) -> str:
    if _holds_in(library, statement, operands, _latest):
        return CONFIRMED
    if any(_holds_in(library, statement, operands, _on_day(day), is_sure=False) for day in _list_days(operands)):
        return STALE
    tags = [{other.concept: other for other in operand.figure.alternatives} for operand in operands]
    for concept in set.intersection(*(set(each) for each in tags)):
        if _holds_in(library, statement, operands, _by_tag(concept), is_sure=False):
            raise _Unjudgeable(f"the claim agrees with {concept}, which stands beside the figure in the same filing")
    return CONTRADICTED


def _list_days(operands: Iterable[_Operand]) -> list[str]:
    """Return the days on which one of the figures was stated anew."""
    return sorted({revision.fact.filed for operand in operands for revision in operand.figure.values})


def _latest(operand: _Operand) -> tuple[Decimal, str] | None:
    filed = LAST_DAY if operand.is_adjusted else operand.figure.fact.filed
    return Decimal(str(operand.figure.value)), filed


def _on_day(day: str) -> _World:
    def stated(operand: _Operand) -> tuple[Decimal, str] | None:
        known = [revision for revision in operand.figure.values if revision.fact.filed <= day]
        if known:
            return Decimal(str(known[-1].value)), known[-1].fact.filed
        return _latest(operand) if not operand.figure.values else None

    return stated


def _by_tag(concept: str) -> _World:
    def stated(operand: _Operand) -> tuple[Decimal, str] | None:
        others = operand.figure.alternatives
        found: Fact | None = next((other for other in others if other.concept == concept), None)
        return None if found is None else (Decimal(str(found.value)), found.filed)

    return stated


def _holds_in(
    library: FactLibrary, statement: Statement, operands: Sequence[_Operand], world: _World, *, is_sure: bool = True
) -> bool:
    """Whether a statement is true of the values that a world gives; a world that lacks one of them is no witness."""
    values, factors = [], set()
    for operand in operands:
        found = world(operand)
        if found is None:
            return False
        values.append(operand.sign * found[0])
        if operand.is_shares:
            factors.add(split_factor(library.splits(operand.company), found[1], None))
    try:
        if len(factors) > 1:
            raise _Unjudgeable("a share split lies between the two figures: ask for vintage split_adjusted")
        return _holds(statement, values) != statement.is_negated
    except _Unjudgeable:
        if is_sure:
            raise
        return False


def _holds(statement: Statement, values: Sequence[Decimal]) -> bool:
    if statement.direction:
        return _holds_change(statement, *values)
    if statement.versus is not None:
        return values[0] > values[1] if statement.relation == MORE else values[0] < values[1]
    return _relates(statement, values[0])


def _holds_change(statement: Statement, now: Decimal, before: Decimal) -> bool:
    change = statement.direction * (now - before)
    if statement.amount is None:
        return change > 0
    if statement.is_rate:
        if before <= 0:
            raise _Unjudgeable("a growth from a value that is not positive is no percentage")
        change = change / before * 100
    return _relates(statement, change)


def _relates(statement: Statement, value: Decimal) -> bool:
    amount = statement.amount
    assert amount is not None
    gap = abs(value - amount.value)
    match statement.relation:
        case "=":
            return gap <= amount.step / 2
        case ">":
            return value > amount.value
        case "g":
            return value >= amount.value
        case "<":
            return value < amount.value
        case "l":
            return value <= amount.value
        case "range":
            assert statement.high is not None
            return amount.value <= value <= statement.high.value
    if gap <= amount.step / 2:
        return True
    if statement.relation == REACHES and value > amount.value:
        raise _Unjudgeable("what reached a number may have gone beyond it: say exceeded, or was")
    if statement.relation == ABOUT and gap <= _VAGUE_SHARE * abs(amount.value):
        raise _Unjudgeable("how near is about? the figure is near, and is not the stated one")
    return False


# The answer.


def _combine(library: FactLibrary, judged: Sequence[_Judged]) -> str:
    """Return the verdict on a whole sentence: as true as the least true of its parts.

    An earlier vintage that bears out one part must bear out the others too.
    """
    found = {part.verdict for part in judged}
    verdict = next(verdict for verdict in (CONTRADICTED, CANNOT_JUDGE, STALE, CONFIRMED) if verdict in found)
    if verdict != STALE or len(judged) == 1:
        return verdict
    worlds = map(_on_day, _list_days(operand for part in judged for operand in part.operands))
    if any(
        all(_holds_in(library, part.statement, part.operands, world, is_sure=False) for part in judged)
        for world in worlds
    ):
        return STALE
    return CONTRADICTED


def _cannot_judge(
    why: str, not_understood: Iterable[str], source: dict[str, Any] | None, rows: list[dict[str, Any]] | None = None
) -> Reply:
    data = {"verdict": CANNOT_JUDGE, "not_understood": list(not_understood)}
    reply = Reply(rows or [], data=data, source=source)
    named = ": " + ", ".join(f'"{each}"' for each in data["not_understood"]) if data["not_understood"] else ""
    reply.extra["explanation"] = f"{why}{named}"
    return reply


def _rows(judged: Sequence[_Judged], view: View) -> list[dict[str, Any]]:
    rows: dict[tuple[int, str, str, str], dict[str, Any]] = {}
    for part in judged:
        for operand in part.operands:
            figure = operand.figure
            key = (operand.company.cik, operand.metric_name, figure.start, figure.end)
            rows.setdefault(key, row_of(operand.company, operand.metric_name, figure, view))
    return list(rows.values())


def _measured(judged: Sequence[_Judged]) -> dict[str, Any]:
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


def _cite(operand: _Operand) -> str:
    figure, fact = operand.figure, operand.figure.fact
    period = f"fiscal {figure.fiscal_year}" + (f" Q{figure.fiscal_quarter}" if figure.period == QUARTER else "")
    return (
        f"{operand.company.name} states {operand.metric_name} of {figure.value} {figure.unit} for {period}"
        f" in {fact.form} {fact.accession} of {fact.filed}"
    )


def _plain(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)
