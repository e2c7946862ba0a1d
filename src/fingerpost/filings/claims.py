"""Verify a structured claim against filed figures: confirmed, contradicted, stale vintage, or undecidable."""

import ast
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, Literal

from fingerpost.errors import DataNotFound, ParameterError
from fingerpost.filings.calculation import Computation, Unavailable, compute, explain_split
from fingerpost.filings.figure import REPORTED, Figure
from fingerpost.filings.formula import NotComputable, read_formula, to_number
from fingerpost.filings.library import CompanyFigures, FactLibrary
from fingerpost.filings.period_filter import PeriodFilter
from fingerpost.filings.query_params import PERCENT, RATIO, SCALES, Claim
from fingerpost.filings.reasons import open_company
from fingerpost.filings.reply import Reply, build_not_found, build_source
from fingerpost.filings.revisions import align_basis, have_common_framework
from fingerpost.runtime.grouping import group_by_key

VerdictName = Literal["confirmed", "contradicted", "stale_vintage", "cannot_judge"]

# If an "about" claim has no tolerance, a difference of up to this fraction is undecidable.
_NEAR_FRACTION = Fraction(1, 10)
_MAX_EARLIER_PERIODS = 160
_MAX_VINTAGES = 20
_HALF_YEAR_DAYS = 182


class _Undecidable(Exception):
    """The figures cannot settle the claim; the message gives the reason."""


def verify_claim(library: FactLibrary, claim: Claim) -> Reply:
    """Return the verdict on a claim and the figures that decide it; raise DataNotFound for a missing figure."""
    options = claim.options
    sources = [
        open_company(library, ticker, f"No financial facts found for {ticker}", options)
        for ticker in dict.fromkeys([claim.ticker, *(claim.among or ())])
    ]
    periods = {"period": claim.period, "base_period": claim.base_period}
    resolved = {name: sources[0].resolve_period(period) for name, period in periods.items() if period}
    claim = claim.model_copy(update=resolved)
    operands: list[Computation] = []
    data: dict[str, Any] = {}
    try:
        operands = _find_operands(claim, sources)
        data = _build_data(claim, operands)
        verdict, explanation = _decide(claim, sources, operands, data["true_statement"])
    except _Undecidable as error:
        verdict, explanation = "cannot_judge", str(error)
        data = _cite_reported(claim, operands[0]) if operands else {}
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for operand in operands:
        for figure in operand.figures:
            key = (operand.source.company.cik, figure.metric, figure.start, figure.end)
            rows.setdefault(key, operand.source.build_row(figure))
    return Reply(
        list(rows.values()),
        source=build_source(*(source.company for source in sources), as_of=options.as_of),
        extra={"data": {"verdict": verdict} | data, "explanation": explanation},
    )


def _find_operands(claim: Claim, sources: Sequence[CompanyFigures]) -> list[Computation]:
    first = sources[0]
    period = claim.period
    operands = [_compute(claim, source, period) for source in sources]
    if claim.relation == "grew_by":
        # Without a base period, compare with the preceding period, whose name may be irregular.
        earlier, lag = (claim.base_period, 0) if claim.base_period else (period, 1)
        if (earlier.quarter is None) != (period.quarter is None):
            raise ParameterError(
                "base_period must be a year if period is a year, and a quarter if period is a quarter",
                {"field": "base_period"},
            )
        operands = _align_operands([*operands, _compute(claim, first, earlier, lag)])
    elif claim.relation == "is_record":
        first_year = int(first.company.first_end[:4]) - 1
        for lag in range(1, _MAX_EARLIER_PERIODS):
            earlier = period.shift(-lag)
            if (earlier.year or 0) < first_year:
                break
            with suppress(DataNotFound, _Undecidable):
                operands.append(_compute(claim, first, earlier))
        if len(operands) == 1:
            raise _Undecidable("the data contains no earlier period")
    return operands


