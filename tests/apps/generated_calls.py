"""Calls drawn from the published input schemas: valid ones, ones at a bound, and ones with a single fault."""

import json
from collections.abc import Mapping, Sequence

from jsonschema import Draft202012Validator

from fingerpost.contract.wire import build_json_schema

DAY_TIMES = [f"2026-03-10T{hour:02}:{minute:02}:00+02:00" for hour in range(24) for minute in (0, 17)]
TIMES = [*DAY_TIMES, "2026-03-10T06:00:00Z", "2026-03-10T08:00:00", "now", "2026-03-15T23:59:59+02:00"]
PLACES = ["Kamppi", "Espoo", "kamp", "ka", "Pasila", "Tapiola", "Leppävaara", "Rautatientori", "home", "Waterloo"]
IDS = ["DEMO-HELSINKI:KAMPPI", "DEMO-HELSINKI:PASILA", "DEMO-LONDON:BANK", "demo-helsinki:espoo", "NO:SUCH"]
TICKERS = ["AAPL", "META", "NVDA", "apple", "320193", "MSFT"]
METRICS = ["Revenue", "NetIncome", "EPS", "Assets", "us-gaap:Assets", "Nonsense", "revnue"]
PERIODS = ["2022", "2022-Q2", "2023-Q4", "1999", "FY2022"]
DAYS = ["2022-01-01", "2022-12-31", "2023-06-30", "2020-01-01"]
SQL = [
    "SELECT * FROM companies", "SELECT nothing FROM facts", "DELETE FROM facts", "SELECT 1.5 AS a, 'x' AS b, NULL AS c",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700) SELECT i, i * 7 AS b FROM n",
    "SELECT ticker, concept, value, end_date FROM facts ORDER BY 1, 2, 4 LIMIT 300",
]  # fmt: skip
FORMULAS = ["free_cash_flow", "Revenue / avg(Assets)", "cagr(Revenue, 3)", "1 / 0", "(", "Revenue - prior(Revenue)"]
# By a field's name, what a caller might well send; whatever does not fit the schema there is not taken.
WORDS: Mapping[str, Sequence[object]] = {
    "value": [*PLACES, *IDS, "60.1699,24.9384", {"lat": 60.1699, "lon": 24.9384}],
    "origin": PLACES, "destination": [*IDS, {"name": "Home", "coordinate": {"lat": 60.2055, "lon": 24.6559}}],
    "rawText": [*PLACES, *IDS, "60.1699,24.9384", "Mannerheimintie 1"],
    "from": ["Waterloo", "Bank", "water", "Xyzzyq"], "to": ["Bank", "Victoria", "king", "Kamppi"],
    "stopId": IDS, "time": TIMES, "at": TIMES, "until": TIMES, "departureTime": TIMES, "arrivalTime": TIMES,
    "lat": [60.1699, 60.2055], "lon": [24.9384, 24.6559], "textFilter": ["ka", "tori", "x"],
    "key": ["home", "work", "odd"], "ticker": TICKERS, "tickers": TICKERS, "companies": TICKERS,
    "metric": METRICS, "metrics": METRICS, "period": PERIODS, "periods": PERIODS, "start_date": DAYS, "end_date": DAYS,
    "as_of": DAYS, "sql_query": SQL, "expression": FORMULAS, "formula": FORMULAS, "base_period": PERIODS,
    "among": TICKERS, "filing_type": ["10-K", "10-Q"],
    "filing_types": ["10-K", "10-Q"], "unit": ["USD", "EUR"], "ratios": ["net_margin", "nonsense"],
    "accession_number": ["0000320193-22-000108"], "query": ["risk", "supply chain"], "wait_seconds": [5],
    "sections": ["risk_factors", "business"], "keywords": ["supply", "revenue"],
    "user_input": ["Get Apple's revenue for 2022", "Dance"], "goal": ["a goal"],
    "date_range": DAYS, "refs": [["DEMO-HELSINKI:KAMPPI|:RAUTATIENTORI|20260310.21600.120|:M2-1"]],
}  # fmt: skip
ODD = [
    None, "", " ", 0, -1, 2.0, 2.5, 1e308, True, "1", [], {}, [[]], {"a": {}}, "\ud800", "\x00", "x" * 300, 10**30,
    "ﷺ" * 60, "<script>", "; DROP TABLE", {"$ref": "a"}, "2026-03-10T08:00:00", [None], "1e5", "None",
]  # fmt: skip


