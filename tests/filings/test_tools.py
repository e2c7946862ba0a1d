"""The filings tools from a caller's view: the plan-step contract's envelope, and ``data`` of rule F3."""

import pytest

from fingerpost.errors import PlanInvalid
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.store import FactStore
from fingerpost.filings.tools.sec_financial_data import SecFinancialData
from fingerpost.filings.tools.sec_graph_query import SecGraphQuery
from fingerpost.filings.tools.sec_query import ToolDetails
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.validation import validate_plan
from tests.filings.drawing import company_file, facts, library_of
from tests.plan.drawing import plan, ref, step

EXAMPLE = {"ticker": "AAPL", "metrics": ["Revenue"], "start_date": "2022-01-01", "end_date": "2022-12-31"}


@pytest.fixture
def figures(sample):
    return SecFinancialData(sample)


async def test_the_contract_s_own_example(figures):
    """Apple's revenue for 2022, offline, with the filing that states it (plan-step contract, statement S52)."""
    answer = await figures.execute("financial_facts", EXAMPLE)
    headline = answer["results"][0]

    assert (answer["data"], answer["value_mode"], answer["source"]["dataset"]) == (
        {"Revenue": 394328000000}, "scalar", "sample",
    )  # fmt: skip
    assert [headline[name] for name in ("accession_number", "unit", "filing_date", "kind")] == [
        "0000320193-22-000108", "USD", "2022-10-28", "reported",
    ]  # fmt: skip
    # The parameters come back as they were sent.
    assert [answer[name] for name in ("query_type", "parameters", "output_key", "success")] == [
        "financial_facts", EXAMPLE, "sec_financial_data", True,
    ]  # fmt: skip


async def test_a_metric_has_the_callers_spelling(figures):
    asked = {"ticker": "aapl", "metrics": ["net  INCOME", "us-gaap:Assets"], "period": 2022}

    told = (await figures.execute("financial_facts", asked))["data"]
    assert told == {"net  INCOME": 99803000000, "us-gaap:Assets": 352755000000}


async def test_the_text_asks_once_whether_a_similar_ticker_is_meant(figures):
    asked = {"tickers": ["AAPL", "APPL"], "metrics": ["Revenue"], "period": "2022"}
    text = (await figures.answer({"query_type": "compare", "parameters": asked}, user=None)).text

    assert "\nMissing APPL: No loaded company matches APPL. Did you mean AAPL?\n" in text


async def test_the_text_names_missing_values_and_the_source(figures):
    asked = {"ticker": "AAPL", "metrics": ["Revenue", "Nope"], "period": "2022"}
    text = (await figures.answer({"query_type": "financial_facts", "parameters": asked}, user=None)).text

    assert "\nMissing Nope: Nope is not a metric, and Apple Inc. has filed no such tag." in text
    assert text.splitlines()[-1].startswith("Source: SEC filings, sample, filed up to 2026-01-30. A small sample")


async def test_an_empty_result_is_a_warning_with_a_reason_and_a_next_step(figures):
    answer = await figures.execute("financial_facts", EXAMPLE | {"metrics": ["Inventory"]})

    assert (answer["success"], answer["results"], answer["missing"]["Inventory"]["reason"]) == (
        False, [], "outside_sample",
    )  # fmt: skip
    assert answer["warning"].startswith("No financial facts found for AAPL")
    assert answer["hint"]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"metrics": ["Revenue"], "period": "2022"}, "Missing required parameters: ticker and metrics"),
        (EXAMPLE | {"start_date": "2022-13-01"}, "Date must be a valid calendar date"),
        (EXAMPLE | {"start_date": "01/01/2022"}, "Date must be in YYYY-MM-DD format"),
        (EXAMPLE | {"end_date": "2021-01-01"}, "start_date must not be after end_date"),
        (EXAMPLE | {"colour": "red"}, "unknown field 'colour'"),
        (EXAMPLE | {"period": "2022-Q5"}, "period: must be a fiscal year or quarter"),
    ],
)
async def test_bad_parameters_are_an_error_in_one_sentence(figures, asked, sentence):
    answer = await figures.execute("financial_facts", asked)

    assert (answer["success"], answer["error_code"], sentence in answer["error"]) == (False, "ParameterError", True)


@pytest.mark.parametrize(("tool", "query_type"), [(SecFinancialData, "nonsense"), (SecGraphQuery, "custom_cypher")])
async def test_an_unknown_query_type_names_the_supported_ones(sample, tool, query_type):
    answer = await tool(sample).execute(query_type, {})

    assert answer["error"].startswith(
        f"Query type '{query_type}' is not supported by the {tool.definition.name} tool. Supported"
    )
    assert answer["error_code"] == "QueryTypeUnsupported"


QUESTIONS = {
    "company_info": {"ticker": "AAPL"},
    "companies": {},
    "financial_ratios": {"ticker": "AAPL", "ratios": ["gross_margin"], "period": "2022"},
    "metrics": {"ticker": "NVDA"},
    "time_series": {"ticker": "AAPL", "metric": "Revenue", "period": "quarterly"},
    "compare": {"tickers": ["AAPL", "NVDA"], "metrics": ["Revenue"], "period": "2022"},
    "statement": {"ticker": "AAPL", "statement": "balance"},
    "verify_claim": {"ticker": "AAPL", "metric": "Revenue", "period": "2022", "relation": "is_record"},
    "calculate": {"ticker": "AAPL", "expression": "free_cash_flow", "period": "2022"},
    "custom_sql": {"sql_query": "SELECT count(*) AS n FROM facts"},
    "financial_facts": EXAMPLE,
}


