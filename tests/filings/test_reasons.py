"""The exact message for each reason why a figure is missing; figures that exist are never reported as missing."""

import pytest

from fingerpost.filings.concepts import find_metric
from fingerpost.filings.questions import TOTALS
from fingerpost.filings.reasons import (
    explain_missing_figure,
    explain_missing_metric,
    explain_missing_ticker,
    suggest_load,
)
from fingerpost.filings.store import FactStore
from tests.filings.drawing import ask, facts, figures_of, library_of, refusal, window

REPORT = """
Revenues                2021-01-01 2021-12-31 100  k21 10-K 2022-02-01
Revenues                2022-01-01 2022-12-31 121  k22 10-K 2023-02-01
"""
YEARS = {"2021-12-31": 2021, "2022-12-31": 2022}


@pytest.fixture
def library(tmp_path):
    eps = facts("EarningsPerShareDiluted 2022-01-01 2022-12-31 1.25 k22 10-K 2023-02-01", "USD/shares")
    return library_of(tmp_path / "f.sqlite", [*facts(REPORT), *eps], YEARS)


def entry(reason, message, next_step):
    return {"reason": reason, "message": message, "next_step": next_step}


TAGS = 'Use the query type "metrics" to list its tags, or read the filing'


@pytest.mark.parametrize(
    ("metric", "period", "options", "expected"),
    [
        (
            "Revenue", "2022", {"as_of": "2023-01-31"},
            ("hidden_by_as_of", "{} was filed after 2023-01-31", "Use a later as_of, or omit it"),
        ),
        ("Revenue", "2022", {"filing_type": "20-F"}, ("other_form", "no 20-F states {}", "Omit filing_type")),
        (
            "EPSDiluted", "2022-Q4", {},
            (
                "not_derivable", "{} is not reported, and per-share figures cannot be summed across quarters",
                "Use the fiscal year",
            ),
        ),
        (
            "EPSDiluted", "2022-Q3", {},
            (
                "not_reported",
                "{} is not in this data set, which has this metric for fiscal 2022; the filing may state it",
                TAGS,
            ),
        ),
        (
            "Revenue", "2023", {},
            (
                "not_in_aggregate_yet", "{} is not in the SEC's aggregate as of 2023-02-01",
                "Run: fingerpost filings sync DRWN; newer reports may not be aggregated yet",
            ),
        ),
        (
            "Revenue", "2019", {},
            ("before_xbrl", "Drawn Inc. has filed machine-readable figures since 2021-12-31", "Use a later period"),
        ),
        (
            "Revenue", "2020", {},
            (
                "not_reported",
                "{} is not in this data set, which has this metric for fiscal 2021 to 2022; the filing may state it",
                TAGS,
            ),
        ),
    ],
)  # fmt: skip
def test_the_first_cause_of_a_gap_is_its_reason(library, metric, period, options, expected):
    reason, message, step = expected
    what = f"{metric} of Drawn Inc. for fiscal {period.replace('-', ' ')}"
    found = explain_missing_figure(figures_of(library, **options), find_metric(metric), window(period))

    assert found == entry(reason, message.format(what), step)


@pytest.mark.parametrize(("last", "reason"), [("2021-12-30", "before_xbrl"), ("2021-12-31", "not_reported")])
def test_days_before_the_first_figure_are_before_xbrl(library, last, reason):
    days = window(first="2010-01-01", last=last)

    assert explain_missing_figure(figures_of(library), find_metric("Goodwill"), days)["reason"] == reason


def test_the_sample_says_how_to_get_the_rest(sample):
    assert explain_missing_figure(figures_of(sample, "AAPL"), find_metric("Goodwill"), window("2022")) == entry(
        "outside_sample",
        "the bundled sample does not include Goodwill of Apple Inc. for fiscal 2022",
        "Run: fingerpost filings sync AAPL, or fingerpost filings load FILE with its companyfacts file",
    )


def test_a_word_similar_to_a_metric_or_a_tag_gets_a_suggestion(library):
    assert explain_missing_metric(figures_of(library), "Revenu") == {
        "reason": "unknown_metric",
        "message": "Revenu is not a metric, and Drawn Inc. has filed no such tag",
        "next_step": "Did you mean Revenue, us-gaap:Revenues?",
        "did_you_mean": ["Revenue", "us-gaap:Revenues"],
    }


def test_a_company_without_figures_and_one_that_does_not_exist(library):
    FactStore(library.path).put_tickers([("TSLA", 1318605, "Tesla, Inc.")])

    assert explain_missing_ticker(library, "tsla") == entry(
        "not_loaded",
        "No figures for Tesla, Inc. have been loaded yet",
        "Run: fingerpost filings sync TSLA, or fingerpost filings load FILE with its companyfacts file",
    )
    assert explain_missing_ticker(library, "DRWM") == {
        "reason": "unknown_ticker",
        "message": "No loaded company matches DRWM",
        "next_step": "Did you mean DRWN?",
        "did_you_mean": ["DRWN"],
    }


@pytest.mark.parametrize(
    ("ticker", "named"),
    [("XXXX", "XXXX"), ("brk.b", "brk.b"), ("BF-A", "BF-A"), ("0000320193", "0000320193")]
    + [(text, "TICKER") for text in ("X; rm -rf ~", "$(id)", "`id`", "-x", "A B", "A\nB", "X" * 16, "", "Ä")],
)
def test_a_command_names_nothing_but_a_ticker(ticker, named):
    assert suggest_load(ticker).startswith(f"Run: fingerpost filings sync {named}, or ")


