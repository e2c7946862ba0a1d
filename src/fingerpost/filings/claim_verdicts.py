"""The verdict on each statement of a claim: its figures, found; their values, compared; vintages told apart."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from fingerpost.filings.claim_grammar import (
    ABOUT,
    MORE,
    REACHES,
    Statement,
    Subject,
)
from fingerpost.filings.claim_words import SIGN_SHARED, Amount, Measure, Period
from fingerpost.filings.fact import Company, Fact
from fingerpost.filings.figure import SPLIT_ADJUSTED, Figure, FigureOptions
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.period_filter import LAST_DAY, PeriodFilter
from fingerpost.filings.periods import INSTANT, QUARTER, YEAR
from fingerpost.filings.questions import get_company
from fingerpost.filings.reasons import missing_figure
from fingerpost.filings.reply import nothing, source_of
from fingerpost.filings.splits import is_per_share, is_share_count, split_factor

CONFIRMED, CONTRADICTED, STALE, CANNOT_JUDGE = "confirmed", "contradicted", "stale_vintage", "cannot_judge"

# "About" says how near without saying how near: within this share nobody can tell.
_VAGUE_SHARE = Decimal("0.1")


# Numbers without a scale are copied from tables, whose heading says it.
_TABLE_SCALES = {"thousands": 3, "millions": 6, "billions": 9}


class _Unjudgeable(Exception):
    """A sentence that was read, and cannot be held against the figures: why."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One figure that a statement is about."""

    company: Company
    metric_name: str
    sign: int
    figure: Figure
    is_adjusted: bool = False

    @property
    def is_shares(self) -> bool:
        """Whether the figure counts shares, or is so much a share: a split changes it."""
        return is_per_share(self.figure.unit) or is_share_count(self.figure.unit)


# What a figure was at some time, and when that was filed; None where it was not known.
_World = Callable[[Operand], tuple[Decimal, str] | None]


@dataclass(frozen=True, slots=True)
class Judged:
    """A statement's verdict, and the figures that decided it."""

    statement: Statement
    operands: tuple[Operand, ...]
    verdict: str
    explanation: str


def judge(library: FactLibrary, statement: Statement, options: FigureOptions, reading: Any) -> Judged:
    """Return the verdict on one statement; ``reading`` finds the figure of a subject's period.

    Raises:
        DataNotFound: there is no such figure.
    """
    operands: tuple[Operand, ...] = ()
    try:
        operands = tuple(_list_operands(library, statement, options, reading))
        verdict = _compare(library, statement, operands)
        explanation = "; ".join(_cite(operand) for operand in operands)
        if verdict == STALE:
            explanation = f"an earlier filing stated it so; since then {explanation}"
        elif verdict == CONFIRMED:
            explanation = f"{explanation}, which the claim meets"
        return Judged(statement, operands, verdict, explanation)
    except _Unjudgeable as error:
        return Judged(statement, operands, CANNOT_JUDGE, str(error))


def _list_operands(library: FactLibrary, statement: Statement, options: FigureOptions, reading: Any) -> list[Operand]:
    subject, versus = statement.subject, statement.versus
    period = subject.period
    assert period is not None
    if statement.is_prior:
        period = _before(period)
        subject = replace(subject, period=period)
    money = None if statement.is_rate else statement.amount
    operands = [_find_operand(library, subject, options, reading, money)]
    if statement.direction:
        since = versus.period if versus is not None and versus.period is not None else None
        if since is None:
            if period.quarter is not None:
                raise _Unjudgeable("a quarter may have grown from the quarter or from the year before: say which")
            since = _before(period)
        operands.append(_find_operand(library, replace(subject, period=since), options, reading, money))
    elif versus is not None:
        operands.append(_find_operand(library, versus.filled(subject), options, reading))
    if len(operands) == 2 and operands[0].figure.unit != operands[1].figure.unit:
        units = " and ".join(operand.figure.unit for operand in operands)
        raise _Unjudgeable(f"{units} cannot be compared")
    if money is not None:
        for operand in operands:
            _check_unit(operand, money)
    return operands


def _check_unit(operand: Operand, amount: Amount) -> None:
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


def _check_scale(statement: Statement, operands: Sequence[Operand]) -> None:
    """Refuse a bare number that is the figure in thousands, millions or billions, as tables of filings state it."""
    amount, operand = statement.amount, operands[0]
    if amount is None or amount.scale or amount.is_per_share or statement.is_rate or len(operands) > 1:
        return
    value = operand.sign * Decimal(str(operand.figure.value))
    for word, power in _TABLE_SCALES.items():
        factor = Decimal(1).scaleb(power)
        if amount.value and abs(value - amount.value * factor) <= amount.step * factor / 2:
            raise _Unjudgeable(f"the claim's number is the figure in {word}: say whether it is in {word}")