def _compute(claim: Claim, source: CompanyFigures, period: PeriodFilter, lag: int = 0) -> Computation:
    metric = source.find_metric(claim.metric) if claim.metric else None
    expression = metric.expression if metric else claim.formula
    formula = read_formula(expression) if expression else ast.Name(claim.subject, ast.Load())
    try:
        return compute(source, formula, period, lag, check=False)
    except Unavailable as error:
        not_comparable = [entry for entry in error.missing.values() if entry["reason"] == "not_comparable"]
        if not_comparable:
            reasons = ". ".join(f"{entry['message']}. {entry['next_step']}" for entry in not_comparable)
            raise _Undecidable(reasons) from error
        message = f"No financial facts found for {source.company.ticker}"
        raise build_not_found(message, error.missing, source.provenance) from error


def _align_operands(operands: Sequence[Computation]) -> list[Computation]:
    inputs = {(index, key): figure for index, operand in enumerate(operands) for key, figure in operand.inputs.items()}
    try:
        aligned = align_basis(inputs, operands[0].source.options, operands[0].source.name_changes)
        return [
            replace(operand, inputs={lookup: aligned[index, lookup] for lookup in operand.inputs})
            for index, operand in enumerate(operands)
        ]
    except NotComputable as error:
        raise _Undecidable(str(error)) from error


def _decide(
    claim: Claim, sources: Sequence[CompanyFigures], operands: list[Computation], explanation: str
) -> tuple[VerdictName, str]:
    _check_comparable(claim, operands)
    if _holds(claim, [operand.value for operand in operands]):
        return "confirmed", f"{explanation}, which matches the claim"
    if claim.relation not in ("is_record", "ranks"):
        if _held_earlier(claim, sources, operands):
            return "stale_vintage", f"the claim was true according to an earlier filing; since then, {explanation}"
        _check_other_tags(claim, operands)
        _check_growth_unit(claim, operands)
        _check_calendar_year(claim, sources, operands)
    return "contradicted", explanation


def _check_comparable(claim: Claim, operands: Sequence[Computation]) -> None:
    units = sorted({operand.unit for operand in operands})
    if len(units) > 1:
        raise _Undecidable(f"{' and '.join(units)} cannot be compared")
    if claim.unit_name not in (None, units[0]) and not claim.is_rate:
        raise _Undecidable(
            f"the claim is in {claim.unit_name}, but {operands[0].source.company.name} reports in {units[0]}"
        )
    _check_table_scale(claim, operands)
    for company_operands in group_by_key((operand.source.company.cik, operand) for operand in operands).values():
        source = company_operands[0].source
        facts = [figure for operand in company_operands for figure in operand.reported_figures]
        if explain_split(source, facts):
            raise _Undecidable("a share split occurred between the figures; use vintage split_adjusted")
        if not have_common_framework(facts):
            frameworks = sorted({figure.fact.taxonomy for figure in facts})
            raise _Undecidable(f"the figures use two accounting frameworks: {' and '.join(frameworks)}")
        if not _have_same_filer(source, facts):
            raise _Undecidable("the figures are from two filers, because the company now files under a new CIK")


def _have_same_filer(source: CompanyFigures, figures: Iterable[Figure]) -> bool:
    """Whether one CIK filed all figures; older years may have been filed under a predecessor's CIK."""
    accessions = {figure.fact.accession for figure in figures}
    query = "SELECT accession FROM reports WHERE cik = ?"
    ciks = source.library.list_ciks(source.company)
    return len(ciks) == 1 or any(
        accessions <= {accession for (accession,) in source.library.rows(query, cik)} for cik in ciks
    )


