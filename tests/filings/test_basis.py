"""Properties of the figures of all companies: the recorded ones, and drawn filers of other kinds."""

import ast
from collections import defaultdict
from contextlib import suppress
from datetime import date, timedelta
from functools import cache

import pytest

from fingerpost.errors import DataNotFound
from fingerpost.filings.calculation import Unavailable, compute
from fingerpost.filings.claims import verify_claim
from fingerpost.filings.concepts import list_metrics
from fingerpost.filings.figure import PERIODIC_FORMS
from fingerpost.filings.formula import read_formula
from fingerpost.filings.period_filter import PeriodFilter
from fingerpost.filings.periods import INSTANT, QUARTER, YEAR
from fingerpost.filings.query_params import Claim
from fingerpost.filings.reasons import explain_missing_figure
from fingerpost.filings.revisions import FRAMEWORKS, have_common_framework
from tests.filings.conftest import CHANGED, RECORDED
from tests.filings.drawing import ask, facts, figures_of, library_of
from tests.filings.test_calculation import MOVED, MOVED_YEARS

SLACK = timedelta(days=7)
# Every figure takes two minutes.
SAMPLED = 25
PLAIN_YEARS = {f"{year}-12-31": year for year in (2021, 2022)}


def draw_year(year, **values):
    """Draw flows of a calendar year as filers state them: three months, six, nine, and the year; balances as given."""
    lines = []
    for tag, value in values.items():
        for end, months in (("03-31", 3), ("06-30", 6), ("09-30", 9), ("12-31", 12)):
            report = f"q{year}{months} 10-Q {year}-{months + 2:02}-01"
            if months == 12:
                report = f"k{year} 10-K {year + 1}-02-01"
            lines.append(f"{tag} {year}-01-01 {year}-{end} {value * months} {report}")
    return "\n".join(lines)


BANK = draw_year(2021, RevenuesNetOfInterestExpense=9, InterestIncomeExpenseNet=5, NoninterestIncome=4, NetIncomeLoss=3)
BANK += """
RevenuesNetOfInterestExpense 2022-01-01 2022-12-31 120 k2022 10-K 2023-02-01
Revenues                     2022-01-01 2022-12-31 150 k2022 10-K 2023-02-01
NetIncomeLoss                2022-01-01 2022-12-31 30  k2022 10-K 2023-02-01
CashAndDueFromBanks          - 2022-12-31 50   k2022 10-K 2023-02-01
Assets                       - 2021-12-31 900  k2021 10-K 2022-02-01
Assets                       - 2022-12-31 1000 k2022 10-K 2023-02-01
"""
INSURER = (
    draw_year(2022, Revenues=20, PremiumsEarnedNet=15, BenefitsLossesAndExpenses=18, NetIncomeLoss=2)
    + """
BenefitsLossesAndExpenses 2022-01-01 2022-12-31 220 a2022 10-K/A 2023-06-01
Assets                    - 2022-12-31 700  k2022 10-K 2023-02-01
Liabilities               - 2022-12-31 600  k2022 10-K 2023-02-01
"""
)
FUND = """
NetIncomeLoss 2022-01-01 2022-12-31 -7 k2022 10-K 2023-02-01
Assets      - 2021-12-31 90  k2021 10-K 2022-02-01
Assets      - 2022-12-31 83  k2022 10-K 2023-02-01
Liabilities - 2022-12-31 1   k2022 10-K 2023-02-01
"""
DRAWN = {
    "BANK": (BANK, PLAIN_YEARS),
    "INSR": (INSURER, PLAIN_YEARS),
    "FUND": (FUND, PLAIN_YEARS),
    "MOVD": (MOVED, MOVED_YEARS),
}


@pytest.fixture(scope="module", params=[*sorted(RECORDED | CHANGED), *DRAWN])
def source(request, tmp_path_factory):
    if request.param not in DRAWN:
        return figures_of(request.getfixturevalue("recorded"), request.param)
    drawing, years = DRAWN[request.param]
    path = tmp_path_factory.mktemp("drawn") / "f.sqlite"
    return figures_of(library_of(path, facts(drawing), years, ticker=request.param), request.param)


@cache
def compute_recipes(source):
    """Return every recipe's value for every fiscal year."""
    found = []
    years = {figure.fiscal_year for metric in list_metrics() for figure in source.series(metric).figures}
    for recipe in list_metrics(recipes=True):
        for year in sorted(years):
            with suppress(Unavailable):
                computed = compute(source, read_formula(recipe.expression), PeriodFilter(year=year))
                found.append((computed, computed.to_figure(recipe)))
    return found


def test_the_four_quarters_of_a_year_on_one_basis_add_up_to_it(source):
    checked, wrong = 0, []
    for metric in list_metrics():
        figures = [figure for figure in source.series(metric).figures if figure.unit == "USD"]
        quarters = {
            (figure.fiscal_year, figure.fiscal_quarter): figure for figure in figures if figure.period == QUARTER
        }
        for year in (figure for figure in figures if figure.period == YEAR):
            parts = [quarters.get((year.fiscal_year, quarter)) for quarter in (1, 2, 3, 4)]
            if None in parts or any(part.restated or part.notes or part.tier != year.tier for part in [year, *parts]):
                continue
            checked += 1
            # Filers round to a million, or to a hundred thousand.
            if abs(sum(part.value for part in parts) - year.value) > 4_000_000:
                wrong.append((metric.name, year.end))

    assert (wrong, checked >= 50 or source.company.ticker not in RECORDED) == ([], True)


