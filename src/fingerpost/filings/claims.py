"""Verify a structured claim against the filed figures: confirmed, contradicted, stale vintage, or not judgeable."""

import ast
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, Literal

from fingerpost.errors import DataNotFound, ParameterError
from fingerpost.filings.calculation import Calculation, Computed, find_split_clash
from fingerpost.filings.figure import REPORTED, Figure
from fingerpost.filings.formula import NotComputable, plain, read_formula, read_recipe
from fingerpost.filings.library import CompanyFigures, FactLibrary
from fingerpost.filings.period_filter import PeriodFilter
from fingerpost.filings.query_params import PERCENT, SCALES, Claim
from fingerpost.filings.reasons import open_company
from fingerpost.filings.reply import Reply, no_result, source_of
from fingerpost.filings.revisions import on_one_basis, share_framework

Judgement = Literal["confirmed", "contradicted", "stale_vintage", "cannot_judge"]

# "About" without a tolerance: a gap of up to this share is neither confirmed nor contradicted.
_VAGUE_SHARE = Fraction(1, 10)
_MAX_EARLIER_PERIODS = 160
_MAX_VINTAGES = 20
_HALF_YEAR_DAYS = 182


class _Unjudgeable(Exception):
    """The reason why the figures do not decide the claim."""


def verify_claim(library: FactLibrary, claim: Claim) -> Reply:
    """Return the verdict on a claim, with the figures that decide it; a missing figure raises DataNotFound."""
    options = claim.options
    sources = [
        open_company(library, ticker, f"No financial facts found for {ticker}", options)
        for ticker in dict.fromkeys([claim.ticker, *(claim.among or ())])
    ]
    claim = claim.model_copy(update={"period": sources[0].locate(claim.period)})
    if claim.base_period:
        claim = claim.model_copy(update={"base_period": sources[0].locate(claim.base_period)})
    operands: list[Computed] = []
    data: dict[str, Any] = {}
    try:
        operands = _find_operands(claim, sources)
        data = _measure(claim, operands)
        verdict, explanation = _judge(claim, sources, operands)
    except _Unjudgeable as error:
        verdict, explanation, data = "cannot_judge", str(error), {}
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for operand in operands:
        for metric, figure in operand.inputs.values():
            key = (operand.source.company.cik, metric.name, figure.start, figure.end)
            rows.setdefault(key, operand.source.row_of(metric.name, figure))
    companies = [source.company for source in sources]
    return Reply(
        list(rows.values()),
        source=source_of(*companies, as_of=options.as_of),
        extra={"data": {"verdict": verdict} | data, "explanation": explanation},
    )


def _find_operands(claim: Claim, sources: Sequence[CompanyFigures]) -> list[Computed]:
    def find(source: CompanyFigures, period: PeriodFilter, back: int = 0) -> Computed:
        if claim.metric is None:
            return _find_operand(source, read_formula(claim.subject), period, back)
        metric = source.find_metric(claim.metric)
        if metric is not None and claim.unit_name in source.series(metric).units:
            # The company reports the metric in several currencies.
            source = source.with_options(unit=claim.unit_name)
        return _find_operand(source, read_recipe(metric, claim.metric), period, back)

    first, period = sources[0], claim.period
    operands = [find(source, period) for source in sources]
    if claim.relation == "grew_by":
        # The period before must end where this one begins, so it is looked up relative to this one.
        before = (first, period, 1)
        if claim.base_period:
            if (claim.base_period.quarter is None) != (period.quarter is None):
                raise ParameterError(
                    "base_period must be a year if period is a year, and a quarter if period is a quarter",
                    {"field": "base_period"},
                )
            before = (first, claim.base_period, 0)
        operands = _on_one_basis([*operands, find(*before)])
    elif claim.relation == "is_record":
        first_year = int(first.company.first_end[:4]) - 1
        for back in range(1, _MAX_EARLIER_PERIODS):
            earlier = period.after(-back)
            if (earlier.year or 0) < first_year:
                break
            try:
                operands.append(find(first, earlier))
            except (DataNotFound, _Unjudgeable):
                continue
        if len(operands) == 1:
            raise _Unjudgeable("the data has no earlier period")
    return operands


def _find_operand(source: CompanyFigures, formula: ast.expr, period: PeriodFilter, back: int) -> Computed:
    computed = Calculation(source, formula, period, back).compute(check_splits=False)
    if isinstance(computed, Computed):
        return computed
    unlike = [entry for entry in computed.values() if entry["reason"] == "not_comparable"]
    if unlike:
        raise _Unjudgeable(". ".join(f"{entry['message']}. {entry['next_step']}" for entry in unlike))
    raise no_result(f"No financial facts found for {source.company.ticker}", computed, source.provenance)


