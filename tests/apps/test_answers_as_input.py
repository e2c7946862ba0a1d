"""Answers as input: every tool accepts each value of any tool's answer, wherever the value's type is an input.

The pairs come from the published schemas and from example calls, so a new tool is covered by its example in ``CASES``.
An argument with a new name has to be added to ``TAKEN``, or to ``FREE`` if no answer has its type.
"""

import copy
import json
import re
from collections import defaultdict
from itertools import chain

import pytest

from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from fingerpost.contract.wire import build_json_schema
from fingerpost.filings.store import FactStore
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from tests.apps.questions import CASES, figures
from tests.apps.test_generated_calls import FILING, FILING_TEXT
from tests.filings.test_tools import QUESTIONS
from tests.homes import keep_network
from tests.shared_data import get_shared

# By type: the arguments that take it (``value`` with the name around it), and the fields of answers that give it.
TAKEN = {
    "place": "origin destination origin.value destination.value rawText walkFrom from to",
    "stop": "stop stop.value stopId", "time": "time at until departureTime arrivalTime", "mode": "includeModes",
    "key": "key", "ticker": "ticker tickers companies among", "metric": "metric metrics formula expression",
    "ratio": "ratios", "period": "period base_period", "day": "start_date end_date as_of date_range",
    "form": "filing_type filing_types form", "accession": "accession_number", "unit": "unit",
    "section": "sections item", "run": "run_id memory_of", "tool": "tool_name",
    "ref": "refs",
}  # fmt: skip
GIVEN = {
    "stop": "id stopId otherStops parameterValue", "mode": "modes", "key": "key", "ticker": "cik ticker tickers",
    "metric": "metric_name standard_metric_name xbrl_tag did_you_mean", "ratio": "metric_name", "period": "fiscal_year",
    "form": "filing_type", "unit": "unit", "section": "section_type", "run": "run_id", "tool": "output_key",
    "ref": "ref refs",
}  # fmt: skip
# These types are known by their form, and stops among other ids too.
FORMS = {
    "time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)", "day": r"\d{4}-\d\d-\d\d",
    "accession": r"\d{10}-\d\d-\d{6}", "stop": r"[A-Z0-9_-]+:[A-Z0-9:_-]+",
}  # fmt: skip
# Words of the caller, and what repeats the question or describes a tool.
FREE = "query user_input note sql_query keywords textFilter axis save_user_variable.value run_plan.value"
ECHOES = {"parameters", "constraints", "requested", "query", "parameters_by_query_type"}
# What else a call must have, or (None) must not have, to take an argument.
BESIDE = {
    "arrivalTime": {"departureTime": None}, "accession_number": {"ticker": None}, "formula": {"metric": None},
    "start_date": {"end_date": "2030-01-01"}, "end_date": {"start_date": "2000-01-01"},
    "base_period": {"relation": "grew_by"}, "among": {"relation": "ranks", "value": 1, "unit": None},
    "run_plan.run_id": {"plan": None, "action": "resume"},
}  # fmt: skip
KAMPPI = {"lat": 60.1688, "lon": 24.9316}
A_CLAIM = {"ticker": "AAPL", "metric": "Revenue", "period": "2022", "relation": "equals", "value": 394.3, "unit": "USD"}
A_STEP = {"step_id": 1, "description": "d", "tool": "find_stops", "parameters": {"coordinate": KAMPPI}}
CALLS = [
    ("find_stops", {"coordinate": KAMPPI}),
    ("findAddressOrStop", {"rawText": "Kamppi"}),
    ("save_user_variable", {"key": "work", "type": "location", "value": KAMPPI}),
    ("sec_financial_data", figures("verify_claim", **A_CLAIM)),
    *(("sec_financial_data", figures(name, **asked)) for name, asked in QUESTIONS.items()),
    ("sec_graph_query", figures("filing_text", ticker="AAPL")),
    ("tool_details", figures("tool_details", tool_name="plan_trip")),
    ("get_plan_run", {}),
    ("run_plan", {"plan": {"goal": "g", "steps": [{**A_STEP, "expected_key": "a"}]}, "wait_seconds": 5}),
    *CASES,
]  # fmt: skip
DAY = "2026-03-10"
OF_FIGURES = "sec_financial_data sec_graph_query sec_semantic_search tool_details run_plan get_plan_run".split()  # noqa: SIM905
# A feed, and its words for those of the calls.
WHERE = {
    "figures": ("", {}),
    "helsinki": ("", {}),
    "london": ("", {
        "DEMO-HELSINKI:KAMPPI": "DEMO-LONDON:WATERLOO", "Kamppi": "Waterloo", "Pasila": "Bank", "Rautatie": "King",
        "60.1688": "51.5033", "24.9316": "-0.1145",
    }),
    "kingston": ("gtfs/kingston/kingston_2026-01.gtfs.zip", {
        "DEMO-HELSINKI:KAMPPI": "KINGSTON:S02037", "Kamppi": "Downtown", "Pasila": "Cataraqui Centre",
        "Rautatie": "Midland", "60.1688": "44.2311", "24.9316": "-76.4849", DAY: "2026-01-15", "+02:00": "-05:00",
    }),
    "tampere": ("gtfs/tampere/tampere_nysse_2021-22.gtfs.zip", {
        "DEMO-HELSINKI:KAMPPI": "TAMPERE:0011", "Kamppi": "Keskustori", "Pasila": "Hervanta", "Rautatie": "Hatanp",
        "60.1688": "61.4977", "24.9316": "23.7604", DAY: "2022-02-15",
    }),
}  # fmt: skip
# Of each type, so many values of a tool.
MOST = 4


