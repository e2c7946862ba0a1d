"""The text alone is a complete answer, and every answer is within its bounds (rule A11).

Each figure, time and candidate of the structured content stands in the text, or the text says how many are left out
and how to get them. Decision 0490 says what counts as one.
"""

import asyncio
import json
import re

import pytest

from fingerpost import clock
from fingerpost.apps import error_boundary
from fingerpost.apps.mcp.listing import build_tool_entry
from fingerpost.contract.size_bounds import MAX_BODY_BYTES, SIZE_NOTE
from tests.apps.conftest import NOW
from tests.apps.questions import CASES, KAMPPI, KAMPPI_TO_ESPOO
from tests.apps.telling import list_faults

HERE = {"lat": 60.1699, "lon": 24.9384}


def ask(application, name, arguments):
    return asyncio.run(error_boundary.answer(application.tools, name, arguments, user="ann"))


def sec(query_type, **parameters):
    return "sec_financial_data", {"query_type": query_type, "parameters": {"ticker": "AAPL"} | parameters}


ROUTE = {"origin": {"rawText": "Kamppi"}, "destination": {"rawText": "Espoo"}, "departureTime": NOW}
SQL = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) SELECT i, i * 7 AS b FROM n"
RATIOS = sec("compare", ticker=None, tickers=["AAPL", "NVDA"], metrics=["roa", "roe", "net margin", "gross margin"])
QUESTIONS = [
    ("plan_trip", KAMPPI_TO_ESPOO | {"constraints": {"accessibility": {"lowWalkingDistance": True}}}),
    ("get_departures", {"stop": {"type": "id", "value": KAMPPI}, "limit": 50, "windowMinutes": 120}),
    ("find_stops", {"coordinate": HERE, "radius": 3000, "maxResults": 50}),
    ("planRoute", ROUTE | {"searchWindowMinutes": 200, "journeyPreset": "LEAST_WALK"}),
    ("planRoute", ROUTE | {"departureTime": "2026-03-10T03:00:00+02:00", "searchWindowMinutes": 5}),
    ("getStopTimetable", {"stopId": KAMPPI, "until": "2026-03-11T08:00:00+02:00"}),
    ("save_user_variable", {"key": "home", "type": "location", "value": HERE | {"name": "Home"}}),
    ("save_user_variable", {"key": "odd", "type": "other", "value": {"a": [1, 2.5, {"b": 77}]}}),
    sec("financial_facts", metrics=["Revenue", "NetIncome", "EPS"], period="2022"),
    sec("financial_facts", metrics=["Revenue", "Nonsense"], period="2022-Q4"),
    sec("time_series", metric="Revenue", period="quarterly"),
    sec("statement", statement="balance", period="2022"),
    RATIOS,
    sec("financial_ratios", period="2022"),
    sec("calculate", expression="free_cash_flow", period="2022"),
    sec("verify_claim", metric="Revenue", period="2022", relation="equals", value=394, unit="USD billion"),
    sec("metrics"),
    ("sec_financial_data", {"query_type": "company_info", "parameters": {}}),
    ("sec_financial_data", {"query_type": "custom_sql", "parameters": {"sql_query": SQL.format(rows=900)}}),
    ("tool_details", {"query_type": "tool_details", "parameters": {"tool_name": "sec_financial_data"}}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arguments"), [*CASES, *QUESTIONS], ids=lambda each: each if isinstance(each, str) else ""
)
def test_the_text_has_every_figure_time_and_candidate(application, name, arguments):
    assert list(list_faults(application.tools[name], ask(application, name, arguments))) == []


def test_rows_beyond_the_bound_are_counted_with_the_way_to_get_them(application):
    wide = SQL.format(rows=900).replace("i * 7 AS b", f"'{'x' * 90}' AS b")
    answer = ask(application, *sec("custom_sql", ticker=None, sql_query=wide))
    rows = answer.body["results"]
    [left_out] = answer.body["left_out"]

    assert [row["i"] for row in rows] == list(range(1, len(rows) + 1))
    assert left_out == {
        "part": "results", "shown": len(rows), "total": 900,
        "rest": "For the rest, send the same query with LIMIT and OFFSET.",
    }  # fmt: skip
    assert answer.text.endswith(f"! results: the first {len(rows)} of 900 are shown. {left_out['rest']}")
    assert len(json.dumps(answer.body)) > MAX_BODY_BYTES * 0.9


def test_a_text_that_is_cut_has_both_ends(application):
    cut = ask(application, *RATIOS)
    told = r"\n… \[[\d,]+ of [\d,]+ bytes are left out here\. Request fewer tickers, metrics or years\.\] …\n"

    assert re.search(told, cut.text)
    assert cut.text.startswith("AAPL ")
    assert "\nSource: SEC filings, " in cut.text


def test_a_run_of_many_long_steps_is_bounded(application):
    value = {"type": "other", "value": "v" * 900}
    steps = [
        {"step_id": at, "description": f"step {at}", "tool": "save_user_variable", "expected_key": f"k{at}",
         "parameters": {"key": f"k{at}", **value}} for at in range(120)
    ]  # fmt: skip
    answer = ask(application, "run_plan", {"plan": {"goal": "many", "steps": steps}, "wait_seconds": 60})
    seen = ask(
        application, "get_plan_run", {"run_id": answer.body["data"]["run_id"], "include": ["plan", "memory", "events"]}
    )

    for name, each in (("run_plan", answer), ("get_plan_run", seen)):
        assert list(list_faults(application.tools[name], each)) == []
        parts = {part["part"]: part for part in each.body["left_out"]}
        assert parts["results"]["total"] == 120
        assert parts["results"]["shown"] == len(each.body["results"])
        assert "fingerpost://runs/RUN_ID" in parts["results"]["rest"]
    assert answer.body["data"]["progress"]["total"] == 120
    assert "bytes are left out here" in answer.text


def test_variables_beyond_the_bound_are_counted(application):
    for at in range(40):
        ask(application, "save_user_variable", {"key": f"k{at:02}", "type": "other", "value": "v" * 2_000})
    answer = ask(application, "get_user_variables", {})
    [warning] = answer.body["warnings"]

    assert warning["code"] == "truncated-results"
    assert f"variables: the first {len(answer.body['variables'])} of 40 are shown." in warning["message"]
    assert list(list_faults(application.tools["get_user_variables"], answer)) == []


def test_descriptions_state_the_bounds(application):
    """Rule A11."""
    entries = [build_tool_entry(tool.definition) for tool in application.tools.values()]
    assert [entry.name for entry in entries if not entry.description.endswith(SIZE_NOTE)] == []


LARGE = [
    {f"k{n}": 1 for n in range(350_000)},
    {"origin": {f"k{n}": 1 for n in range(350_000)}},
    {"x" * 1_000_000: 1},
    {"origin": "x" * 1_000_000},
    {"query_type": "x" * 1_000_000},
    {"query_type": "financial_facts", "parameters": {f"k{n}": 1 for n in range(350_000)}},
    {"query_type": "financial_facts", "parameters": {"ticker": "x" * 1_000_000, "metrics": ["Revenue"]}},
    {"plan": {"goal": "x" * 2_000_000, "steps": []}},
]


@pytest.mark.parametrize("arguments", LARGE, ids=lambda each: "/".join(map(str, list(each)[:2]))[:40])
def test_a_large_question_is_refused_in_few_words(application, arguments, monkeypatch):
    """In every tool; the answer echoes no megabytes, and is one that was published.

    The clock runs: under a fixed one an answer's id is made of all that was asked, which takes its time.
    """
    monkeypatch.delenv(clock.VARIABLE, raising=False)
    for name, tool in application.tools.items():
        answer = ask(application, name, arguments)
        assert answer.is_error
        assert list(list_faults(tool, answer)) == []


def test_an_unknown_tool_name_is_not_echoed_at_length(application):
    answer = ask(application, "x" * 1_000_000, {})

    assert len(json.dumps(answer.body)) < 2_000
    assert answer.body["error"]["code"] == "validation-error"