def _on_one_basis(operands: Sequence[Computed]) -> list[Computed]:
    places = enumerate(operands)
    inputs = {(place, lookup): pair for place, operand in places for lookup, pair in operand.inputs.items()}
    try:
        joined = on_one_basis(inputs, operands[0].source.options)
        return [
            operand.calculation.evaluate({lookup: joined[place, lookup] for lookup in operand.inputs})
            for place, operand in enumerate(operands)
        ]
    except NotComputable as error:
        raise _Unjudgeable(str(error)) from error


def _judge(claim: Claim, sources: Sequence[CompanyFigures], operands: Sequence[Computed]) -> tuple[Judgement, str]:
    _check_comparable(claim, operands)
    explanation = _explain(claim, operands)
    if _holds(claim, [operand.value for operand in operands]):
        return "confirmed", f"{explanation}, which the claim meets"
    if claim.relation not in ("is_record", "ranks"):
        if _held_earlier(claim, sources, operands):
            return "stale_vintage", f"an earlier filing stated it so; since then {explanation}"
        _check_other_tags(claim, operands)
        _check_growth_unit(claim, operands)
        _check_calendar_year(claim, sources)
    return "contradicted", explanation


def _check_comparable(claim: Claim, operands: Sequence[Computed]) -> None:
    units = sorted({operand.unit for operand in operands})
    if len(units) > 1:
        raise _Unjudgeable(f"{' and '.join(units)} cannot be compared")
    if claim.unit_name not in (None, units[0]) and not claim.is_rate:
        raise _Unjudgeable(
            f"the claim is in {claim.unit_name}, {operands[0].source.company.name} reports in {units[0]}"
        )
    _check_table_scale(claim, operands)
    by_company: dict[int, list[Computed]] = {}
    for operand in operands:
        by_company.setdefault(operand.source.company.cik, []).append(operand)
    for own in by_company.values():
        source = own[0].source
        facts = [figure for operand in own for figure in operand.reported]
        if find_split_clash(source, facts):
            raise _Unjudgeable("a share split separates the figures; use vintage split_adjusted")
        if not share_framework(facts):
            frameworks = sorted({figure.fact.taxonomy for figure in facts})
            raise _Unjudgeable(f"the figures use two frameworks: {' and '.join(frameworks)}")
        if not _share_filer(source, facts):
            raise _Unjudgeable("the figures are of two filers: the company files under a new CIK since")


def _share_filer(source: CompanyFigures, figures: Iterable[Figure]) -> bool:
    """Whether one CIK filed all figures; a company's older years may be under a predecessor's."""
    accessions = {figure.fact.accession for figure in figures}
    query = "SELECT accession FROM reports WHERE cik = ?"
    return any(
        accessions <= {accession for (accession,) in source.library.rows(query, cik)}
        for cik in source.library.list_ciks(source.company)
    )


def _check_table_scale(claim: Claim, operands: Sequence[Computed]) -> None:
    """Refuse a bare number that is the figure in thousands, millions or billions, as tables of filings print it."""
    if not claim.value or claim.scale != 1 or claim.relation in ("grew_by", "ranks"):
        return
    for word, power in SCALES.items():
        factor = 10**power
        if abs(operands[0].value - claim.claimed * factor) <= claim.step * factor / 2:
            raise _Unjudgeable(f"the value is the figure in {word}s: give the unit as '{operands[0].unit} {word}'")


def _check_growth_unit(claim: Claim, operands: Sequence[Computed]) -> None:
    """Refuse a bare growth that is the amount, where percent is meant without a unit."""
    if claim.relation != "grew_by" or claim.unit is not None or claim.value is None:
        return
    if abs(operands[0].value - operands[1].value - Fraction(str(claim.value))) <= claim.allowed_gap / claim.scale:
        raise _Unjudgeable(f"the value is the growth as an amount: give the unit '{operands[0].unit}'")


def _holds(claim: Claim, values: Sequence[Fraction]) -> bool:
    now, others = values[0], values[1:]
    match claim.relation:
        case "is_record":
            return all(now > other for other in others)
        case "ranks":
            above = sum(other > now for other in others)
            level = sum(other == now for other in others)
            return 1 + above <= claim.claimed <= 1 + above + level
        case "more_than":
            return now > claim.claimed
        case "less_than":
            return now < claim.claimed
        case "grew_by":
            now = _growth(claim, now, others[0])
    gap = abs(now - claim.claimed)
    if gap <= claim.allowed_gap:
        return True
    if claim.relation == "about" and claim.tolerance is None and gap <= _VAGUE_SHARE * abs(claim.claimed):
        raise _Unjudgeable("the figure is near the value but not equal; send tolerance to allow a difference")
    return False


def _growth(claim: Claim, now: Fraction, before: Fraction) -> Fraction:
    if not claim.is_rate:
        return now - before
    if before <= 0:
        raise _Unjudgeable("growth from a value that is not positive has no percentage")
    return (now - before) / before


