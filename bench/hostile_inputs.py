"""The largest, deepest, oddest and slowest requests that a server could be sent, each kind as an endless series."""

import json
import random
from collections.abc import Callable, Generator, Iterator

from fingerpost.apps.mcp.http_limits import MOST_BYTES
from fingerpost.contract.check import MOST_VALUES

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}
Request = tuple[bytes, dict[str, str]]
# A little less than the server takes, in bytes and in values.
MOST = MOST_BYTES - 10_000
VALUES = MOST_VALUES - 500
PLAN_VALUES = 19_500
FILLED_SQL = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) SELECT max(i) AS most FROM n"
)


def call(tool: str, arguments: object, **params: object) -> Request:
    """Return a well-formed call."""
    content = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
               "params": {"name": tool, "arguments": arguments, "_meta": META, **params}}  # fmt: skip
    return json.dumps(content).encode(), headers(tool)


def raw_call(tool: str, arguments: str) -> Request:
    """Return a call whose arguments are written as they are."""
    body, head = call(tool, "ARGUMENTS")
    return body.replace(b'"ARGUMENTS"', arguments.encode("utf-8", "surrogatepass")), head


def headers(tool: str) -> dict[str, str]:
    """Return the headers of a call."""
    return {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }


def old(request: Request) -> Request:
    """Return a request on the wire of the handshake era."""
    body, head = request
    return body, {**head, "MCP-Protocol-Version": "2025-11-25"}


def ends(first: str, second: str) -> dict[str, object]:
    """Return two ends by name."""
    return {"origin": {"type": "label", "value": first}, "destination": {"type": "label", "value": second}}


def again(*requests: Request) -> Iterator[Request]:
    """Yield requests in turn without an end."""
    while True:
        for request in requests:  # noqa: UP028  (a series is sent what came back)
            yield request


def large_text() -> Iterator[Request]:
    """Send one text as large as a request may be, in three tools."""
    text = "x" * MOST
    return again(
        call("plan_trip", {"origin": text, "destination": text[:10]}),
        call("findAddressOrStop", {"rawText": text}),
        old(call("run_plan", {"user_input": text})),
    )


def large_escaped_text() -> Iterator[Request]:
    """Send texts with as many escapes as are admitted, beside almost as many values."""
    values = "0," * VALUES
    texts = [sign * 45_000 + "," * 900_000 for sign in ('\\"', "\\\\", "\\u00e4", "")]
    return again(*(raw_call("find_stops", f'{{"a":[{values}0],"b":"{text}"}}') for text in texts))


def too_large() -> Iterator[Request]:
    """Send more bytes, and more values, than are admitted."""
    listed = f'{{"includeModes":[{"1," * (MOST // 2 - 100)}1]}}'
    keyed = "{" + ",".join(f'"{n}":1' for n in range(90_000)) + "}"
    return again(
        call("findAddressOrStop", {"rawText": "x" * 4_000_000}),
        raw_call("find_stops", listed),
        raw_call("plan_trip", keyed),
        old(raw_call("find_stops", listed)),
    )