def test_every_derived_quarter_has_one_basis(source):
    wrong = []
    for metric in list_metrics():
        series = source.series(metric)
        answered = {figure.end for figure in series.figures if figure.period == QUARTER}
        wrong += [figure for figure in series.rejected if figure.end in answered]
        for figure in (figure for figure in series.figures if figure.parts):
            longer, shorter = figure.parts
            is_joint = longer.fact.accession == shorter.fact.accession
            is_unchanged = not (longer.restated or shorter.restated)
            if not (is_joint or is_unchanged) or not longer.taxonomies & shorter.taxonomies:
                wrong.append(figure)

    assert wrong == []


def test_an_original_is_the_first_filed_value_under_any_tag(source):
    original, stated, wrong = source.with_options(vintage="original"), defaultdict(list), []
    query = "SELECT concept, unit, start_date, end_date, value, filing_type, filing_date FROM facts WHERE cik = ?"
    for concept, unit, start, end, value, form, filed in source.library.rows(query, source.company.cik):
        if form in PERIODIC_FORMS:
            stated[concept, unit, start or "", end].append((filed, value))
    for metric in list_metrics():
        figures = original.series(metric).figures
        for figure in [figure for figure in figures if not figure.parts]:
            period = figure.unit, figure.start, figure.end
            rows = [row for concept in metric.concepts for row in stated[concept, *period]]
            earlier = [value for filed, value in rows if filed < figure.fact.filed]
            # A part of the total that was filed earlier is not the metric's first value.
            if earlier and figure.value <= max(earlier):
                wrong.append((metric.name, figure.start, figure.end, figure.value, earlier))

    assert wrong == []


def test_an_original_is_the_value_as_of_its_day(source):
    wrong = []
    for metric in list_metrics():
        figures = source.with_options(vintage="original").series(metric).figures
        for figure in [figure for figure in figures if not figure.parts][::SAMPLED]:
            day_before = (date.fromisoformat(figure.fact.filed) - timedelta(days=1)).isoformat()
            known = [source.with_options(as_of=day).series(metric).figures for day in (figure.fact.filed, day_before)]
            is_known = [(figure.end, figure.value) in [(other.end, other.value) for other in each] for each in known]
            if not is_known[0] or (figure.period == YEAR and is_known[1]):
                wrong.append((metric.name, figure.start, figure.end))

    assert wrong == []


def test_no_calculation_combines_two_frameworks(source):
    computed = compute_recipes(source)

    assert computed
    assert [figure.formula for _, figure in computed if not have_common_framework(figure.parts)] == []
    assert all(len(figure.taxonomies & FRAMEWORKS) <= 1 or figure.parts for _, figure in computed)


def test_the_period_before_ends_on_the_day_before(source):
    for computed, _ in compute_recipes(source):
        current = {lookup.name: figure for lookup, figure in computed.inputs.items() if not lookup.lag}
        for lookup, figure in computed.inputs.items():
            later = current.get(lookup.name)
            if lookup.lag == 1 and later is not None and later.period != INSTANT:
                gap = date.fromisoformat(later.start) - timedelta(days=1) - date.fromisoformat(figure.end)
                assert abs(gap) <= SLACK, (ast.unparse(computed.formula), figure.end, later.start)


def test_a_derived_value_is_never_stated(source):
    derived = 0
    for metric in list_metrics():
        quarters = [figure for figure in source.series(metric).figures if figure.parts and figure.period == QUARTER]
        for figure in quarters[:3]:
            fields = {"metric": metric.name, "relation": "more_than", "value": 0}
            claim = Claim(ticker=source.company.ticker, period=PeriodFilter.from_figure(figure).period, **fields)
            try:
                told = verify_claim(source.library, claim).extra["explanation"]
            except DataNotFound:
                continue
            derived += 1
            assert " states " not in told, told

    assert derived or source.company.ticker in ("FUND", "MOVD")


def test_a_balance_is_of_one_company_and_one_framework(source):
    checked, wrong, balance = 0, [], {"ticker": source.company.ticker, "statement": "balance"}
    for year in range(2009, 2026):
        try:
            rows = ask(source.library, "statement", **balance, period=str(year)).results
        except DataNotFound:
            continue
        values = {row["metric_name"]: row["value"] for row in rows}
        parts = [values[name] for name in ("Cash", "CurrentAssets", "Assets") if name in values]
        own = [row["xbrl_tag"] for row in rows if "from another filing" not in str(row.get("notes"))]
        checked += 1
        wrong += [] if parts == sorted(parts) and len({tag.split(":")[0] for tag in own}) == 1 else [year]

    assert (wrong, checked > 5 or source.company.ticker in DRAWN) == ([], True)


@pytest.mark.parametrize("year", [2010, 2014, 2022])
def test_a_metric_of_other_periods_is_not_said_to_have_no_tag(source, year):
    window = PeriodFilter(year=year)
    missing = [metric for metric in list_metrics() if not source.select(metric, window).headline]
    told = [explain_missing_figure(source, metric, window) for metric in missing if source.series(metric).figures]

    assert not [entry for entry in told if "has no standard tag" in entry["message"]]
