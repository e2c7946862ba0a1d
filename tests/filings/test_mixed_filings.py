"""Computed figures use one basis, and a statement comes from one filing; lines that the filing lacks are marked."""

import pytest

from fingerpost.filings.claims import verify_claim
from fingerpost.filings.companyfacts import read_submissions
from fingerpost.filings.query_params import Claim
from fingerpost.filings.store import FactStore
from fingerpost.filings.tools.sec_text import format_statement
from tests.filings.drawing import ask, facts, library_of, refusal, submissions

LATEST, FIRST = {}, {"vintage": "original"}
YEARS = {"2021-12-31": 2021, "2022-12-31": 2022}
# The year was amended after the nine months; a later report states both for 2021 alone.
AMENDED = """
Revenues 2021-01-01 2021-09-30 60  q21 10-Q   2021-11-01
Revenues 2021-01-01 2021-12-31 90  k21 10-K   2022-02-01
Revenues 2022-01-01 2022-09-30 70  q22 10-Q   2022-11-01
Revenues 2022-01-01 2022-12-31 100 k22 10-K   2023-02-01
Revenues 2022-01-01 2022-12-31 96  a22 10-K/A 2023-06-01
Revenues 2021-01-01 2021-09-30 58  r21 10-K/A 2023-07-01
Revenues 2021-01-01 2021-12-31 85  r21 10-K/A 2023-07-01
"""


@pytest.fixture(scope="module")
def amended(tmp_path_factory):
    return library_of(tmp_path_factory.mktemp("basis") / "f.sqlite", facts(AMENDED), YEARS)


def find(library, ticker, metric, period, **options):
    return ask(library, "financial_facts", ticker=ticker, metrics=[metric], period=period, **options)


def refused(library, ticker, metric, period):
    asked = {"ticker": ticker, "metrics": [metric], "period": period}
    return refusal(library, "financial_facts", **asked).details["missing"][metric]


def test_a_quarter_over_a_restatement_is_refused_with_both_filings(amended):
    told = refused(amended, "DRWN", "Revenue", "2022-Q4")

    assert told["reason"] == "not_comparable"
    assert "FY 96 USD (us-gaap:Revenues in 10-K/A a22 of 2023-06-01) and 9M 70 USD (us-gaap:R" in told["message"]
    assert told["next_step"] == "Set vintage to original to get 30 USD, as first filed"


def test_the_newest_filing_that_states_both_decides(amended):
    (row,) = find(amended, "DRWN", "Revenue", "2021-Q4").results

    assert (row["value"], row["accession_number"], [part["value"] for part in row["inputs"]]) == (27, "r21", [85, 58])


def test_a_value_that_another_filing_states_otherwise_is_noted(tmp_path):
    again = AMENDED + "Revenues 2021-01-01 2021-09-30 57 s21 10-K/A 2023-08-01\n"
    library = library_of(tmp_path / "f.sqlite", facts(again), YEARS)
    (row,) = find(library, "DRWN", "Revenue", "2021-Q4").results

    assert row["value"] == 27
    assert row["notes"] == ["10-K/A r21 states 58; another filing states 57"]


def test_before_the_restatement_was_filed_the_quarter_is_derived(amended):
    for options in (FIRST, {"as_of": "2023-05-31"}):
        (row,) = find(amended, "DRWN", "Revenue", "2022-Q4", **options).results

        assert (row["value"], row["kind"], row.get("notes")) == (30, "derived", None)


NEW_NAME = """
Assets   -          2021-12-31 50  k21 10-K 2022-02-01
Revenues 2021-01-01 2021-12-31 80  k21 10-K 2022-02-01
Revenues 2022-01-01 2022-09-30 70  q22 10-Q 2022-11-01
Revenues 2022-01-01 2022-12-31 100 k22 10-K 2023-02-01
"""
REPEATED = "Assets - 2021-12-31 50 k22 10-K 2023-02-01"


