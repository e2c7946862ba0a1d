"""The message for each question that has no answer: each reason, the next step, and the data's source."""

import pytest

from fingerpost.errors import DataNotFound
from fingerpost.filings import questions
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.store import FactStore
from tests.filings.drawing import ask, company_file, facts, library_of, refusal

REPORT = """
Revenues      2021-01-01 2021-12-31 100 k21 10-K 2022-02-01
Revenues      2022-01-01 2022-12-31 121 k22 10-K 2023-02-01
NetIncomeLoss 2022-01-01 2022-12-31 11  k22 10-K 2023-02-01
"""
YEARS = {"2021-12-31": 2021, "2022-12-31": 2022}
SOURCE = {"dataset": "edgar", "retrieved_at": "2024-01-01T00:00:00Z", "complete_through": "2023-02-01"}
BOTH_YEARS = {"start_date": "2021-01-01", "end_date": "2022-12-31"}

UNTAGGED = {
    "reason": "not_reported",
    "message": "Goodwill of Drawn Inc. for fiscal 2022 has no standard tag in this data set; the filing may state it",
    "next_step": 'Use the query type "metrics" to list its tags, or read the filing',
}
UNKNOWN = {
    "reason": "unknown_metric",
    "message": "zzz is not a metric, and Drawn Inc. has filed no such tag",
    "next_step": 'Use the query type "metrics" to list the names, or use a us-gaap: tag',
}
NOBODY = {
    "reason": "unknown_ticker",
    "message": "No loaded company matches QQQQ; loaded companies include AAPL, DRWN, META, NVDA",
    "next_step": "Run: fingerpost filings sync QQQQ, or fingerpost filings load FILE with its companyfacts file",
}


@pytest.fixture
def library(tmp_path):
    return library_of(tmp_path / "f.sqlite", facts(REPORT), YEARS)


@pytest.mark.parametrize(
    ("query_type", "field", "sentence"),
    [
        ("financial_facts", "metrics", "No financial facts found for {ticker}"),
        ("time_series", "metric", "No time series data found for {ticker} and metric {word}"),
        ("calculate", "expression", "Cannot calculate {word} for {ticker}"),
    ],
)
@pytest.mark.parametrize(
    ("ticker", "word", "entry"),
    [("DRWN", "Goodwill", UNTAGGED), ("DRWN", "zzz", UNKNOWN), ("QQQQ", "Goodwill", NOBODY)],
)
def test_an_empty_result_is_reported_completely(library, query_type, field, sentence, ticker, word, entry):
    asked = {"ticker": ticker, "period": "2022", field: [word] if field == "metrics" else word}
    error = refusal(library, query_type, **asked)
    key = ticker if ticker == "QQQQ" else word

    assert error.message == f"{sentence.format(ticker=ticker, word=word)}: {entry['message']}"
    assert error.details["missing"] == {key: entry}
    assert error.details.get("source") == (None if ticker == "QQQQ" else SOURCE)
    assert error.hint == entry["next_step"]


def test_the_next_step_names_the_ticker_of_each_query(tmp_path):
    path, asked = tmp_path / "f.sqlite", {"expression": "Revenue", "period": "2023"}
    FactStore(path).put_facts(company_file(facts(REPORT), YEARS), tickers=["DRWA", "DRWB"])
    library = FactLibrary(path)

    hints = [refusal(library, "calculate", ticker=ticker, **asked).hint for ticker in ("DRWA", "DRWB")]
    assert [hint.partition(";")[0] for hint in hints] == [
        "Run: fingerpost filings sync DRWA",
        "Run: fingerpost filings sync DRWB",
    ]


def test_a_caller_may_modify_a_response(library):
    def list_missing():
        return ask(library, "financial_facts", ticker="DRWN", metrics=["Revenue", "Goodwill"], period="2022").missing

    list_missing()["Goodwill"].clear()
    assert list_missing() == {"Goodwill": UNTAGGED}


def test_loaded_figures_replace_those_of_earlier_queries(library):
    asked = {"ticker": "DRWN", "expression": "Revenue * 2", "period": "2022"}
    before = ask(library, "calculate", **asked).data
    FactStore(library.path).put_facts(company_file(facts(REPORT.replace("121", "120")), YEARS), tickers=["DRWN"])

    assert (before, ask(library, "calculate", **asked).data) == ({"Revenue * 2": 242}, {"Revenue * 2": 240})


def test_a_value_is_not_cached_if_the_file_changes_while_it_is_built(library):
    def build():
        FactStore(library.path).put_facts(company_file(facts(REPORT), YEARS))
        library.rows("SELECT 1")
        return "old"

    first = library.get_cached(("value",), build)
    assert (first, library.get_cached(("value",), lambda: "new")) == ("old", "new")