def _check_table_scale(claim: Claim, operands: Sequence[Computation]) -> None:
    """Reject a value given without a scale if it equals the figure in thousands, millions, billions or percent."""
    if not claim.value or claim.scale != 1 or claim.relation in ("grew_by", "ranks"):
        return
    figure = operands[0]
    slack = claim.precision / 2
    if figure.unit == RATIO and abs(figure.value * 100 - claim.amount) <= slack:
        raise _Undecidable(f"the value equals the figure in percent: set unit to {PERCENT}")
    for word, power in SCALES.items():
        if abs(figure.value - claim.amount * 10**power) <= slack * 10**power:
            raise _Undecidable(f"the value equals the figure in {word}s: set unit to '{figure.unit} {word}'")


def _check_growth_unit(claim: Claim, operands: Sequence[Computation]) -> None:
    """Reject growth without a unit, or a ratio's growth rate, if the value equals the absolute growth."""
    unit = operands[0].unit
    if not claim.is_rate or (claim.unit is not None and unit != RATIO):
        return
    # The absolute growth of a ratio is in percentage points.
    scale = 1 if unit == RATIO else claim.scale
    if abs(operands[0].value - operands[1].value - claim.amount / scale) <= claim.allowed_difference / scale:
        advice = f"set formula to change({claim.subject})" if unit == RATIO else f"set unit to '{unit}'"
        raise _Undecidable(f"the value equals the absolute growth: {advice}")


def _holds(claim: Claim, values: Sequence[Fraction]) -> bool:
    value, other_values = values[0], values[1:]
    match claim.relation:
        case "is_record":
            return all(value > other for other in other_values)
        case "ranks":
            higher = sum(other > value for other in other_values)
            equal = sum(other == value for other in other_values)
            return 1 + higher <= claim.amount <= 1 + higher + equal
        case "more_than":
            return value > claim.amount
        case "less_than":
            return value < claim.amount
        case "grew_by":
            value = _compute_growth(claim, value, other_values[0])
    difference = abs(value - claim.amount)
    if difference <= claim.allowed_difference:
        return True
    if claim.relation == "about" and claim.tolerance is None and difference <= _NEAR_FRACTION * abs(claim.amount):
        raise _Undecidable("the figure is close to the claimed value but not equal; set a tolerance to accept it")
    return False


def _compute_growth(claim: Claim, value: Fraction, earlier_value: Fraction) -> Fraction:
    if not claim.is_rate:
        return value - earlier_value
    if earlier_value <= 0:
        raise _Undecidable("percentage growth is undefined when the earlier value is not positive")
    return (value - earlier_value) / earlier_value


def _held_earlier(claim: Claim, sources: Sequence[CompanyFigures], operands: Sequence[Computation]) -> bool:
    figures = [figure for operand in operands for figure in (*operand.figures, *operand.reported_figures)]
    days = sorted({revision.fact.filed for figure in figures for revision in figure.values})
    return any(
        _find_support(claim, [source.with_options(as_of=min(day, source.options.as_of or day)) for source in sources])
        for day in days[-_MAX_VINTAGES:]
    )


def _find_support(claim: Claim, sources: Sequence[CompanyFigures]) -> list[Computation] | None:
    try:
        operands = _find_operands(claim, sources)
        _check_comparable(claim, operands)
        return operands if _holds(claim, [operand.value for operand in operands]) else None
    except (_Undecidable, DataNotFound):
        return None


def _check_other_tags(claim: Claim, operands: Sequence[Computation]) -> None:
    if claim.metric is None or any(len(operand.inputs) > 1 for operand in operands):
        return
    tags = [{fact.concept: fact for figure in operand.figures for fact in figure.alternatives} for operand in operands]
    for concept in sorted(set.intersection(*(set(by_concept) for by_concept in tags))):
        if _holds(claim, [Fraction(str(by_concept[concept].value)) for by_concept in tags]):
            raise _Undecidable(f"the claim is true of {concept}, another tag in the same filing")


