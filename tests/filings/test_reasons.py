"""Why there is no figure: every reason with its sentence and its next step, word for word."""

import pytest

from fingerpost.filings.concepts import find_metric
from fingerpost.filings.figure import Fact
from fingerpost.filings.reasons import load_hint, missing_figure, missing_metric, missing_ticker
from fingerpost.filings.store import FactStore
from tests.filings.drawing import facts, figures_of, library_of, window

REPORT = """
Revenues                2021-01-01 2021-12-31 100  k21 10-K 2022-02-01
Revenues                2022-01-01 2022-12-31 121  k22 10-K 2023-02-01
"""
YEARS = {"2021-12-31": 2021, "2022-12-31": 2022}


@pytest.fixture
def library(tmp_path):
    eps = facts("EarningsPerShareDiluted 2022-01-01 2022-12-31 1.25 k22 10-K 2023-02-01", "USD/shares")
    euros = Fact("us-gaap:Revenues", "EUR", "2022-01-01", "2022-12-31", 99, "k22", "10-K", "2023-02-01")
    return library_of(tmp_path / "f.sqlite", [*facts(REPORT), *eps, euros], YEARS)


def entry(reason, message, next_step):
    return {"reason": reason, "message": message, "next_step": next_step}


@pytest.mark.parametrize(
    ("metric", "period", "options", "expected"),
    [
        (
            "Revenue", "2022", {"as_of": "2023-01-31"},
            entry(
                "hidden_by_as_of",
                "Revenue of Drawn Inc. for fiscal 2022 was filed after 2023-01-31",
                "Ask for a later as_of, or none",
            ),
        ),
        (
            "Revenue", "2022", {"unit": "GBP"},
            entry(
                "other_unit", "Revenue of Drawn Inc. for fiscal 2022 is not reported in GBP", "Its units are EUR, USD"
            ),
        ),
        (
            "Revenue", "2022", {"filing_type": "20-F"},
            entry("other_form", "no 20-F states Revenue of Drawn Inc. for fiscal 2022", "Leave filing_type out"),
        ),
        (
            "EPS", "2022-Q4", {},
            entry(
                "not_derivable",
                "EPSDiluted of Drawn Inc. for fiscal 2022 Q4 is not reported, and per-share figures do not add up over"
                " quarters",
                "Send estimate: true for an estimate, and call it one",
            ),
        ),
        (
            "EPS", "2022-Q3", {},
            entry(
                "not_reported",
                "EPSDiluted of Drawn Inc. for fiscal 2022 Q3 is not in this data set, which has it for fiscal 2022;"
                " the filing may state it",
                "Ask query_type metrics for its tags, or read the filing",
            ),
        ),
        (
            "EPS", "2021-Q4", {},
            entry(
                "not_reported",
                "EPSDiluted of Drawn Inc. for fiscal 2021 Q4 is not in this data set, which has it for fiscal 2022;"
                " the filing may state it",
                "Ask query_type metrics for its tags, or read the filing",
            ),
        ),
        (
            "Revenue", "2023", {},
            entry(
                "not_in_aggregate_yet",
                "Revenue of Drawn Inc. for fiscal 2023 is not in the SEC's aggregate as of 2023-02-01",
                "Run: fingerpost filings sync DRWN; a report filed since may not be aggregated yet",
            ),
        ),
        (
            "Revenue", "2019", {},
            entry("before_xbrl", "Drawn Inc. files figures as data since 2021-12-31", "Ask for a later period"),
        ),
        (
            "Revenue", "2020", {},
            entry(
                "not_reported",
                "Revenue of Drawn Inc. for fiscal 2020 is not in this data set, which has it for fiscal 2021 to 2022;"
                " the filing may state it",
                "Ask query_type metrics for its tags, or read the filing",
            ),
        ),
    ],
)  # fmt: skip
def test_each_reason(library, metric, period, options, expected):
    """The first that explains the gap is told."""
    assert missing_figure(figures_of(library, **options), find_metric(metric), window(period)) == expected


@pytest.mark.parametrize(("last", "reason"), [("2021-12-30", "before_xbrl"), ("2021-12-31", "not_reported")])
def test_days_before_the_first_figure_are_before_xbrl(library, last, reason):
    """A boundary pair."""
    found = missing_figure(figures_of(library), find_metric("Goodwill"), window(first="2020-01-01", last=last))

    assert found["reason"] == reason


def test_days_of_filing_are_never_before_xbrl(library):
    """They say nothing of the period."""
    days = window(first="2010-01-01", last="2010-12-31", basis="filed")
    found = missing_figure(figures_of(library), find_metric("Revenue"), days)

    assert found["reason"] == "not_reported"


def test_the_sample_says_how_to_get_the_rest(sample):
    """It holds little, and knows it."""
    assert missing_figure(figures_of(sample, "AAPL"), find_metric("Goodwill"), window("2022")) == entry(
        "outside_sample",
        "the sample that ships with fingerpost does not hold Goodwill of Apple Inc. for fiscal 2022",
        "Run: fingerpost filings sync AAPL, or fingerpost filings load FILE with its companyfacts file",
    )


def test_a_word_that_is_nearly_a_metric_or_a_tag_is_guessed_at(library):
    """The words first; never taken for what it is not."""
    assert missing_metric(figures_of(library), "Revenu") == {
        "reason": "unknown_metric",
        "message": "Revenu is no metric word, and Drawn Inc. files no such tag",
        "next_step": "Did you mean Revenue, us-gaap:Revenues?",
        "did_you_mean": ["Revenue", "us-gaap:Revenues"],
    }


def test_a_company_without_figures_and_one_that_does_not_exist(library):
    """The first is named, with the command that brings its figures; the second with those of like names."""
    FactStore(library.path).put_tickers([("TSLA", 1318605, "Tesla, Inc.")])

    assert missing_ticker(library, "tsla") == entry(
        "not_loaded",
        "No figures of Tesla, Inc. have been loaded yet",
        "Run: fingerpost filings sync TSLA, or fingerpost filings load FILE with its companyfacts file",
    )
    assert missing_ticker(library, "DRWM") == {
        "reason": "unknown_ticker",
        "message": "No company here is called DRWM",
        "next_step": "Did you mean DRWN?",
        "did_you_mean": ["DRWN"],
    }


@pytest.mark.parametrize(
    ("ticker", "named"),
    [("XXXX", "XXXX"), ("brk.b", "brk.b"), ("BF-A", "BF-A"), ("0000320193", "0000320193")]
    + [(text, "TICKER") for text in ("X; rm -rf ~", "$(id)", "`id`", "-x", "A B", "A\nB", "X" * 16, "", "Ä")],
)
def test_a_command_names_nothing_but_a_ticker(ticker, named):
    """Whoever runs what a hint says runs no text of somebody else's."""
    assert load_hint(ticker).startswith(f"Run: fingerpost filings sync {named}, or ")
