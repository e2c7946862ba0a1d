"""Agents that answer a question with a server's tools: a script, and any model behind an OpenAI-compatible URL."""

import json
import os
import urllib.request
from datetime import date, datetime, timedelta
from typing import Any

import jmespath
from mcp_client import McpClient

from worlds import read_town

MAX_CALLS = 12
# The town's offset on all days that are asked about.
OFFSET = "+02:00"
PROMPT = (
    "Answer the question only from the tools. The time is {now}. Stops of the town have ids such as TOWN:MKT. "
    "Refuse if the tools do not support an answer. End with one JSON object and nothing else: "
    '{{"answer": ..., "refused": true or false, "reason": "..."}}. Times are HH:MM, lists are JSON lists, '
    "figures are plain numbers in the unit that was filed, and an answer without a value is null."
)


def answer_by_script(client: McpClient, script: dict, question: dict) -> dict[str, Any]:
    """Make the script's calls for the kind of question, and extract its answer."""
    kind = script["kinds"].get(question["kind"])
    if kind is None:
        return {"answer": None, "refused": True, "reason": "the script has no calls for this kind"}
    kind = script["kinds"][kind["like"]] if "like" in kind else kind
    values = question["parameters"] | _derive(question["parameters"])
    calls = [client.call(call["tool"], fill(call["arguments"], values)) for call in kind["calls"]]
    seen = {"calls": calls, "p": question["parameters"]}

    def extract(expression: str) -> Any:
        # JMESPath has no way to refer to the root inside a filter.
        for name, value in question["parameters"].items():
            expression = expression.replace(f"$.p.{name}", f"'{value}'")
        return jmespath.search(expression, seen)

    if extract(kind["refused"]):
        return {"answer": None, "refused": True, "reason": extract(kind["reason"])}
    return {"answer": extract(kind["answer"]), "refused": False, "reason": None}


def _derive(p: dict) -> dict[str, Any]:
    """Return the values that scripts may use besides the question's parameters."""
    derived: dict[str, Any] = {"changes": 3, "step_free": False, "when": "arrive" if p.get("arrive_by") else "depart"}
    if "day" in p:
        following = date.fromisoformat(p["day"]) + timedelta(1)
        derived |= {"midnight": f"{p['day']}T00:00:00{OFFSET}", "next_midnight": f"{following}T00:00:00{OFFSET}"}
        derived["instant"] = f"{p['day']}T{p.get('time', '00:00')}:00{OFFSET}"
        begin = datetime.fromisoformat(derived["instant"])
        for name, minutes in (("minute", 0), ("minute_before", -1), ("window_end", p.get("window", 0))):
            derived[name] = f"{begin + timedelta(minutes=minutes):%H:%M}"
    if "line" in p:
        stops = read_town("harbour")[0]["lines"][p["line"]]["stops"]
        derived |= {"line_from": stops[0], "line_to": stops[-1]}
    return derived | {name: p[name] for name in ("changes", "step_free") if name in p}


def fill(template: Any, values: dict[str, Any]) -> Any:
    """Replace ``{name}`` with a value, which keeps its type where nothing else surrounds it."""
    if isinstance(template, dict):
        return {key: fill(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [fill(value, values) for value in template]
    if not isinstance(template, str):
        return template
    if template[:1] == "{" and template[1:-1] in values:
        return values[template[1:-1]]
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", str(value))
    return template


def answer_by_model(client: McpClient, question: dict, now: str) -> dict[str, Any]:
    """Let a model call the tools; MODEL_URL, MODEL_NAME and MODEL_KEY name it."""
    tools = []
    for tool in client.list_tools():
        function = {"name": tool["name"], "description": tool.get("description", ""), "parameters": tool["inputSchema"]}
        tools.append({"type": "function", "function": function})
    messages: list[dict] = [
        {"role": "system", "content": PROMPT.format(now=now)},
        {"role": "user", "content": question["text"]},
    ]
    for _ in range(MAX_CALLS):
        message = _complete({"messages": messages, "tools": tools})
        messages.append(message)
        if not message.get("tool_calls"):
            break
        for call in message["tool_calls"]:
            try:
                result = client.call(call["function"]["name"], json.loads(call["function"]["arguments"]))
            except ValueError as error:
                result = {"error": f"the arguments are not JSON: {error}"}
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)})
    text = messages[-1].get("content") or ""
    try:
        return json.loads(text[text.index("{") : text.rindex("}") + 1])
    except ValueError:
        return {"answer": text, "refused": False, "reason": "the last message is not JSON"}


def _complete(body: dict) -> dict:
    url, key = os.environ["MODEL_URL"].rstrip("/"), os.environ.get("MODEL_KEY", "")
    data = json.dumps({"model": os.environ["MODEL_NAME"], "temperature": 0, **body}).encode()
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    request = urllib.request.Request(f"{url}/chat/completions", data, headers)
    with urllib.request.urlopen(request, timeout=300) as response:
        return json.load(response)["choices"][0]["message"]