def _check_calendar_year(claim: Claim, sources: Sequence[CompanyFigures], operands: Sequence[Computation]) -> None:
    """Reject a claim that is true of an adjacent fiscal year, most of which falls in the claimed calendar year."""
    period = claim.period
    for other in (period.shift(1), period.shift(-1)) if period.quarter is None and claim.base_period is None else ():
        support = _find_support(claim.model_copy(update={"period": other}), sources)
        end = max(figure.end for figure in support[0].figures) if support else ""
        if end and (date.fromisoformat(end) - timedelta(days=_HALF_YEAR_DAYS)).year == period.year:
            claimed_end = max(figure.end for figure in operands[0].figures)
            raise _Undecidable(
                f"{period.label} ended on {claimed_end}; the claim is true of {other.label}, which ended on {end}"
                f" and falls mostly in calendar {period.year}: set period to the fiscal year that you mean"
            )


def _build_data(claim: Claim, operands: Sequence[Computation]) -> dict[str, Any]:
    values, unit = [operand.value for operand in operands], operands[0].unit
    statement = _build_period(operands[0]) | {"true_statement": _explain(claim, operands)}
    if claim.relation == "is_record":
        return {"value": to_number(values[0]), "unit": unit} | statement
    result, factor = values[0], 1
    if claim.relation == "ranks":
        result, unit = Fraction(1 + sum(other > result for other in values[1:])), "rank"
    elif claim.relation == "grew_by":
        result = _compute_growth(claim, *values)
        if claim.is_rate:
            factor, unit = 100, PERCENT
    amounts = {
        "claimed": claim.amount,
        "value": result,
        "difference": claim.amount - result,
        "tolerance": claim.allowed_difference,
    }
    return {name: to_number(amount * factor) for name, amount in amounts.items()} | {"unit": unit} | statement


def _build_period(operand: Computation) -> dict[str, Any]:
    figure = operand.period_figure
    return {"start_date": figure.start or None, "end_date": figure.end}


def _cite_reported(claim: Claim, operand: Computation) -> dict[str, Any]:
    """Return the period of the value in an undecided claim, and cite the value if it is reported (rule F8)."""
    is_reported = claim.metric is not None and [figure.kind for figure in operand.figures] == [REPORTED]
    return _build_period(operand) | ({"true_statement": _cite(claim, operand)} if is_reported else {})


def _explain(claim: Claim, operands: Sequence[Computation]) -> str:
    if claim.relation == "is_record":
        highest = max(operands[1:], key=lambda operand: operand.value)
        return (
            f"{_cite(claim, operands[0])}; the highest of the {len(operands) - 1} earlier periods in the data, starting"
            f" with {operands[-1].period_label}: {_cite(claim, highest)}"
        )
    cited = "; ".join(_cite(claim, operand) for operand in operands)
    if claim.relation == "grew_by":
        growth = _compute_growth(claim, operands[0].value, operands[1].value)
        rate = f"{float(growth * 100):.4g} percent" if claim.is_rate else f"{to_number(growth)} {operands[0].unit}"
        return f"{cited}; the growth derived from them is {rate}"
    return cited


def _cite(claim: Claim, operand: Computation) -> str:
    """Cite a value with its filings; use the verb "states" only for reported values (rule F8)."""
    company = operand.source.company.name
    value = f"{to_number(operand.value)} {operand.unit}"
    name = claim.subject
    formula = ast.unparse(operand.formula)
    filings = _format_filings(operand.reported_figures)
    if claim.metric is not None and len(operand.inputs) == 1:
        (figure,) = operand.figures
        name = figure.metric
        if figure.kind == REPORTED:
            return f"{company} states {name} of {value} for {operand.period_label} in {_format_filings([figure])}"
        formula = figure.formula or f"split-adjusted {name}"
    return f"{name} of {company} for {operand.period_label} is {value}, derived as {formula} from {filings}"


def _format_filings(figures: Iterable[Figure]) -> str:
    facts = [figure.fact for figure in figures]
    return " and ".join(dict.fromkeys(f"{fact.form} {fact.accession} of {fact.filed}" for fact in facts))