class CallDrawer:
    def __init__(self, application, dice):
        self.dice = dice
        self.tools = application.tools
        self.schemas = {name: tool.definition.input_schema for name, tool in application.tools.items()}
        self.kinds = {
            name: {kind: build_json_schema(model) for kind, model in tool.spec.input_schema.items()}
            for name, tool in application.tools.items()
            if "query_type" in tool.definition.input_schema["properties"]
        }
        self.run_ids = ["none"]

    def draw(self):
        name = self.dice.choice(list(self.tools))
        arguments = self.draw_sound(name)
        if self.dice.random() < 0.35:
            arguments = self.bend(arguments)
        return name, arguments

    def draw_sound(self, name):
        if name in self.kinds:
            kind = self.dice.choice(list(self.kinds[name]))
            words = {**WORDS, "tool_name": [*self.tools, "nope"]}
            return {"query_type": kind, "parameters": self._value(self.kinds[name][kind], words)}
        arguments = self._value(self.schemas[name], {**WORDS, "run_id": self.run_ids, "memory_of": self.run_ids})
        if name == "run_plan":
            arguments = {"plan": self._plan(), "wait_seconds": 5} if self.dice.random() < 0.7 else arguments
        if name == "planRoute" and self.dice.random() < 0.8:
            # One of the two times, which no schema can say.
            arguments.pop(self.dice.choice(["departureTime", "arrivalTime"]), None)
            if not {"departureTime", "arrivalTime"} & arguments.keys():
                arguments["departureTime"] = self.dice.choice(DAY_TIMES)
        return arguments

    def bend(self, arguments):
        path = self.dice.choice(list(_paths_of(arguments)))
        roll = self.dice.random()
        if roll < 0.2 and path and isinstance(path[-1], str):
            return _changed(arguments, path[:-1], lambda inner: {k: v for k, v in inner.items() if k != path[-1]})
        if roll < 0.35:
            return _changed(arguments, path, lambda inner: {**inner, "unknown": 1} if isinstance(inner, dict) else {})
        return _changed(arguments, path, lambda _inner: self.dice.choice(ODD))

    def _plan(self):
        steps = []
        for number in range(1, self.dice.randint(1, 4)):
            name = self.dice.choice([each for each in self.tools if each not in ("run_plan", "get_plan_run")])
            sound = self.draw_sound(name)
            kind = sound.get("query_type", name)
            parameters = sound["parameters"] if name in self.kinds else sound
            if name in self.kinds:
                parameters = {"query_type": kind, "parameters": parameters}
            step = {"step_id": number, "description": f"step {number}", "tool": name, "parameters": parameters}
            steps.append({**step, "expected_key": f"key {number}"})
        if self.dice.random() < 0.2:
            steps.append({"step_id": 9, "description": "decide", "agent": "human", "expected_key": "word"})
        return {"goal": "generated", "steps": steps}

    def _value(self, schema, words, name="", root=None):
        root = root or schema
        schema = _resolved(schema, root)
        if words.get(name) and self.dice.random() < 0.85:
            word = self.dice.choice(words[name])
            if Draft202012Validator({**schema, "$defs": root.get("$defs", {})}).is_valid(word):
                return word
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.dice.choice(schema["enum"])
        if {"type": "object"} in schema.get("anyOf", ()):
            return self._anything(schema, words, name, root)
        choices = schema.get("anyOf") or schema.get("oneOf")
        if choices:
            return self._value(
                self.dice.choice([each for each in choices if each != {"type": "null"}]), words, name, root
            )
        return getattr(self, f"_{schema.get('type', 'anything')}")(schema, words, name, root)

    def _object(self, schema, words, name, root):
        if not schema.get("properties"):
            if schema.get("additionalProperties") is False:
                return {}
            return self.dice.choice([{}, {"a": 1}, {"goal": "g", "steps": []}, {"k": [1, {"b": "c"}]}])
        required = schema.get("required", ())
        return {
            key: self._value(inner, words, key, root)
            for key, inner in schema.get("properties", {}).items()
            if key in required or self.dice.random() < 0.35
        }

    def _array(self, schema, words, name, root):
        least, most = schema.get("minItems", 0), schema.get("maxItems", 4)
        count = self.dice.choice([least, least + 1, min(most, 3)])
        return [self._value(schema["items"], words, name, root) for _ in range(min(count, most))]

    def _integer(self, schema, _words, _name, _root):
        least, most = schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1), schema.get("maximum", 500)
        return self.dice.choice([least, most, self.dice.randint(least, most)])

    def _number(self, schema, _words, _name, _root):
        least, most = schema.get("minimum", 0), schema.get("maximum", 500)
        return self.dice.choice([least, most, round(self.dice.uniform(least, most), 4)])

    def _string(self, schema, _words, _name, _root):
        most = schema.get("maxLength", 40)
        letters = "ABC:12" if "pattern" in schema else 'aeikost pÄö-1,"\\<'
        count = max(schema.get("minLength", 0), self.dice.choice([1, 3, 12, most]))
        return "".join(self.dice.choices(letters, k=min(count, most, 2_000)))

    def _boolean(self, _schema, _words, _name, _root):
        return self.dice.random() < 0.5

    def _anything(self, _schema, _words, _name, _root):
        return self.dice.choice([*ODD, {"lat": 60.2, "lon": 24.9, "name": "Somewhere"}, "text", [1, 2.5, {"b": 77}]])


def _resolved(schema, root):
    """Return a schema with its reference followed; what stands beside the reference describes it alone."""
    reference = schema.get("$ref")
    return schema if reference is None else root["$defs"][reference.removeprefix("#/$defs/")]


def _paths_of(value, at=()):
    yield at
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _paths_of(inner, (*at, key))


def _changed(value, path, change):
    if not path:
        return change(value)
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[path[0]] = _changed(copied[path[0]], path[1:], change)
    return copied


def print_call(name, arguments):
    return f"{name} {json.dumps(arguments)[:600]}"