def answer(library, metric, period, **options):
    reply = ask(library, "financial_facts", ticker="DRWN", metrics=[metric], period=period, **options)
    return reply.data[metric]


COVERS = """
dei:EntityCommonStockSharesOutstanding - 2022-02-10 100 k21 10-K   2022-02-15
dei:EntityCommonStockSharesOutstanding - 2022-04-20 101 q1  10-Q   2022-04-25
dei:EntityCommonStockSharesOutstanding - 2023-02-09 103 k22 10-K   2023-02-15
dei:EntityCommonStockSharesOutstanding - 2023-06-01 104 ka  10-K/A 2023-06-05
"""


@pytest.mark.parametrize(("period", "value"), [("2021", 100), ("2022", 103), ("2022-Q1", 101), ("2022-Q4", 103)])
def test_cover_page_values_are_of_the_reports_period(tmp_path, period, value):
    covered = library_of(tmp_path / "f.sqlite", facts(COVERS, "shares"), YEARS)

    assert answer(covered, "dei:EntityCommonStockSharesOutstanding", period) == value


@pytest.mark.parametrize("tag", ["InterestExpenseNonoperating", "InterestExpenseLongTermDebt"])
def test_interest_expense_is_found_under_its_sibling_tags(tmp_path, tag):
    drawn = facts(f"{tag} 2022-01-01 2022-12-31 7 k22 10-K 2023-02-15")
    library = library_of(tmp_path / "f.sqlite", drawn, YEARS)
    reply = ask(library, "financial_facts", ticker="DRWN", metrics=["interest expense"], period="2022")

    assert reply.data == {"interest expense": 7}
    assert reply.results[0]["notes"] == [f"no us-gaap:InterestExpense for this period: us-gaap:{tag} is used instead"]


@pytest.mark.parametrize(
    ("period", "first", "reason"),
    [
        ("2022", None, "not_reported"),
        (None, "2022-07-01", "not_reported"),
        (None, "2023-01-01", "not_in_aggregate_yet"),
    ],
)
def test_a_later_period_is_one_that_no_report_covers(library, period, first, reason):
    asked = {"period": period, "start_date": first, "end_date": first and "2029-12-31"}
    error = refusal(library, "financial_facts", ticker="DRWN", metrics=["Goodwill"], **asked)

    assert error.details["missing"]["Goodwill"]["reason"] == reason


LINES = {
    "income": "NetIncomeLoss 2022-01-01 2022-12-31 11 k22 10-K 2023-02-15",
    "balance": "Liabilities - 2022-12-31 12 k22 10-K 2023-02-15",
    "cash_flow": "PaymentsOfDividends 2022-01-01 2022-12-31 13 k22 10-K 2023-02-15",
}


@pytest.mark.parametrize("kind", sorted(TOTALS))
@pytest.mark.parametrize("period", [None, "2022"])
def test_a_statement_is_returned_without_its_key_line(tmp_path, kind, period):
    library = library_of(tmp_path / "f.sqlite", facts(LINES[kind]), YEARS)
    reply = ask(library, "statement", ticker="DRWN", statement=kind, period=period)

    assert list(reply.data.values()) in ([11], [12], [13])
    assert "standard tag" in reply.missing[TOTALS[kind][0]]["message"]


def test_a_statement_is_by_default_of_the_newest_annual_report(tmp_path):
    drawing = """
    Revenues            2021-01-01 2021-12-31 9  k21 10-K 2022-02-15
    NetIncomeLoss       2021-01-01 2021-12-31 1  k21 10-K 2022-02-15
    OperatingIncomeLoss 2021-01-01 2021-12-31 4  k21 10-K 2022-02-15
    IncomeTaxExpenseBenefit 2021-01-01 2021-12-31 4  k21 10-K 2022-02-15
    NetIncomeLoss       2022-01-01 2022-12-31 2  k22 10-K 2023-02-15
    OperatingIncomeLoss 2022-01-01 2022-12-31 3  k22 10-K 2023-02-15
    GrossProfit         2023-01-01 2023-12-31 3  k22 10-K 2023-02-15
    """
    library = library_of(tmp_path / "f.sqlite", facts(drawing), YEARS)

    reply = ask(library, "statement", ticker="DRWN", statement="income")
    assert reply.data == {"NetIncome": 2, "OperatingIncome": 3}


def test_a_moved_year_end_leaves_the_reported_year_its_name(tmp_path):
    drawing = """
    Revenues 2018-07-01 2019-06-30 60 k19 10-K 2019-08-15
    Revenues 2019-01-01 2019-12-31 70 k20 10-K 2021-02-15
    Revenues 2020-01-01 2020-12-31 80 k20 10-K 2021-02-15
    Assets   -          2019-06-30 6  k19 10-K 2019-08-15
    Assets   -          2019-12-31 7  k20 10-K 2021-02-15
    """
    library = library_of(tmp_path / "f.sqlite", facts(drawing), {"2019-06-30": 2019, "2020-12-31": 2020})

    asked = (("Revenue", "2019"), ("Revenue", "2020"), ("Assets", "2019"))
    assert [answer(library, *each) for each in asked] == [60, 80, 6]