def test_a_reason_that_a_query_gives_during_a_change_is_not_cached(tmp_path, monkeypatch):
    """The query has read its company when another process loads a newer file."""
    path = tmp_path / "f.sqlite"
    FactStore(path).put_facts(company_file(facts(REPORT), YEARS), tickers=["DRWN"])
    library = FactLibrary(path)
    asked = {"ticker": "DRWN", "period": "2023"}
    loaded, find = [], questions.find_figures

    def load_then_find(source, text, window):
        if text == "Assets" and not loaded:
            newer = f"{REPORT}Revenues 2023-01-01 2023-03-31 30 k23 10-Q 2023-05-01"
            loaded.append(FactStore(path).put_facts(company_file(facts(newer), YEARS), tickers=["DRWN"]))
        return find(source, text, window)

    monkeypatch.setattr(questions, "find_figures", load_then_find)
    refusal(library, "financial_facts", metrics=["Revenue", "Assets", "NetIncome"], **asked)
    error = refusal(library, "financial_facts", metrics=["NetIncome"], **asked)

    sentence = "NetIncome of Drawn Inc. for fiscal 2023 is not in the SEC's aggregate as of 2023-05-01"
    assert error.details["missing"]["NetIncome"]["message"] == sentence


def test_a_comparison_of_unknown_companies_names_each(library):
    error = refusal(library, "compare", tickers=["DRWN", "QQQQ"], metrics=["Goodwill", "zzz"], period="2022")

    assert error.message == (
        f"No financial facts found for DRWN, QQQQ: {UNTAGGED['message']}; {UNKNOWN['message']}; {NOBODY['message']}"
    )
    missing = {"DRWN.Goodwill": UNTAGGED, "DRWN.zzz": UNKNOWN, "QQQQ": NOBODY}
    assert error.details == {"missing": missing, "source": SOURCE}


def test_a_comparison_answers_for_whom_it_can_and_names_the_others(library):
    """A second company reports in euros and ends its year in June; a third has no revenue."""
    store = FactStore(library.path)
    euros = facts("Revenues 2021-07-01 2022-06-30 50 e22 20-F 2022-09-01", "EUR")
    store.put_facts(company_file(euros, {"2022-06-30": 2022}, cik=8, name="Euro SA", currency="EUR"), tickers=["EURO"])
    mute = facts("Assets - 2022-12-31 9 m22 10-K 2023-02-01")
    store.put_facts(company_file(mute, {"2022-12-31": 2022}, cik=9, name="Mute Inc."), tickers=["MUTE"])
    tickers = ["QQQQ", "DRWN", "MUTE", "EURO", "DRWN"]
    reply = ask(library, "compare", tickers=tickers, metrics=["Revenue"], period="2022")
    alike = ask(library, "compare", tickers=["DRWN"], metrics=["Revenue", "net_margin"], period="2021..2022")

    assert (reply.data, reply.value_mode) == ({"DRWN": {"Revenue": 121}, "EURO": {"Revenue": 50}}, "scalar")
    assert list(reply.missing) == ["QQQQ", "MUTE.Revenue"]
    assert [(row["ticker"], row["value"]) for row in reply.results] == [("DRWN", 121), ("EURO", 50)]
    assert reply.notes == [
        "The periods end on different days: 2022-06-30, 2022-12-31",
        "The units differ and were not converted: EUR, USD",
    ]
    assert (reply.source["complete_through"], bool(alike.notes)) == ("2022-09-01", False)


def test_some_metrics_of_a_company_are_enough(library):
    metrics = ["Revenue", "zzz", "NetIncome", "Revenue"]
    reply = ask(library, "financial_facts", ticker="DRWN", metrics=metrics, **BOTH_YEARS)

    assert reply.data == {
        "Revenue": [{"end_date": "2021-12-31", "value": 100}, {"end_date": "2022-12-31", "value": 121}],
        "NetIncome": 11,
    }
    assert (reply.value_mode, reply.missing, reply.source) == ("mixed", {"zzz": UNKNOWN}, SOURCE)


QUARTERLY = """
Revenues 2022-01-01 2022-03-31 10 q1  10-Q 2022-05-01
Revenues 2022-04-01 2022-06-30 20 q2  10-Q 2022-08-01
Revenues 2022-01-01 2022-06-30 30 q2  10-Q 2022-08-01
Revenues 2022-01-01 2022-12-31 70 k22 10-K 2023-02-01
Assets   -          2022-03-31 5  q1  10-Q 2022-05-01
Assets   -          2022-12-31 6  k22 10-K 2023-02-01
"""