def _compare(library: FactLibrary, statement: Statement, operands: Sequence[Operand]) -> str:
    _check_scale(statement, operands)
    if _holds_in(library, statement, operands, _latest):
        return CONFIRMED
    if any(_holds_in(library, statement, operands, _on_day(day), is_sure=False) for day in _list_days(operands)):
        return STALE
    tags = [{other.concept: other for other in operand.figure.alternatives} for operand in operands]
    for concept in set.intersection(*(set(each) for each in tags)):
        if _holds_in(library, statement, operands, _by_tag(concept), is_sure=False):
            raise _Unjudgeable(f"the claim agrees with {concept}, which stands beside the figure in the same filing")
    return CONTRADICTED


def _list_days(operands: Iterable[Operand]) -> list[str]:
    """Return the days on which one of the figures was stated anew."""
    return sorted({revision.fact.filed for operand in operands for revision in operand.figure.values})


def _latest(operand: Operand) -> tuple[Decimal, str] | None:
    filed = LAST_DAY if operand.is_adjusted else operand.figure.fact.filed
    return Decimal(str(operand.figure.value)), filed


def _on_day(day: str) -> _World:
    def stated(operand: Operand) -> tuple[Decimal, str] | None:
        known = [revision for revision in operand.figure.values if revision.fact.filed <= day]
        if known:
            return Decimal(str(known[-1].value)), known[-1].fact.filed
        return _latest(operand) if not operand.figure.values else None

    return stated


def _by_tag(concept: str) -> _World:
    def stated(operand: Operand) -> tuple[Decimal, str] | None:
        others = operand.figure.alternatives
        found: Fact | None = next((other for other in others if other.concept == concept), None)
        return None if found is None else (Decimal(str(found.value)), found.filed)

    return stated


def _holds_in(
    library: FactLibrary, statement: Statement, operands: Sequence[Operand], world: _World, *, is_sure: bool = True
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


def combine(library: FactLibrary, judged: Sequence[Judged]) -> str:
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


def find_fiscal_figure(
    library: FactLibrary, company: Company, measure: Measure, period: Period, options: FigureOptions
) -> Figure | None:
    """Return the figure of a period by its fiscal name, where there is one."""
    found = library.select_figures(
        company, measure.metric, PeriodFilter(year=period.year, quarter=period.quarter), options
    )
    return found.headline[0] if found.is_scalar else None


def find_calendar_figure(
    library: FactLibrary, company: Company, measure: Measure, period: Period, options: FigureOptions
) -> Figure | None:
    """Return the figure of the fiscal year that ends in a calendar year, where "2022" may mean that one."""
    named = find_fiscal_figure(library, company, measure, period, options)
    if period.quarter is not None or period.is_fiscal:
        return named
    period_filter = PeriodFilter(f"{period.year}-01-01", f"{period.year}-12-31")
    ended = library.select_figures(company, measure.metric, period_filter, options)
    if not ended.is_scalar or ended.headline[0].period not in (YEAR, INSTANT):
        return named
    return ended.headline[0]


def _find_operand(
    library: FactLibrary, subject: Subject, options: FigureOptions, reading: Any, amount: Amount | None = None
) -> Operand:
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
    if amount is not None and amount.currencies is not None and options.unit is None and len(amount.currencies) == 1:
        (currency,) = amount.currencies
        units = library.series(company, metric, options).units
        if currency != company.currency and {currency, f"{currency}/shares"} & units:
            options = replace(options, unit=currency)
    figure = reading(library, company, subject.measure, subject.period, options)
    if figure is None:
        period_filter = PeriodFilter(year=subject.period.year, quarter=subject.period.quarter)
        missing = {metric.name: missing_figure(library, company, metric, period_filter, options)}
        raise nothing(nobody, missing, source_of(company))
    return Operand(company, metric.name, subject.measure.sign, figure, options.vintage == SPLIT_ADJUSTED)


def _before(period: Period) -> Period:
    return period._replace(year=period.year - 1)


def _cite(operand: Operand) -> str:
    figure, fact = operand.figure, operand.figure.fact
    period = f"fiscal {figure.fiscal_year}" + (f" Q{figure.fiscal_quarter}" if figure.period == QUARTER else "")
    return (
        f"{operand.company.name} states {operand.metric_name} of {figure.value} {figure.unit} for {period}"
        f" in {fact.form} {fact.accession} of {fact.filed}"
    )