def test_every_query_type_is_sent_here(figures):
    """A new query type needs an example call in QUESTIONS; the sample has no segments (test_segments.py)."""
    assert [query.name for query in figures.queries if query.name not in QUESTIONS] == ["segments"]


@pytest.mark.parametrize("question", sorted(QUESTIONS))
async def test_every_question_answers_and_accepts_as_of(figures, question):
    answers = [
        await figures.answer({"query_type": question, "parameters": QUESTIONS[question] | extra}, user=None)
        for extra in ({}, {"as_of": "2026-06-01"})
    ]

    assert {(answer.body["success"], answer.is_error, bool(answer.text)) for answer in answers} == {(True, False, True)}


async def test_an_older_cik_of_the_same_ticker_answers_for_its_years(tmp_path):
    new = facts("Revenues 2022-01-01 2022-12-31 100 n 10-K 2023-02-01")
    library = library_of(tmp_path / "f.sqlite", new, {"2022-12-31": 2022})

    old = facts("Revenues 2019-01-01 2019-12-31 70 o 10-K 2020-02-01")
    FactStore(tmp_path / "f.sqlite").put_facts(company_file(old, {"2019-12-31": 2019}, cik=3), tickers=["DRWN"])
    asked = {"ticker": "drwn", "metric": "Revenue", "period": "annual"}
    answer = await SecFinancialData(library).execute("time_series", asked)

    assert [row["value"] for row in answer["results"]] == [70, 100]
    assert answer["source"]["note"] == "Includes figures that Drawn Inc. (CIK 3) filed under the same ticker"


@pytest.mark.parametrize(
    ("tool", "query_type", "fields", "reason"),
    [
        (SecFinancialData, "financial_facts", {"ticker": ref("t"), "metrics": ["Revenue"]}, "start_date: missing"),
        (SecGraphQuery, "filing_text", {"item": ref("t")}, "ticker or accession_number is required"),
    ],
)
def test_a_plan_with_references_is_checked_as_a_call_is(sample, tool, query_type, fields, reason):
    parameters = {"query_type": query_type, "parameters": fields}
    steps = plan(step(1, tool.definition.name, parameters=parameters))
    with pytest.raises(PlanInvalid) as caught:
        validate_plan(steps, Catalogue.of([tool(sample)]), memory={"t": "AAPL"})

    assert [each["reason"].startswith(reason) for each in caught.value.details["errors"]] == [True]


async def test_tool_details_describes_a_tools_parameters(figures):
    details = ToolDetails(lambda: [figures.spec])
    answer = await details.execute("tool_details", {"tool_name": "sec_financial_data"})
    unknown = await details.execute("tool_details", {"tool_name": "sec_x"})
    empty = await details.execute("tool_details", {})

    assert set(answer["parameters_by_query_type"]["custom_sql"]["required"]) == {"sql_query"}
    period = answer["parameters_by_query_type"]["financial_facts"]["properties"]["period"]
    assert "2022-Q2, 2019..2022, latest or ttm" in str(period)
    assert unknown["error"] == unknown["warning"] == "Tool 'sec_x' not found"
    assert unknown["available_tools"] == ["sec_financial_data"]
    assert empty["error"] == "Missing required parameter: tool_name"
    assert ", metrics {ticker}, custom_sql {sql_query}. All take as_of." in answer["description"]


def test_a_library_follows_its_file(tmp_path):
    path = tmp_path / "later.sqlite"
    library = FactLibrary(path)
    before = library.find_company("DRWN")
    library_of(path, facts("Revenues 2022-01-01 2022-12-31 100 n 10-K 2023-02-01"))

    assert before is None
    assert (library.find_company("DRWN").name, library.find_company("AAPL").dataset) == ("Drawn Inc.", "sample")


async def test_a_verdict_is_an_answer_with_a_reason(figures):
    asked = {"ticker": "AAPL", "metric": "Revenue", "period": "2022", "relation": "equals", "value": 394.3}
    for unit, verdict in (("USD billion", "confirmed"), ("EUR billion", "cannot_judge")):
        answer = await figures.answer({"query_type": "verify_claim", "parameters": asked | {"unit": unit}}, user=None)

        assert (answer.is_error, answer.body["data"]["verdict"]) == (False, verdict)
        assert answer.text.startswith(f"{verdict}: {answer.body['explanation']}.")


async def test_a_calculation_names_its_formula_and_filings_in_the_text(figures):
    asked = {"ticker": "Apple", "expression": "FCF", "period": 2022}
    answer = await figures.answer({"query_type": "calculate", "parameters": asked}, user=None)

    assert answer.body["data"] == {"FCF": 111443000000}
    assert answer.text.startswith(
        "FCF: 111,443,000,000.\nAAPL free_cash_flow fiscal 2022 FY (2021-09-26 to 2022-09-24): 111,443,000,000 USD,"
        " derived, 10-K 0000320193-22-000108 of 2022-10-28; = OperatingCashFlow - CapitalExpenditure; from "
    )