@pytest.mark.parametrize(
    ("metric", "frequency", "values"),
    [
        ("Revenue", None, [70]),
        ("Revenue", "annual", [70]),
        ("Revenue", "quarterly", [10, 20]),
        ("Assets", "annual", [6]),
        ("Assets", "quarterly", [5, 6]),
    ],
)
def test_a_series_is_of_one_length_of_period(tmp_path, metric, frequency, values):
    library = library_of(tmp_path / "f.sqlite", facts(QUARTERLY), {"2022-12-31": 2022})
    reply = ask(library, "time_series", ticker="DRWN", metric=metric, period=frequency)

    assert [row["value"] for row in reply.results] == values
    assert (reply.data[metric][-1]["value"], reply.value_mode, reply.missing) == (values[-1], "series", {})


def test_other_queries_about_unknown_companies_report_it_too(library):
    asked = {
        "financial_ratios": ({"period": "2022"}, "No financial ratios found for QQQQ"),
        "statement": ({"statement": "income"}, "No financial facts found for QQQQ"),
        "metrics": ({}, "No metrics found for QQQQ"),
        "company_info": ({}, "No company info found for QQQQ"),
    }
    for query_type, (fields, sentence) in asked.items():
        error = refusal(library, query_type, ticker="QQQQ", **fields)
        assert (error.message, error.details["missing"]) == (f"{sentence}: {NOBODY['message']}", {"QQQQ": NOBODY})
    claim = {"metric": "Goodwill", "period": "2022", "relation": "equals", "value": 5}
    error = refusal(library, "verify_claim", ticker="DRWN", **claim)
    assert error.details == {"missing": {"Goodwill 2022": UNTAGGED}, "source": SOURCE}


ONE_RATIO = """
NetIncomeLoss 2022-01-01 2022-12-31 11 k22 10-K 2023-02-01
Revenues      2022-01-01 2022-12-31 0  k22 10-K 2023-02-01
Assets        -          2022-12-31 44 k22 10-K 2023-02-15
"""


def test_a_ratio_names_its_parts_and_the_newest_of_their_filings(tmp_path):
    library = library_of(tmp_path / "f.sqlite", facts(ONE_RATIO), {"2022-12-31": 2022})
    wanted = ["ROA", "net margin", "return-on-equity", "luck"]
    reply = ask(library, "financial_ratios", ticker="DRWN", ratios=wanted, period="2022")
    (row,) = reply.results

    assert [row[name] for name in ("metric_name", "value", "unit", "filing_date", "formula", "notes", "kind")] == [
        "return_on_assets", 0.25, "ratio", "2023-02-15", "NetIncome / Assets", ["assets at the end of the period"],
        "derived",
    ]  # fmt: skip
    assert (reply.data, reply.value_mode) == ({"ROA": 0.25}, "scalar")
    assert {name: (entry["reason"], entry["message"]) for name, entry in reply.missing.items()} == {
        "net margin": ("not_comparable", "Revenue is zero, so the division is undefined"),
        "return-on-equity": ("not_reported", UNTAGGED["message"].replace("Goodwill", "StockholdersEquity")),
        "luck": ("unknown_metric", UNKNOWN["message"].replace("zzz", "luck")),
    }
    assert reply.missing["net margin"]["next_step"] == "Get the inputs with financial_facts"


RATIOS_OVER_TIME = """
NetIncomeLoss 2021-01-01 2021-12-31 8  k21 10-K 2022-02-01
NetIncomeLoss 2022-01-01 2022-12-31 11 k22 10-K 2023-02-01
NetIncomeLoss 2022-01-01 2022-03-31 2  q22 10-Q 2022-05-01
Assets        -          2021-12-31 1  k21 10-K 2022-02-01
Assets        -          2022-12-31 44 k22 10-K 2023-02-01
Assets        -          2022-03-31 6  q22 10-Q 2022-05-01
"""


def test_ratios_of_several_years_are_a_series(tmp_path):
    library = library_of(tmp_path / "f.sqlite", facts(RATIOS_OVER_TIME), {"2021-12-31": 2021, "2022-12-31": 2022})
    years = ask(library, "financial_ratios", ticker="DRWN", ratios=["roa"], **BOTH_YEARS)
    quarter = ask(library, "financial_ratios", ticker="DRWN", ratios=["roa"], period="2022-Q1")

    points = [{"end_date": "2021-12-31", "value": 8}, {"end_date": "2022-12-31", "value": 0.25}]
    assert (years.value_mode, years.data, quarter.data) == ("series", {"roa": points}, {"roa": 2 / 6})
    fiscal_periods = [(row["fiscal_period"], row["fiscal_quarter"]) for row in years.results + quarter.results]
    assert fiscal_periods == [("FY", None), ("FY", None), ("Q1", 1)]