def list_given(value, name=""):
    """Yield the type and value of everything in an answer that a tool may take."""
    if isinstance(value, dict):
        if {"lat", "lon"} <= set(value):
            position = {key: value[key] for key in ("lat", "lon")}
            yield from (("position", position), ("place", "{lat},{lon}".format(**position)))
        if {"coordinate", "lat"} & set(value) and {"name", "label", "rawSource"} & set(value):
            yield "location", value
        for key, inner in value.items():
            yield from list_given(inner, key) if key not in ECHOES else ()
    elif isinstance(value, list):
        for inner in value:
            yield from list_given(inner, name)
    else:
        for kind in TAKEN if value is not None else ():
            has_form = kind in FORMS and re.fullmatch(FORMS[kind], str(value))
            if has_form if kind not in GIVEN else name in GIVEN[kind].split() and (has_form or kind not in FORMS):
                yield from ((kind, value), *([("place", value)] if kind == "stop" else []))


def list_taken(tool, schema, root, path=()):
    """Yield the path and type of every argument that takes a text, a position or a place of an answer."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    fields, names = schema.get("properties", {}), [part for part in path if part != "[]"]
    if names[-1:] in (["origin"], ["destination"]) and "coordinate" in fields:
        yield path, "location"
        return
    if set(fields) == {"lat", "lon"}:
        yield path, "position"
    if schema.get("type") == "string" and names:
        name = ".".join([tool, *names][-2:]) if names[-1] == "value" else names[-1]
        kinds = [kind for kind, taking in TAKEN.items() if name in taking.split()]
        assert kinds or {"enum", "const"} & set(schema) or name in FREE.split(), f"name {name} of {tool} here"
        yield from ((path, kind) for kind in kinds)
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from list_taken(tool, branch, root, path)
    for key, inner in (*fields.items(), *([("[]", schema["items"])] if "items" in schema else [])):
        yield from list_taken(tool, inner, root, (*path, key))


def fill_in(tool, arguments, path, kind, value):
    """Return a call's arguments with a value at a path."""
    made = inner = copy.deepcopy(arguments)
    *outer, name = [part for part in path if part != "[]"]
    for key in outer:
        inner[key] = inner[key] if isinstance(inner.get(key), dict) else {}
        inner = inner[key]
    inner[name] = [value] if "[]" in path else value
    if name == "date_range":
        inner[name].append("2030-01-01")
    if name == "value":
        inner["type"] = {"position": "coords", "stop": "id"}.get(kind, "label")
    if name == "until":
        inner["at"] = f"{value[:11]}00:00:00{value[19:]}"
    inner |= BESIDE.get(name, {}) | BESIDE.get(f"{tool}.{name}", {})
    return made


def find_refusal(answer, value):
    """Return why an answer refuses a value, or None; nothing found is no refusal."""
    if answer.error is None or "warning" in answer.body:
        missing = (answer.body.get("missing") or {}).values()
        # A company need not have filed another's tag.
        return next((str(each) for each in missing if "unknown" in each["reason"] and ":" not in str(value)), None)
    found = ("no-itinerary-found", "unsupported-region", "OUT_OF_BOUNDS", "must differ", "its state is completed")
    return None if any(word in answer.text for word in found) else answer.text


@pytest.mark.parametrize("where", WHERE)
async def test_every_value_of_an_answer_is_accepted_where_its_type_is_an_input(where, home, monkeypatch):
    feed, words = WHERE[where]
    text = json.dumps([f"{DAY}T08:00:00+02:00", *CALLS])
    for ours, theirs in words.items():
        text = text.replace(ours, theirs)
    now, *listed = json.loads(text)
    monkeypatch.setenv("FINGERPOST_NOW", now)
    settings, name = read_settings(plan_journey_per_second=1000), where.upper()
    FactStore(settings.filings_file).put_text(320193, FILING, FILING_TEXT)
    if feed:
        keep_network(settings.home, name, import_feeds(name, [FeedSource(get_shared(feed))]).timetable)
    application = build(settings)
    given, calls, refused = defaultdict(list), {}, {}
    tools = [name for name in application.tools if (name in OF_FIGURES) == (where == "figures")]
    tools = [name for name in tools if name != "planJourney" or where == "london"]
    for name, arguments in listed:
        answer = await application.tools[name].answer(arguments, user="ann") if name in tools else None
        for kind, value in () if answer is None else list_given(answer.body):
            values = given[kind, name]
            if value not in values and len(values) < MOST:
                values.append(value)
        if answer is not None and not answer.is_error and not answer.body.get("missing"):
            calls.setdefault((name, arguments.get("query_type", "")), arguments)
    for (name, query_type), arguments in calls.items():
        tool, parameters = application.tools[name], arguments.get("parameters", arguments)
        schema = build_json_schema(tool.spec.input_schema[query_type]) if query_type else tool.definition.input_schema
        for path, kind in dict.fromkeys(list_taken(name, schema, schema)):
            for value in chain.from_iterable(values for (each, _), values in given.items() if each == kind):
                filled = fill_in(name, parameters, path, kind, value)
                answer = await tool.answer(tool.to_raw(query_type, filled), user="ann")
                if (why := find_refusal(answer, value)) is not None:
                    refused[name, query_type, path, str(value)] = why
    await application.runs.stop()
    await application.networks.close()

    assert refused == {}
    assert {name for name, _ in calls} == set(tools), "each tool needs a successful call in CASES"
