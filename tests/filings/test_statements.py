"""A statement is of one filing; a line that this filing lacks is marked."""

from itertools import product

import pytest

from fingerpost.errors import DataNotFound
from fingerpost.filings.concepts import find_metric
from fingerpost.filings.figure import FigureOptions
from fingerpost.filings.questions import TOTALS, statement
from tests.filings.conftest import CHANGED, RECORDED
from tests.filings.drawing import FIRST, LATEST, facts, figures_of, library_of, window

YEARS = {"2021-12-31": 2021, "2022-12-31": 2022}
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
    """The oldest for the original vintage; a repeated total in a table of years is no statement."""
    reply = statement(library_of(tmp_path / "f.sqlite", facts(drawing), YEARS), "DRWN", kind, window("2021"), options)

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
    """The split that lies after the statement's filing counts, not after another one."""
    drawn = facts(TOTALS_BEFORE) + facts(stated, "USD/shares") + facts(RATIO, "pure")
    library = library_of(tmp_path / "f.sqlite", drawn, YEARS)
    rows = [
        statement(library, "DRWN", "income", window("2021"), options).results[-1]
        for options in (LATEST, FigureOptions("split_adjusted"))
    ]

    assert [(row["metric_name"], row["value"], row["notes"]) for row in rows] == [
        ("EPSDiluted", 8, [*other, "filed before a 4:1 split and not adjusted for it; ask for vintage split_adjusted"]),
        ("EPSDiluted", 2, [*other, "adjusted for a 4:1 split after it was filed; stated as 8"]),
    ]


@pytest.mark.parametrize("ticker", sorted(RECORDED | CHANGED))
def test_an_original_statement_has_the_first_value_of_each_line(recorded, ticker):
    """Whichever filing its totals are from."""
    source, checked, differing = figures_of(recorded, ticker, vintage="original"), 0, []
    for kind, period in product(TOTALS, ("2012", "2018", "2019", "2020-Q1")):
        try:
            rows = statement(recorded, ticker, kind, window(period), source.options).results
        except DataNotFound:
            continue
        for row in rows:
            figures = source.series(find_metric(row["metric_name"])).figures
            checked += 1
            differing += (
                [] if (row["end_date"], row["value"]) in [(f.end, f.value) for f in figures] else [(period, row)]
            )

    assert (checked > 50, differing) == (True, [])


@pytest.mark.parametrize(
    ("ticker", "period", "kind", "filing"),
    [("VRT", "2018", "balance", "Assets"), ("CLS", "2017", "income", "Revenue")],
)
def test_recorded_statements_that_mixed_filings(recorded, ticker, period, kind, filing):
    """Vertiv's cash was the operating company's above the shell's assets; Celestica's revenue was of a later tag."""
    reply = statement(recorded, ticker, kind, window(period), LATEST)
    values = reply.data
    of_total = next(row for row in reply.results if row["metric_name"] == filing)

    assert of_total["value"] == values[filing]
    if kind == "balance":
        assert values["Cash"] <= values["CurrentAssets"] <= values["Assets"]
    else:
        assert values["Revenue"] - values["CostOfRevenue"] == values["GrossProfit"]