@pytest.mark.parametrize(
    ("name", "last_day", "later", "is_one_company"),
    [
        ("Shell Acquisition Corp", "2022-12-01T00:00:00.000Z", "", False),
        ("Shell Acquisition Corp", "2022-12-01", REPEATED.replace("50", "900"), False),
        ("Shell Acquisition Corp", "2022-12-01", REPEATED, True),
        ("Shell Acquisition Corp", "2021-12-31", "", True),
        ("DRAWN INC /DE/", "2022-12-01", "", True),
    ],
)
def test_figures_over_a_new_name_are_combined_if_later_filings_repeat_older_ones(
    tmp_path, name, last_day, later, is_one_company
):
    library = library_of(tmp_path / "f.sqlite", facts(NEW_NAME + later), YEARS)
    raw = submissions(formerNames=[{"name": name, "from": "2020-01-01", "to": last_day}])
    FactStore(tmp_path / "f.sqlite").put_submissions(read_submissions(raw, "submissions"))
    grew = Claim(ticker="DRWN", metric="Revenue", period="2022", relation="grew_by", value=25)
    years = ask(library, "time_series", ticker="DRWN", metric="Revenue", period="annual").results
    verdict = verify_claim(library, grew).extra["data"]["verdict"]

    is_marked = "changed its name" in str(years[-1].get("notes"))
    if is_one_company:
        assert find(library, "DRWN", "Revenue", "2022-Q4").data == {"Revenue": 30}
        assert find(library, "DRWN", "revenue_growth", "2022").data == {"revenue_growth": 0.25}
        assert (verdict, is_marked) == ("confirmed", False)
    else:
        for metric, period, value in (("Revenue", "2022-Q4", "30 USD"), ("revenue_growth", "2022", "0.25 ratio")):
            told = refused(library, "DRWN", metric, period)
            assert "the company changed its name" in told["message"]
            assert told["next_step"] == f"Set vintage to original to get {value}, as first filed"
        assert (verdict, is_marked) == ("cannot_judge", True)


def test_a_series_of_quarters_names_those_that_it_lacks(amended):
    reply = ask(amended, "time_series", ticker="DRWN", metric="Revenue", period="quarterly")

    assert [row["value"] for row in reply.results] == [27]
    assert [(name, entry["reason"]) for name, entry in reply.missing.items()] == [("Revenue 2022-Q4", "not_comparable")]


def test_figures_of_two_frameworks_are_not_subtracted(tmp_path):
    drawn = facts("""
        ifrs-full:GrossProfit 2022-01-01 2022-09-30 70  s22 6-K  2022-11-01
        ifrs-full:GrossProfit 2022-01-01 2022-12-31 100 f22 20-F 2023-02-01
        GrossProfit           2022-01-01 2022-12-31 96  k23 10-K 2024-02-01
    """)
    library = library_of(tmp_path / "f.sqlite", drawn, YEARS)

    told = refused(library, "DRWN", "GrossProfit", "2022-Q4")["message"]
    assert all(f"{taxonomy}:GrossProfit in" in told for taxonomy in ("us-gaap", "ifrs-full"))
    asked = ("2022", "2022-Q4")
    first = [find(library, "DRWN", "GrossProfit", period, **FIRST).data["GrossProfit"] for period in asked]
    assert first == [100, 30]


def test_growth_uses_the_newest_filing_that_states_both_years(recorded):
    """Celestica's 20-F of 2024 has 297.9 and 226.8 million under IFRS; the 10-K of 2025 has 211.1 for 2022 alone."""
    reply = ask(recorded, "calculate", ticker="CLS", expression="growth(OperatingCashFlow)", period="2022")
    claim = Claim(ticker="CLS", metric="OperatingCashFlow", period="2022", relation="grew_by", value=31.3)
    claims = [claim.model_copy(update={"value": value}) for value in (31.3, -6.9, -7)]
    verdicts = [verify_claim(recorded, claim).extra["data"]["verdict"] for claim in claims]

    assert round(reply.results[0]["value"], 3) == 0.313
    assert {part["accession_number"] for part in reply.results[0]["inputs"]} == {"0001030894-24-000009"}
    assert verdicts == ["confirmed", "contradicted", "contradicted"]


