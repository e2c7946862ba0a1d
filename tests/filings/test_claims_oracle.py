"""Verdicts on a hundred claims, a third of them false, against a reader of the raw files that shares no code.

The reader knows a company's annual values by tag, start and end, and takes the newest filing's.
"""

import json
from datetime import date, timedelta

import pytest

from fingerpost.filings.claims import verify_claim
from fingerpost.filings.query_params import Claim
from tests.filings.conftest import CHANGED, RECORDED
from tests.shared_data import get_shared

TAGS = {
    "Revenue": ["us-gaap:Revenues", "us-gaap:RevenueFromContractWithCustomerExcludingAssessedTax",
                "us-gaap:SalesRevenueNet", "ifrs-full:Revenue", "ifrs-full:RevenueFromContractsWithCustomers"],
    "NetIncome": ["us-gaap:NetIncomeLoss", "ifrs-full:ProfitLossAttributableToOwnersOfParent"],
    "OperatingCashFlow": ["us-gaap:NetCashProvidedByUsedInOperatingActivities",
                          "ifrs-full:CashFlowsFromUsedInOperatingActivities"],
    "Assets": ["us-gaap:Assets", "ifrs-full:Assets"],
}  # fmt: skip
YEAR_DAYS = range(350, 380)
YEAR_ENDS = {"AAPL": 9, "NVDA": 1}
MILLION = 10**6


def read_years(ticker, metric):
    """Return {fiscal year: {accession: value}} of annual reports, the oldest filing first."""
    raw = json.loads(get_shared((RECORDED | CHANGED)[ticker]).read_text())["facts"]
    stated = {}
    for name in TAGS[metric]:
        taxonomy, tag = name.split(":")
        for fact in raw.get(taxonomy, {}).get(tag, {"units": {}})["units"].get("USD", ()):
            if not fact["form"].startswith(("10-K", "20-F")):
                continue
            end = date.fromisoformat(fact["end"])
            is_year = "start" not in fact or (end - date.fromisoformat(fact["start"])).days in YEAR_DAYS
            # A year of 52 weeks may end in the first days of the next month.
            named = end - timedelta(days=5)
            if is_year and named.month == YEAR_ENDS.get(ticker, 12):
                filings = stated.setdefault(named.year, {})
                filing = (fact["filed"], taxonomy, fact["accn"])
                filings[filing] = max(fact["val"], filings.get(filing, fact["val"]))
    return {year: dict(sorted(filings.items())) for year, filings in sorted(stated.items())}


def list_claims(ticker):
    """Yield claims with the verdict that the raw facts call for: true ones, false ones, and of restated values."""
    for metric in TAGS:
        years = read_years(ticker, metric)
        for year, values in years.items():
            *older, value = values.values()
            about = {"ticker": ticker, "metric": metric, "period": str(year)}
            equals = about | {"relation": "equals", "unit": "USD million"}
            yield Claim(**equals, value=round(value / MILLION, 1)), "confirmed"
            yield Claim(**equals, value=round(value / MILLION * 1.1 + 1)), "contradicted"
            restated = [old for old in older if round((old - value) / MILLION)]
            yield from ((Claim(**equals, value=old / MILLION), "stale_vintage") for old in restated)
            exceeds = about | {"relation": "more_than", "unit": "USD"}
            yield Claim(**exceeds, value=min(values.values()) - 1), "confirmed"
            following = list(years.get(year + 1, {0: 0}).values())[-1]
            # Most of its next fiscal year lies in the calendar year.
            may_mean_next = YEAR_ENDS.get(ticker) == 1 and following > max(values.values())
            yield Claim(**exceeds, value=max(values.values())), "cannot_judge" if may_mean_next else "contradicted"
            before = years.get(year - 1, {})
            common = [filing for filing in before if filing in values]
            if common and before[common[-1]] > 0:
                growth = values[common[-1]] / before[common[-1]] * 100 - 100
                grew = about | {"relation": "grew_by", "unit": "percent", "tolerance": 0.1}
                yield Claim(**grew, value=round(growth, 1)), "confirmed"
                yield Claim(**grew, value=round(growth + 7, 1)), "contradicted"


@pytest.mark.parametrize("ticker", sorted(RECORDED | CHANGED))
def test_verdicts_agree_with_the_raw_facts(recorded, ticker):
    claims = list(list_claims(ticker))
    true = [pair for pair in claims if pair[1] in ("confirmed", "stale_vintage")]
    false = [pair for pair in claims if pair[1] in ("contradicted", "cannot_judge")]
    chosen = true[:: len(true) // 14][:14] + false[:: len(false) // 7][:7]

    assert [(claim, verify_claim(recorded, claim).extra["data"]["verdict"]) for claim, _ in chosen] == chosen