RECIPES = """
NetIncomeLoss 2021-01-01 2021-12-31 10 k21 10-K 2022-02-01
Revenues      2021-01-01 2021-12-31 40 k21 10-K 2022-02-01
NetIncomeLoss 2022-01-01 2022-12-31 15 k22 10-K 2023-02-01
Revenues      2022-01-01 2022-12-31 50 k22 10-K 2023-02-01
"""


@pytest.mark.parametrize("word", ["net margin", "NetIncome/Revenue", "Net Income / (us-gaap:Revenues)"])
def test_a_recipe_or_an_expression_is_a_metric_of_every_question(tmp_path, word):
    library = library_of(tmp_path / "f.sqlite", facts(RECIPES), YEARS)
    every = [
        ask(library, "financial_facts", ticker="DRWN", metrics=[word], period="2022").data[word],
        ask(library, "time_series", ticker="DRWN", metric=word, period="annual").data[word][1]["value"],
        ask(library, "compare", tickers=["DRWN"], metrics=[word], period="2022").data["DRWN"][word],
        ask(library, "financial_ratios", ticker="DRWN", ratios=[word], period="2022").data[word],
        ask(library, "calculate", ticker="DRWN", expression=word, period="2022").data[word],
    ]
    claim = {"ticker": "DRWN", "metric": word, "period": "2022", "relation": "equals", "value": 30}
    (row,) = ask(library, "financial_facts", ticker="DRWN", metrics=[word], period="2022").results

    assert every == [0.3] * 5
    assert ask(library, "verify_claim", **claim, unit="percent").extra["data"]["verdict"] == "confirmed"
    assert (row["kind"], "Revenue" in row["formula"], row["xbrl_tag"]) == ("derived", True, None)


@pytest.mark.parametrize(("word", "unknown"), [("NetIncome/Revenu", "Revenu"), ("long-short", "long-short")])
def test_an_unknown_word_of_an_expression_is_named(tmp_path, word, unknown):
    library = library_of(tmp_path / "f.sqlite", facts(RECIPES), YEARS)
    with pytest.raises(DataNotFound, match=f": {unknown} is not a metric"):
        ask(library, "financial_facts", ticker="DRWN", metrics=[word], period="2022")


GAPS = """
NetIncomeLoss 2021-01-01 2021-12-31 10 k21 10-K 2022-02-01
NetIncomeLoss 2022-01-01 2022-03-31 2  q1  10-Q 2022-05-01
NetIncomeLoss 2022-01-01 2022-06-30 5  q2  10-Q 2022-08-01
NetIncomeLoss 2022-01-01 2022-12-31 15 k22 10-K 2023-02-01
Revenues      2022-01-01 2022-03-31 8  q1  10-Q 2022-05-01
Revenues      2022-01-01 2022-12-31 50 k22 10-K 2023-02-01
"""


@pytest.mark.parametrize(
    ("metric", "frequency", "values", "missing"),
    [
        ("net_margin", "quarterly", [0.25], {"net_margin 2022-Q2": "Revenue of Drawn Inc. for fiscal 2022 Q2 is not"}),
        ("net_margin", "annual", [0.3], {"net_margin 2021": "Revenue of Drawn Inc. for fiscal 2021 is not in this"}),
    ],
)
def test_a_series_names_the_periods_that_a_recipe_lacks(tmp_path, metric, frequency, values, missing):
    library = library_of(tmp_path / "f.sqlite", facts(GAPS), YEARS)
    reply = ask(library, "time_series", ticker="DRWN", metric=metric, period=frequency)

    assert ([row["value"] for row in reply.results], list(reply.missing)) == (values, list(missing))
    assert all(entry["message"].startswith(missing[name]) for name, entry in reply.missing.items())


def test_a_series_without_values_of_a_length_names_the_other_lengths(tmp_path):
    library = library_of(tmp_path / "f.sqlite", facts(RECIPES), YEARS)
    error = refusal(library, "time_series", ticker="DRWN", metric="Revenue", period="quarterly")

    assert error.message.endswith("Revenue of Drawn Inc. has no quarterly values for any period")
    assert error.hint == "Set period to annual"