@pytest.mark.parametrize(
    ("ticker", "expression", "period", "why", "step"),
    [
        ("CLS", "cagr(Revenue, 5)", "2024", "two frameworks", "Get the inputs with financial_facts"),
        ("AAPL", "cagr(Assets, 3)", "2015", "a later filing restated", "Set vintage to original to get 0.1816"),
        ("META", "ebitda", "2016-Q2", "a later filing restated OperatingIncome", "Set vintage to original"),
    ],
)
def test_inputs_without_a_common_basis_are_not_combined(recorded, ticker, expression, period, why, step):
    error = refusal(recorded, "calculate", ticker=ticker, expression=expression, period=period)
    told = error.details["missing"][expression]

    assert (told["reason"], why in told["message"]) == ("not_comparable", True)
    assert told["next_step"].startswith(step)


def test_a_year_is_not_on_the_basis_of_quarters_that_its_report_recast(recorded):
    """Facebook's 10-K for 2016 states 10,217 million, and 6,648 for the quarters that had been 5,944 in its 10-Q."""
    asked = {"ticker": "META", "metrics": ["NetIncome"], "as_of": "2017-06-01"}
    for period in ("2016-Q4", "ttm"):
        error = refusal(recorded, "financial_facts", **asked, period=period)
        told = error.details["missing"]["NetIncome"]
        assert (told["reason"], "5944000000" in told["message"]) == ("not_comparable", True)

    quarters = ask(recorded, "financial_facts", **asked, period="2016-Q1..2016-Q3").data["NetIncome"]
    assert sum(quarter["value"] for quarter in quarters) == 6_648_000_000


def test_amounts_per_share_have_one_unit(recorded):
    """Facebook stated earnings per share in USD until 2020, and in USD/shares since."""
    asked = {"ticker": "META", "metrics": ["EPSDiluted"]}
    rows = [ask(recorded, "financial_facts", **asked, period=period).results[-1] for period in ("2020", "2021-Q1")]

    assert [(row["value"], row["unit"]) for row in rows] == [(10.09, "USD/shares"), (3.3, "USD/shares")]


def test_periods_after_a_restatement_are_on_its_basis(recorded):
    """Vertiv stated 4,285.6 million for 2018 before it stated 4,998.1 for 2021; the shell's zero is older."""
    reply = ask(recorded, "calculate", ticker="VRT", expression="cagr(Revenue, 3)", period="2021")
    noted = []
    for metric, period in (("Revenue", "quarterly"), ("Assets", "annual")):
        rows = ask(recorded, "time_series", ticker="VRT", metric=metric, period=period).results
        noted.append([row["end_date"] for row in rows if "restated: no filing" in str(row.get("notes"))])

    # The shell's 697 million of assets for 2018 are followed by Vertiv's 4,657.
    assert noted == [["2019-03-31"], ["2019-12-31"]]
    assert round(reply.results[0]["value"], 4) == round((4998.1 / 4285.6) ** (1 / 3) - 1, 4)


@pytest.mark.parametrize(
    ("ticker", "ratio", "period", "inputs"),
    [("CLS", "roa", "2022", [145_500_000, 5_628_000_000]), ("VRT", "cash_ratio", "2018", [835_544, 1_277_528])],
)
def test_a_ratio_is_of_one_framework_and_one_company(recorded, ticker, ratio, period, inputs):
    """Later filings state 180.1 million under US GAAP, and Vertiv's cash, but not the other input."""
    reply = ask(recorded, "financial_facts", ticker=ticker, metrics=[ratio], period=period)

    assert [part["value"] for part in reply.results[0]["inputs"]] == inputs


