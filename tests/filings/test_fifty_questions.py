"""Fifty questions of FinanceBench's kinds, compared digit by digit with a plain reading of the files."""

import json
from collections import defaultdict
from datetime import date
from fractions import Fraction

import pytest

from fingerpost.errors import DataNotFound
from tests.filings.conftest import CHANGED, RECORDED
from tests.filings.drawing import ask
from tests.shared_data import get_shared

MIN_CHECKED = {"AAPL": 500, "NVDA": 500, "META": 300, "CLS": 100, "VRT": 100}

# What a reader of the file takes for each word: tags of equal standing together, the largest of them; in order.
TAGS = {
    "Revenue": [["Revenues", "RevenueFromContractWithCustomerExcludingAssessedTax", "SalesRevenueNet"]],
    "CostOfRevenue": [["CostOfRevenue"], ["CostOfGoodsAndServicesSold"]],
    "GrossProfit": [["GrossProfit"]],
    "OperatingIncome": [["OperatingIncomeLoss"]],
    "NetIncome": [["NetIncomeLoss"]],
    "IncomeTax": [["IncomeTaxExpenseBenefit"]],
    "ResearchAndDevelopment": [["ResearchAndDevelopmentExpense"]],
    "OperatingCashFlow": [["NetCashProvidedByUsedInOperatingActivities"]],
    "CapitalExpenditure": [["PaymentsToAcquirePropertyPlantAndEquipment"], ["PaymentsToAcquireProductiveAssets"]],
    "DividendsPaid": [["PaymentsOfDividends"], ["PaymentsOfDividendsCommonStock"]],
    "StockCompensation": [["ShareBasedCompensation"]],
    "Assets": [["Assets"]],
    "CurrentAssets": [["AssetsCurrent"]],
    "CurrentLiabilities": [["LiabilitiesCurrent"]],
    "Liabilities": [["Liabilities"]],
    "StockholdersEquity": [["StockholdersEquity"]],
    "Inventory": [["InventoryNet"]],
    "AccountsReceivable": [["AccountsReceivableNetCurrent"]],
    "AccountsPayable": [["AccountsPayableCurrent"]],
    "Cash": [["CashAndCashEquivalentsAtCarryingValue"]],
    "PropertyPlantEquipment": [["PropertyPlantAndEquipmentNet"]],
}


def average(value, word, back=0):
    return (value(word, back) + value(word, back + 1)) / 2


def dpo(v):
    return 365 * average(v, "AccountsPayable") / (v("CostOfRevenue") + v("Inventory") - v("Inventory", 1))


FORMULAS = {
    "OperatingCashFlow / CurrentLiabilities": lambda v: v("OperatingCashFlow") / v("CurrentLiabilities"),
    "free_cash_flow": lambda v: v("OperatingCashFlow") - v("CapitalExpenditure"),
    "fcf / NetIncome": lambda v: (v("OperatingCashFlow") - v("CapitalExpenditure")) / v("NetIncome"),
    "working capital": lambda v: v("CurrentAssets") - v("CurrentLiabilities"),
    "CurrentAssets/CurrentLiabilities": lambda v: v("CurrentAssets") / v("CurrentLiabilities"),
    "(Cash + AccountsReceivable) / CurrentLiabilities": lambda v: (
        (v("Cash") + v("AccountsReceivable")) / v("CurrentLiabilities")
    ),
    "payout": lambda v: v("DividendsPaid") / v("NetIncome"),
    "1 - DividendsPaid / NetIncome": lambda v: 1 - v("DividendsPaid") / v("NetIncome"),
    "capex_to_revenue": lambda v: v("CapitalExpenditure") / v("Revenue"),
    "100 * IncomeTax / (NetIncome + IncomeTax)": lambda v: 100 * v("IncomeTax") / (v("NetIncome") + v("IncomeTax")),
    "ResearchAndDevelopment / Revenue": lambda v: v("ResearchAndDevelopment") / v("Revenue"),
    "StockCompensation / OperatingCashFlow": lambda v: v("StockCompensation") / v("OperatingCashFlow"),
    "Liabilities / Assets": lambda v: v("Liabilities") / v("Assets"),
    "GrossProfit / Revenue": lambda v: v("GrossProfit") / v("Revenue"),
    "change(GrossProfit / Revenue)": lambda v: v("GrossProfit") / v("Revenue") - v("GrossProfit", 1) / v("Revenue", 1),
    "operating margin change": lambda v: (
        v("OperatingIncome") / v("Revenue") - v("OperatingIncome", 1) / v("Revenue", 1)
    ),
    "growth(Revenue)": lambda v: v("Revenue") / v("Revenue", 1) - 1,
    "growth(OperatingIncome)": lambda v: v("OperatingIncome") / v("OperatingIncome", 1) - 1,
    "cagr(Revenue, 1)": lambda v: v("Revenue") / v("Revenue", 1) - 1,
    "asset_turnover": lambda v: v("Revenue") / average(v, "Assets"),
    "fixed asset turnover": lambda v: v("Revenue") / average(v, "PropertyPlantEquipment"),
    "inventory_turnover": lambda v: v("CostOfRevenue") / average(v, "Inventory"),
    "NetIncome / avg(Assets)": lambda v: v("NetIncome") / average(v, "Assets"),
    "NetIncome / avg(StockholdersEquity)": lambda v: v("NetIncome") / average(v, "StockholdersEquity"),
    "365 * avg(AccountsPayable) / (CostOfRevenue + change(Inventory))": dpo,
    "DIO": lambda v: 365 * average(v, "Inventory") / v("CostOfRevenue"),
    "dso": lambda v: 365 * average(v, "AccountsReceivable") / v("Revenue"),
    "cash-conversion-cycle": lambda v: (
        365 * average(v, "Inventory") / v("CostOfRevenue")
        + 365 * average(v, "AccountsReceivable") / v("Revenue")
        - dpo(v)
    ),
    "mean_of_years(CapitalExpenditure / Revenue, 3)": lambda v: (
        sum(v("CapitalExpenditure", back) / v("Revenue", back) for back in range(3)) / 3
    ),
    "mean_of_years(100 * growth(Revenue), 3)": lambda v: (
        sum(100 * (v("Revenue", back) / v("Revenue", back + 1) - 1) for back in range(3)) / 3
    ),
    "NetIncome / prior(NetIncome) - Revenue / prior(Revenue)": lambda v: (
        v("NetIncome") / v("NetIncome", 1) - v("Revenue") / v("Revenue", 1)
    ),
}