def many_values() -> Iterator[Request]:
    """Send as many values as are admitted: in a list, in objects, as unknown fields, and each wrong."""
    keyed = {f"key number {n}": {} for n in range(VALUES // 2 - 100)}
    return again(
        call("find_stops", {"includeModes": [1] * (VALUES - 100)}),
        call("plan_trip", keyed),
        call("plan_trip", {"origin": keyed}),
        call("find_stops", {"coordinate": {"lat": 60, "lon": 25}, "includeModes": [{}] * 9_000}),
        call("sec_financial_data", {"query_type": "compare", "parameters": {"tickers": ["X"] * 9_000, "metrics": [1]}}),
        old(call("plan_trip", {"origin": keyed})),
    )


def many_values_elsewhere() -> Iterator[Request]:
    """Send as many values as are admitted, outside the arguments."""
    values = [{} for _ in range(VALUES // 2 - 100)]
    body = json.dumps([{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in range(VALUES // 5)]).encode()
    return again(
        call("find_stops", {}, odd=values),
        call("find_stops", {}, _meta={**META, "fingerpost/geometry": values}),
        (body, headers("find_stops")),
        old((body, headers("find_stops"))),
    )


def large_plan() -> Iterator[Request]:
    """Send a plan of 500 steps that is almost as large as a plan may be, and one that is one step too long."""

    def plan(count: int) -> dict[str, object]:
        steps = [
            {"step_id": at, "description": "d" * 1_500, "tool": "get_user_variables", "parameters": {},
             "expected_key": f"k{at}"} for at in range(1, count + 1)
        ]  # fmt: skip
        return {"plan": {"goal": "many", "steps": steps}, "wait_seconds": 0}

    return again(call("run_plan", plan(501)), call("run_plan", plan(500)))


def plan_of_many_values() -> Iterator[Request]:
    """Send a plan with as many values as are admitted: in its memory, and as steps that are none."""
    return again(
        call("run_plan", {"user_input": "x", "memory": {"a": [0] * (PLAN_VALUES - 100)}}),
        call("run_plan", {"plan": {"goal": "x", "steps": [{}] * (PLAN_VALUES // 2 - 100)}}),
        call("run_plan", {"plan": {"goal": "x", "steps": [{"step_id": n, "x": 1, "y": 2} for n in range(500)]}}),
        old(call("run_plan", {"plan": {"goal": "x", "steps": [[]] * (PLAN_VALUES // 2 - 100)}})),
    )


def deep() -> Iterator[Request]:
    """Send lists and objects as deep as they go: a million, and as deep as JSON is still read."""
    return again(
        raw_call("plan_trip", '{"origin":' + "[" * 1_000_000 + "]" * 1_000_000 + "}"),
        raw_call("run_plan", '{"plan":' + '{"a":' * 500 + "1" + "}" * 500 + "}"),
        raw_call("save_user_variable", '{"key":"a","type":"other","value":' + "[" * 900 + "]" * 900 + "}"),
        old(raw_call("plan_trip", '{"origin":' + "[" * 190 + "]" * 190 + "}")),
    )


def odd() -> Iterator[Request]:
    """Send numbers, texts and envelopes that nobody writes."""
    return again(
        raw_call("find_stops", '{"radius":' + "9" * 4_000 + "}"),
        raw_call("find_stops", '{"radius":1e' + "9" * 4_000 + "}"),
        raw_call("findAddressOrStop", '{"rawText":"' + "\\ud800" * 30 + '"}'),
        raw_call("findAddressOrStop", '{"rawText":"' + "\\u0000" * 190 + '"}'),
        raw_call("findAddressOrStop", '{"rawText":"' + "ﷺ" * 190 + '"}'),
        call("x" * 100_000, {}),
        call("find_stops", [1]),
        (b"\xff" * 1000, headers("find_stops")),
        (b'{"jsonrpc":"2.0","id":' + b"1" * 4_000 + b',"method":"ping"}', headers("find_stops")),
    )


def slow_names() -> Iterator[Request]:
    """Send names that no two questions share, as long as a name may be."""
    dice = random.Random(1)
    while True:
        words = ["".join(dice.choices("aeiouyäöklmnprstv", k=dice.randint(2, 9))) for _ in range(40)]
        yield call("findAddressOrStop", {"rawText": " ".join(words)[:200]})
        yield call("findAddressOrStop", {"rawText": words[0][:2]})


def slow_trips() -> Iterator[Request]:
    """Ask trips from one end of the network to the other with all wishes, and names to be looked up."""
    dice = random.Random(2)
    while True:
        when = {"type": "arrive", "time": f"2026-03-10T{dice.randint(6, 23):02}:{dice.randint(0, 59):02}:00+02:00"}
        limits = {"maxWalkingDistance": 3000, "maxTransfers": 8, "accessibility": {"lowWalkingDistance": True}}
        yield call("plan_trip", {**ends("Kerava", "Kauklahti"), "when": when, "constraints": limits, "limit": 3})
        yield call("planRoute", {"origin": {"rawText": "Kerava"}, "destination": {"rawText": "Kirkkonummi"},
                                 "departureTime": when["time"], "searchWindowMinutes": 120})  # fmt: skip


def slow_timetables() -> Iterator[Request]:
    """Ask a whole day of the busiest stops."""
    dice = random.Random(3)
    while True:
        day = dice.randint(10, 20)
        yield call("getStopTimetable", {"stopId": "DEMO-HELSINKI:PASILA", "at": f"2026-03-{day}T04:00:00+02:00",
                                        "until": f"2026-03-{day + 1}T03:59:00+02:00", "wholePlace": True})  # fmt: skip


def slow_sql() -> Iterator[Request]:
    """Send a query that counts for ever."""
    return again(call("sec_financial_data", {"query_type": "custom_sql", "parameters": {"sql_query": FILLED_SQL}}))


def slow_figures() -> Iterator[Request]:
    """Ask every ratio of every year, long formulas, records of long formulas."""
    formula = "+".join(["avg(Revenue)*2/NetIncome"] * 60)

    def ask(query_type: str, **parameters: object) -> Request:
        return call("sec_financial_data", {"query_type": query_type, "parameters": {"ticker": "AAPL", **parameters}})

    return again(
        ask("financial_ratios"),
        ask("calculate", expression=formula, period="2022"),
        ask("verify_claim", formula=formula[:200], period="2022", relation="is_record"),
        ask("statement", statement="income", period="2022"),
        ask("time_series", metric="Revenue", period="quarterly"),
    )


def slow_plans() -> Iterator[Request]:
    """Send plans of a hundred trips each."""
    step = {"description": "a trip", "tool": "plan_trip", "parameters": ends("Kerava", "Kauklahti")}
    steps = [{**step, "step_id": at, "expected_key": f"k{at}"} for at in range(1, 101)]
    return again(call("run_plan", {"plan": {"goal": "many", "steps": steps}, "wait_seconds": 60}))


def large_memory(count: int, **fields: object) -> dict[str, object]:
    """Return a plan whose steps each look at a memory of as many values as are admitted, or as many characters."""
    step = {"description": "d", **fields}
    steps = [{**step, "step_id": at, "expected_key": f"k{at}"} for at in range(1, count + 1)]
    memory = {"a": [0] * (PLAN_VALUES - 4_000), "b": "b" * 320_000}
    return {"plan": {"goal": "many", "steps": steps}, "memory": memory, "wait_seconds": 0}


def slow_steps() -> Iterator[Request]:
    """Send plans whose steps take what is large from memory, or look at it at length."""
    paths = {"n": {"$ref": "a", "path": "[?@ == `0`] | length(@)"}, "m": {"$ref": "b"}}
    counted = " and ".join(["sum(memory['a'])==0"] * 19)
    return again(
        call("run_plan", large_memory(200, parameters={"x": {"$ref": "a"}})),
        call("run_plan", large_memory(200, parameters={"x": {"$ref": "b"}})),
        call("run_plan", large_memory(200, parameters=paths)),
        call("run_plan", large_memory(500, parameters={}, done_check=counted)),
    )


def large_runs() -> Generator[Request, bytes | None, None]:
    """Ask again and again for all of a run whose memory is full, and start others from it."""
    ids = []
    for name in ("a", "b"):
        body, head = call("run_plan", large_memory(64, parameters={"x": {"$ref": name}}) | {"wait_seconds": 60})
        received = yield body, head
        ids.append(json.loads(received)["result"]["structuredContent"]["data"]["run_id"])
    everything = ["plan", "memory", "items", "events", "mermaid"]
    step = {"step_id": 1, "description": "d", "parameters": {}, "expected_key": "k"}
    while True:
        for run_id in ids:
            yield call("get_plan_run", {"run_id": run_id, "include": everything})
            yield read(f"fingerpost://runs/{run_id}")
            yield call("run_plan", {"plan": {"goal": "x", "steps": [step]}, "memory_of": run_id})


def read(uri: str) -> Request:
    """Return a request for a resource."""
    content = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri, "_meta": META}}
    return json.dumps(content).encode(), {**headers(uri), "Mcp-Method": "resources/read"}


KINDS: dict[str, Callable[[], Iterator[Request]]] = {
    each.__name__.replace("_", "-"): each
    for each in (
        large_text, large_escaped_text, too_large, many_values, many_values_elsewhere, large_plan, plan_of_many_values,
        deep, odd, slow_names,
        slow_trips, slow_timetables, slow_sql, slow_figures, slow_plans, slow_steps, large_runs,
    )
}  # fmt: skip