def _held_earlier(claim: Claim, sources: Sequence[CompanyFigures], operands: Sequence[Computed]) -> bool:
    figures = [figure for operand in operands for figure in (*operand.figures, *operand.reported)]
    days = sorted({revision.fact.filed for figure in figures for revision in figure.values})
    return any(
        _find_meeting(claim, [source.with_options(as_of=min(day, source.options.as_of or day)) for source in sources])
        for day in days[-_MAX_VINTAGES:]
    )


def _find_meeting(claim: Claim, sources: Sequence[CompanyFigures]) -> list[Computed] | None:
    try:
        operands = _find_operands(claim, sources)
        _check_comparable(claim, operands)
        return operands if _holds(claim, [operand.value for operand in operands]) else None
    except (_Unjudgeable, DataNotFound):
        return None


def _check_other_tags(claim: Claim, operands: Sequence[Computed]) -> None:
    if claim.metric is None or any(len(operand.inputs) > 1 for operand in operands):
        return
    tags = [{fact.concept: fact for figure in operand.figures for fact in figure.alternatives} for operand in operands]
    for concept in sorted(set.intersection(*(set(by_concept) for by_concept in tags))):
        if _holds(claim, [Fraction(str(by_concept[concept].value)) for by_concept in tags]):
            raise _Unjudgeable(f"the claim is true of {concept}, another tag in the same filing")


def _check_calendar_year(claim: Claim, sources: Sequence[CompanyFigures]) -> None:
    """Refuse to contradict a claim that is true of the neighbouring fiscal year in the claimed calendar year."""
    period = claim.period
    for other in (period.after(1), period.after(-1)) if period.quarter is None and claim.base_period is None else ():
        operands = _find_meeting(claim.model_copy(update={"period": other}), sources)
        end = max((figure.end for figure in operands[0].figures), default="") if operands else ""
        if end and (date.fromisoformat(end) - timedelta(days=_HALF_YEAR_DAYS)).year == period.year:
            own = max((figure.end for figure in _find_operands(claim, sources)[0].figures), default="")
            raise _Unjudgeable(
                f"{period.wording} ended on {own}; the claim is true of {other.wording}, which ended on {end} and is"
                f" mostly calendar {period.year}: send the fiscal year that is meant"
            )


def _measure(claim: Claim, operands: Sequence[Computed]) -> dict[str, Any]:
    values, unit = [operand.value for operand in operands], operands[0].unit
    if claim.relation == "is_record":
        return {"value": plain(values[0]), "unit": unit}
    found, factor = values[0], 1
    if claim.relation == "ranks":
        found, unit = Fraction(1 + sum(other > found for other in values[1:])), "rank"
    elif claim.relation == "grew_by":
        found = _growth(claim, *values)
        if claim.is_rate:
            factor, unit = 100, PERCENT
    claimed, gap = claim.claimed, claim.allowed_gap
    shown = {"claimed": claimed, "value": found, "difference": claimed - found, "tolerance": gap}
    return {name: plain(value * factor) for name, value in shown.items()} | {"unit": unit}


def _explain(claim: Claim, operands: Sequence[Computed]) -> str:
    if claim.relation == "is_record":
        highest = max(operands[1:], key=lambda operand: operand.value)
        first = operands[-1].wording
        return (
            f"{_cite(claim, operands[0])}; the highest of the {len(operands) - 1} earlier periods in the data, from"
            f" {first} on: {_cite(claim, highest)}"
        )
    cited = "; ".join(_cite(claim, operand) for operand in operands)
    if claim.relation == "grew_by":
        growth = _growth(claim, operands[0].value, operands[1].value)
        rate = f"{float(growth * 100):.4g} percent" if claim.is_rate else f"{plain(growth)} {operands[0].unit}"
        return f"{cited}; the growth derived from them is {rate}"
    return cited


def _cite(claim: Claim, operand: Computed) -> str:
    """Return a value with its filings; only reported values are called stated (rule F8)."""
    company, period = operand.source.company, operand.wording
    value = f"{plain(operand.value)} {operand.unit}"
    name, formula, filings = claim.subject, operand.calculation.text, _filings(operand.reported)
    if claim.metric is not None and len(operand.inputs) == 1:
        ((metric, figure),) = operand.inputs.values()
        if figure.kind == REPORTED:
            return f"{company.name} states {metric.name} of {value} for {period} in {_filings([figure])}"
        name, formula = metric.name, figure.formula
    return f"{name} of {company.name} for {period} is {value}, derived as {formula} from {filings}"


def _filings(figures: Iterable[Figure]) -> str:
    facts = [figure.fact for figure in figures]
    return " and ".join(dict.fromkeys(f"{fact.form} {fact.accession} of {fact.filed}" for fact in facts))