# A single figure, too, is a kind of question.
FORMULAS |= {word: lambda v, word=word: v(word) for word in TAGS}


class Unclear(LookupError):
    """The file tells nothing, or two things."""


class PlainReading:
    """A company's file, read without any of the package's rules: annual reports, years by their length and end."""

    def __init__(self, ticker):
        raw = json.loads(get_shared((RECORDED | CHANGED)[ticker]).read_bytes())["facts"]["us-gaap"]
        self.values = defaultdict(set)
        ends = defaultdict(set)
        for tag, told in raw.items():
            for row in told["units"].get("USD", ()):
                if row["form"] not in ("10-K", "10-K/A", "10-Q"):
                    continue
                start = date.fromisoformat(row["start"]) if "start" in row else None
                end = date.fromisoformat(row["end"])
                if start is None or 350 <= (end - start).days <= 380:
                    self.values[tag, start is None, end].add(row["val"])
                    if tag == "NetIncomeLoss" and start is not None and row["form"] == "10-K":
                        ends[end.year].add(end)
        self.ends = {year: min(found) for year, found in ends.items() if len(found) == 1}

    def value(self, word, year):
        if year not in self.ends:
            raise Unclear(year)
        for tags in TAGS[word]:
            found = [self.values[tag, instant, self.ends[year]] for tag in tags for instant in (True, False)]
            found = [values for values in found if values]
            # A shell states no revenue, under another tag than the operating company after the merger.
            if any(len(values) > 1 for values in found) or (len(found) > 1 and {0} in found):
                raise Unclear(word)
            if found:
                return Fraction(max(next(iter(values)) for values in found))
        raise Unclear(word)


@pytest.fixture(scope="module")
def readings():
    return {ticker: PlainReading(ticker) for ticker in MIN_CHECKED}


@pytest.mark.parametrize("ticker", sorted(MIN_CHECKED))
def test_formulas_match_a_plain_reading_of_the_file(recorded, readings, ticker):
    reading, checked, wrong = readings[ticker], 0, []
    for expression, formula in FORMULAS.items():
        for year in sorted(reading.ends):
            try:
                expected = formula(lambda word, back=0, year=year: reading.value(word, year - back))
            except (Unclear, ZeroDivisionError):
                continue
            try:
                asked = {"ticker": ticker, "expression": expression, "period": str(year)}
                found = ask(recorded, "calculate", **asked).data[expression]
            except DataNotFound as error:
                found = str(error)
            if expression.startswith(("growth", "mean_of_years(100")) and "not positive" in str(found):
                continue
            checked += 1
            if found != (int(expected) if expected.denominator == 1 else float(expected)):
                wrong.append((expression, year, found, float(expected)))

    assert wrong == []
    assert (len(FORMULAS) >= 50, checked >= MIN_CHECKED[ticker]) == (True, True)
