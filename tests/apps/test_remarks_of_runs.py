"""The remarks in a tool's response reach the user of a plan run: a property of all tools."""

import asyncio
import json

import pytest

from fingerpost.apps import error_boundary

FACTS = {"ticker": "AAPL", "metrics": ["Revenue"], "period": "2022"}
AT_EIGHT = "2026-03-10T08:00:00+02:00"
OWN_TOOLS = {"run_plan", "get_plan_run"}


def label(text):
    return {"type": "label", "value": text}


def text(raw_text):
    return {"rawText": raw_text}


def figures(query_type, **parameters):
    return {"query_type": query_type, "parameters": parameters}


# Failing, empty and partial answers of each tool, and sound ones that say something beside the value.
CASES = [
    ("plan_trip", {"origin": label("Rautatie"), "destination": label("Kamppi")}),
    ("plan_trip", {"origin": label("Xyzzyville"), "destination": label("Kamppi")}),
    ("plan_trip", {"origin": label("Kamppi"), "destination": label("Pasila"), "limit": 1}),
    ("get_departures", {"stop": label("Rautatie")}),
    ("get_departures", {"stop": label("Kamppi"), "limit": 1}),
    ("findAddressOrStop", {"rawText": "Rautatie"}),
    ("findAddressOrStop", {"rawText": "Xyzzyville"}),
    ("find_stops", {"coordinate": {"lat": 0.0, "lon": 0.0}}),
    ("find_stops", {"coordinate": {"lat": 60.1688, "lon": 24.9316}, "radius": 1, "textFilter": "Xyzzy"}),
    ("planRoute", {"origin": text("Rautatie"), "destination": text("Kamppi"), "departureTime": AT_EIGHT}),
    ("planRoute", {"origin": text("Kamppi"), "destination": text("Pasila"), "departureTime": "2001-01-01T08:00:00Z"}),
    ("planRoute", {"origin": text("Kamppi"), "destination": text("Pasila"), "departureTime": AT_EIGHT}),
    ("getStopTimetable", {"stopId": "DEMO-HELSINKI:KAMPPI", "at": AT_EIGHT, "maxDepartures": 9}),
    ("getStopTimetable", {"stopId": "NOBODY:1"}),
    ("planJourney", {"from": "Kings", "to": "Bank"}),
    ("planJourney", {"from": "Waterloo", "to": "Bank"}),
    ("save_user_variable", {"key": "note", "type": "other", "value": "x" * 20_000}),
    ("get_user_variables", {}),
    ("delete_user_variable", {"key": "nothing of that name"}),
    ("sec_financial_data", figures("compare", tickers=["AAPL", "ZZZQ"], metrics=["Revenue"], period="2022")),
    ("sec_financial_data", figures("financial_facts", **FACTS | {"metrics": ["Revenu"]})),
    ("sec_financial_data", figures("financial_facts", **FACTS | {"metrics": ["Revenue", "Revenu"]})),
    ("sec_financial_data", figures("financial_facts", **FACTS | {"ticker": "ZZZQ"})),
    ("sec_financial_data", figures("company_info", ticker="AAPL", as_of="2022-01-01")),
    ("sec_financial_data", figures("custom_sql", sql_query="SELECT nothing FROM nowhere")),
    ("sec_graph_query", figures("company_filings", ticker="ZZZQ")),
    ("sec_graph_query", figures("company_filings", ticker="AAPL")),
    ("sec_semantic_search", figures("semantic_search", query="supply chain risk")),
    ("tool_details", {"tool_name": "plan_trop"}),
]  # fmt: skip


@pytest.fixture
def run_step(application):
    """Run one call as a step whose output path leads past all that the tool says; also call the tool itself."""

    def run(tool, parameters):
        async def both():
            question = parameters if "query_type" in parameters else {"query_type": tool, "parameters": parameters}
            alone = await application.tools[tool].execute(question["query_type"], question["parameters"], user="ann")
            step = {"step_id": 7, "description": "ask", "tool": tool, "parameters": parameters, "output_path": ["nil"]}
            answer = await error_boundary.answer(
                application.tools, "run_plan", {"plan": {"goal": "g", "steps": [step]}}, user="ann"
            )
            return alone, answer

        return asyncio.run(both())

    yield run
    application.runs.journal.close()


def said_by(value):
    if isinstance(value, dict):
        for name, item in value.items():
            if name == "parameters" or not item:
                continue
            if name in ("missing", "notes", "note", "hint", "did_you_mean", "candidates", "warnings"):
                yield name, item
            else:
                yield from said_by(item)
    elif isinstance(value, list):
        for item in value:
            yield from said_by(item)


def sentences_of(name, value):
    if name == "candidates":
        # What tells candidates apart is keyed by their tokens.
        return list(value) if isinstance(value, dict) else [each.get("token") or each.get("id") for each in value]
    if name == "missing":
        return [
            text
            for why in value.values()
            for text in (why["message"], why["next_step"], *(why.get("did_you_mean") or ()))
        ]
    if name == "warnings":
        return [each["message"] for each in value]
    return [value] if isinstance(value, str) else value


def without_nulls(value):
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def test_every_tool_is_called(application):
    assert {tool for tool, _parameters in CASES} == set(application.tools) - OWN_TOOLS


@pytest.mark.parametrize(("tool", "parameters"), CASES, ids=lambda each: each if isinstance(each, str) else "")
def test_the_output_of_a_tool_is_in_the_runs_answer(run_step, tool, parameters):
    alone, answer = run_step(tool, parameters)
    [step] = answer.body["data"]["steps"]
    kept = [json.dumps(remark["value"], sort_keys=True) for remark in step["remarks"]]
    said = [(name, without_nulls(value)) for name, value in said_by(alone)]

    assert [name for name, value in said if json.dumps(value, sort_keys=True) not in kept] == []
    sentences = [text.rstrip(".") for name, value in said for text in sentences_of(name, value)]
    assert [text for text in sentences if text not in answer.text] == []
    assert answer.body["data"]["remarks_left_out"] == 0
    assert step.get("error") == (alone.get("error") or alone.get("warning"))