# A shell's balance sheet, and the operating company's after a reverse merger, which states no current assets for 2021.
MERGER = """
CashAndCashEquivalentsAtCarryingValue - 2021-12-31 1   s21 10-K 2022-02-01
AssetsCurrent                         - 2021-12-31 2   s21 10-K 2022-02-01
Assets                                - 2021-12-31 690 s21 10-K 2022-02-01
LiabilitiesAndStockholdersEquity      - 2021-12-31 690 s21 10-K 2022-02-01
StockholdersEquity                    - 2021-12-31 5   s21 10-K 2022-02-01
CashAndCashEquivalentsAtCarryingValue - 2021-12-31 215 q23 10-Q 2023-05-01
"""
# A later report restates revenue alone, in a table of several years.
RESTATED = """
Revenues      2021-01-01 2021-12-31 610 k21 10-K 2022-02-01
CostOfRevenue 2021-01-01 2021-12-31 570 k21 10-K 2022-02-01
GrossProfit   2021-01-01 2021-12-31 40  k21 10-K 2022-02-01
NetIncomeLoss 2021-01-01 2021-12-31 10  k21 10-K 2022-02-01
Revenues      2021-01-01 2021-12-31 623 k23 10-K 2024-02-01
"""
BOTH = """
Revenues      2021-01-01 2021-12-31 610 k21 10-K 2022-02-01
NetIncomeLoss 2021-01-01 2021-12-31 10  k21 10-K 2022-02-01
CostOfRevenue 2021-01-01 2021-12-31 570 k21 10-K 2022-02-01
Revenues      2021-01-01 2021-12-31 623 k22 10-K 2023-02-01
NetIncomeLoss 2021-01-01 2021-12-31 12  k22 10-K 2023-02-01
"""
# The shell's first report states no cost; the operating company's later one has more lines.
SHELL = """
Revenues        2021-01-01 2021-12-31 0   s21 10-K 2022-02-01
NetIncomeLoss   2021-01-01 2021-12-31 5   s21 10-K 2022-02-01
Revenues        2021-01-01 2021-12-31 428 k23 10-K 2024-02-01
NetIncomeLoss   2021-01-01 2021-12-31 -31 k23 10-K 2024-02-01
CostOfRevenue   2021-01-01 2021-12-31 286 k23 10-K 2024-02-01
InterestExpense 2021-01-01 2021-12-31 28  k23 10-K 2024-02-01
IncomeTaxExpenseBenefit 2021-01-01 2021-12-31 4 k23 10-K 2024-02-01
"""


@pytest.mark.parametrize(
    ("drawing", "kind", "options", "data", "notes"),
    [
        (
            MERGER, "balance", LATEST,
            {"Cash": 1, "CurrentAssets": 2, "Assets": 690},
            {"Cash": "10-K s21 states 1; another filing states 215"},
        ),
        (
            RESTATED, "income", LATEST,
            {"Revenue": 610, "CostOfRevenue": 570, "GrossProfit": 40},
            {"Revenue": "10-K k21 states 610; another filing states 623"},
        ),
        (
            BOTH, "income", LATEST,
            {"Revenue": 623, "NetIncome": 12, "CostOfRevenue": 570},
            {"CostOfRevenue": "from another filing: 10-K k22 states the totals but not this line"},
        ),
        (BOTH, "income", FIRST, {"Revenue": 610, "NetIncome": 10, "CostOfRevenue": 570}, {}),
        (
            SHELL, "income", FIRST,
            {"Revenue": 0, "NetIncome": 5, "CostOfRevenue": 286},
            dict.fromkeys(
                ("CostOfRevenue", "InterestExpense", "IncomeTax"),
                "from another filing: 10-K s21 states the totals but not this line",
            ),
        ),
    ],
)  # fmt: skip
def test_a_statement_is_of_the_newest_filing_that_states_its_totals(tmp_path, drawing, kind, options, data, notes):
    library = library_of(tmp_path / "f.sqlite", facts(drawing), YEARS)
    reply = ask(library, "statement", ticker="DRWN", statement=kind, period="2021", **options)

    assert {name: reply.data[name] for name in data} == data
    assert {row["metric_name"]: row["notes"][-1] for row in reply.results if row.get("notes")} == notes