@pytest.mark.parametrize(
    ("day", "as_of", "is_overdue"),
    [
        ("2024-04-06", None, False),
        ("2024-04-07", None, True),
        ("2024-04-07", "2024-04-06", False),
        ("2024-04-07", "2030-01-01", True),
        ("2024-04-06", "2030-01-01", False),
    ],
)
def test_figures_whose_next_report_is_overdue_are_marked(library, monkeypatch, day, as_of, is_overdue):
    """430 days after the newest report, each answer says so, unless it is of an earlier day."""
    monkeypatch.setenv("FINGERPOST_NOW", f"{day}T12:00:00Z")
    reply = ask(library, "financial_facts", ticker="DRWN", metrics=["Revenue"], period="2022", as_of=as_of)

    told = "The next report is overdue for DRWN (2023-02-01): run fingerpost filings sync, unless the company"
    assert reply.source.get("note") == (f"{told} has stopped filing" if is_overdue else None)


@pytest.mark.parametrize(("day", "is_overdue"), [("2022-11-02", False), ("2022-11-03", True)])
def test_a_company_that_files_quarterly_is_overdue_after_185_days(tmp_path, monkeypatch, day, is_overdue):
    monkeypatch.setenv("FINGERPOST_NOW", f"{day}T12:00:00Z")
    drawn = facts("Revenues 2022-01-01 2022-03-31 8 q1 10-Q 2022-05-01")
    library = library_of(tmp_path / "f.sqlite", drawn)
    reply = ask(library, "financial_facts", ticker="DRWN", metrics=["Revenue"], period="2022-Q1")

    assert ("overdue" in reply.source.get("note", "")) == is_overdue


FRAMEWORK = "under us-gaap; the earlier value is under ifrs-full"
RESTATED = "restated: no filing states both this value and the previous one"


@pytest.mark.parametrize(
    ("ticker", "metric", "marked"),
    [
        ("CLS", "NetIncome", {"2016-12-31": RESTATED, "2022-12-31": FRAMEWORK}),
        ("CLS", "net_margin", {"2022-12-31": FRAMEWORK}),
        # A shell without revenue, and the company that it merged with.
        ("VRT", "Revenue", {"2018-12-31": RESTATED}),
        ("AAPL", "Revenue", {}),
    ],
)
def test_a_series_marks_each_change_of_basis(recorded, ticker, metric, marked):
    """In the row; ``data`` has days and values alone (rule F3)."""
    reply = ask(recorded, "time_series", ticker=ticker, metric=metric, period="annual")
    notes = [(row["end_date"], note) for row in reply.results for note in row.get("notes", ())]

    assert {day: note for day, note in notes if note in (FRAMEWORK, RESTATED)} == marked
    assert {name for point in reply.data[metric] for name in point} == {"end_date", "value"}


def test_calculations_of_several_periods_mark_a_change_of_basis(recorded):
    rows = ask(recorded, "calculate", ticker="CLS", expression="GrossProfit/Revenue", period="2022..2023").results
    earlier = ask(recorded, "calculate", ticker="CLS", expression="GrossProfit/Revenue", period="2021..2022").results

    assert [row.get("notes") for row in rows] == [None, None]
    assert earlier[1]["notes"] == [FRAMEWORK]


def test_companies_under_two_frameworks_are_compared_with_a_note(recorded):
    reply = ask(recorded, "compare", tickers=["CLS", "VRT"], metrics=["Revenue"], period="2018")

    assert reply.notes == ["The accounting frameworks differ: ifrs-full, us-gaap"]


def test_a_transition_period_is_a_row_of_its_own(tmp_path):
    drawn = facts("""
        Revenues 2022-07-01 2023-06-30 100 k23  10-K  2023-08-15
        Revenues 2023-07-01 2023-12-31 48  kt24 10-KT 2025-02-15
        Revenues 2023-07-01 2024-06-30 102 k24  10-K  2024-08-15
        Revenues 2024-07-01 2024-09-30 29  kt24 10-KT 2025-02-15
        Revenues 2024-07-01 2024-12-31 60  kt24 10-KT 2025-02-15
        Revenues 2025-01-01 2025-12-31 130 k25  10-K  2026-02-15
    """)
    years = {"2023-06-30": 2023, "2024-06-30": 2024, "2025-12-31": 2025}
    library = library_of(tmp_path / "f.sqlite", drawn, years)
    rows = ask(library, "time_series", ticker="DRWN", metric="Revenue").results
    years = ask(library, "financial_facts", ticker="DRWN", metrics=["Revenue"], period="2024..2025").results

    assert [row["value"] for row in rows] == [100, 102, 60, 130]
    assert rows[2]["notes"] == ["a transition period: the company changed its fiscal year end"]
    gap = "the company changed its fiscal year end: this year does not follow the previous one"
    assert [row.get("notes") for row in years] == [None, [gap]]