# A table of quarters states earnings per share alone in the new shares of a 4:1 split.
OLD_SHARES = "EarningsPerShareDiluted 2021-01-01 2021-12-31 8 k21 10-K 2022-02-01"
NEW_SHARES = "\nEarningsPerShareDiluted 2021-01-01 2021-12-31 2 k23 10-K 2024-02-01"
TOTALS_BEFORE = """
Revenues      2021-01-01 2021-12-31 610 k21 10-K 2022-02-01
NetIncomeLoss 2021-01-01 2021-12-31 10  k21 10-K 2022-02-01
"""
RATIO = "StockholdersEquityNoteStockSplitConversionRatio1 - 2023-06-03 4 k23 10-K 2024-02-01"


@pytest.mark.parametrize(
    ("stated", "other"), [(OLD_SHARES, []), (OLD_SHARES + NEW_SHARES, ["10-K k21 states 8; another filing states 2"])]
)
def test_a_line_in_shares_is_adjusted_after_its_filing_is_chosen(tmp_path, stated, other):
    drawn = facts(TOTALS_BEFORE) + facts(stated, "USD/shares") + facts(RATIO, "pure")
    library = library_of(tmp_path / "f.sqlite", drawn, YEARS)
    rows = [
        ask(library, "statement", ticker="DRWN", statement="income", period="2021", **options).results[-1]
        for options in (LATEST, {"vintage": "split_adjusted"})
    ]

    assert [(row["metric_name"], row["value"], row["notes"]) for row in rows] == [
        ("EPSDiluted", 8, [*other, "filed before a 4:1 split and not adjusted for it; use vintage split_adjusted"]),
        ("EPSDiluted", 2, [*other, "adjusted for a 4:1 split after it was filed; stated as 8"]),
    ]


def test_a_statement_of_several_periods_has_them_side_by_side(recorded):
    reply = ask(recorded, "statement", ticker="CLS", statement="income", period="2021..2022")
    lines = {row["metric_name"]: [] for row in reply.results}
    for row in reply.results:
        lines[row["metric_name"]].append((row["fiscal_year"], row["value"], (row.get("notes") or [""])[-1]))
    text = format_statement({"results": reply.results} | reply.to_fields())

    assert lines["NetIncome"][0][:2] == (2021, 103_900_000)
    assert lines["NetIncome"][1] == (2022, 180_100_000, "under us-gaap; the earlier value is under ifrs-full")
    assert [point["end_date"] for point in reply.data["Revenue"]] == ["2021-12-31", "2022-12-31"]
    assert "Periods ending: 2021-12-31 | 2022-12-31.\nRevenue: 5,634,700,000 | 7,250,000,000.\n" in text
    assert {"ComprehensiveIncome 2021", "NetInterestIncome"} <= set(reply.missing)


@pytest.mark.parametrize(
    ("claim", "options", "verdict"),
    [
        ("AAPL Revenue 2008-Q4 equals 12.907", LATEST, "cannot_judge"),
        ("AAPL Revenue 2008-Q4 equals 12.907", FIRST, "contradicted"),
        ("AAPL Revenue 2008-Q4 equals 7.895", FIRST, "confirmed"),
        ("VRT revenue_growth 2019-Q4 equals -0.73", LATEST, "cannot_judge"),
    ],
)
def test_recorded_claims_that_were_judged_by_mixed_filings(recorded, claim, options, verdict):
    ticker, metric, period, relation, value = claim.split()
    unit = {"Revenue": "USD billion", "revenue_growth": "ratio"}.get(metric, "percent")
    fields = {"ticker": ticker, "metric": metric, "period": period, "relation": relation, "unit": unit}
    reply = verify_claim(recorded, Claim(**fields, value=float(value), **options))

    assert reply.extra["data"]["verdict"] == verdict
    assert "-Q4" not in claim or "Inc. states" not in reply.extra["explanation"]
