"""Score an MCP server on the 150 questions, with a scripted agent or a model: see README.md in this folder."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from agents import answer_by_model, answer_by_script, fill
from mcp_client import McpClient

from worlds import FOLDER, read_town, write_feed, write_realtime

ZONE = ZoneInfo("Europe/Helsinki")
# Statuses without a fact in the world's real time.
SCHEDULED = {"on_time", "scheduled_only", "scheduled"}


def normalize(value: Any, kind: str) -> Any:
    """Return a value in the questions' form: times as HH:MM, ids without a network, lists without an order."""
    if isinstance(value, list):
        items = [normalize(item, kind) for item in value]
        if kind == "board":
            return items if items and not isinstance(items[0], list) else sorted(items)
        return sorted(set(items), key=str)
    if not isinstance(value, str):
        return value
    if len(value) > 16 and value[10] == "T":
        return f"{datetime.fromisoformat(value).astimezone(ZONE):%H:%M}"
    if len(value) == 8 and value[2] == value[5] == ":":
        return value[:5]
    if kind == "board" and value in SCHEDULED:
        return "scheduled"
    return value.rpartition(":")[2] if kind in ("nearest", "place") else value.replace("_", " ")


def score(question: dict, given: dict) -> int:
    """Return 1 for a right answer or refusal, 0 for a refusal where an answer exists, and -1 for a wrong answer."""
    expected, answer = question["expected"], normalize(given.get("answer"), question["kind"])
    if given.get("refused") or answer is None:
        return int(expected is None)
    expected = normalize(expected, question["kind"])
    if isinstance(expected, float) or (isinstance(expected, int) and isinstance(answer, float)):
        return 1 if isinstance(answer, int | float) and abs(answer - expected) <= 5e-4 * max(1, abs(expected)) else -1
    return 1 if answer == expected else -1


def run_world(world: str, questions: list[dict], script: dict, options: argparse.Namespace) -> list[dict]:
    """Start a server on a world, and answer its questions."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {
            name: str(Path(folder, file))
            for name, file in (("feed", "feed.zip"), ("realtime", "realtime.pb"), ("home", "home"))
        }
        now = read_town("harbour")[0]["now"]
        values = paths | {"now": now, "python": sys.executable, "folder": str(options.script.parent)}
        environment = fill(script.get("environment", {}), values)
        if world != "filings":
            write_feed(world, Path(paths["feed"]))
            has_realtime = world.startswith("harbour/") and write_realtime(world, Path(paths["realtime"]))
            for command in script.get("setup", []):
                added = script.get("setup_realtime", []) if has_realtime else []
                subprocess.run(
                    fill(command + added, values), env=os.environ | environment, check=True, stdout=subprocess.DEVNULL
                )
        results = []
        with McpClient(options.url or fill(script["command"], values), environment) as client:
            for question in questions:
                begin, calls, characters = time.perf_counter(), client.calls, client.characters
                given = (
                    answer_by_model(client, question, now)
                    if options.model
                    else answer_by_script(client, script, question)
                )
                cost = {
                    "calls": client.calls - calls,
                    "characters": client.characters - characters,
                    "seconds": time.perf_counter() - begin,
                }
                results.append({"question": question, "given": given, "points": score(question, given), **cost})
        return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--script", type=Path, default=FOLDER / "fingerpost.toml", help="How to start and call the server."
    )
    parser.add_argument("--url", help="Call the server at this URL instead of starting one; it must serve the world.")
    parser.add_argument("--world", help="Ask only about one world, such as harbour.")
    parser.add_argument("--model", action="store_true", help="Use the model of MODEL_URL, MODEL_NAME and MODEL_KEY.")
    parser.add_argument("--verbose", action="store_true", help="Print each answer that is not right.")
    options = parser.parse_args()
    script = tomllib.loads(options.script.read_text(encoding="utf-8"))
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    worlds = defaultdict(list)
    for question in json.loads((FOLDER / "questions.json").read_text(encoding="utf-8")):
        if options.world in (None, question["world"]):
            worlds[question["world"]].append(question)
    results = [result for world, questions in worlds.items() for result in run_world(world, questions, script, options)]
    print_scores(results, is_verbose=options.verbose)
    return 0


def print_scores(results: list[dict], *, is_verbose: bool) -> None:
    kinds, pairs = defaultdict(list), defaultdict(list)
    for result in results:
        question, points = result["question"], result["points"]
        kinds[question["kind"]].append(points)
        pairs[question["pair"] or question["id"]].append(points)
        if is_verbose and points < 1:
            print(f"{question['id']} {question['world']}: {question['text']}")
            print(f"  expected {question['expected']!r}, got {result['given']}")
    print("| kind | questions | right | refused | wrong |\n|---|---|---|---|---|")
    for kind, points in [*kinds.items(), ("all", [point for each in kinds.values() for point in each])]:
        print(f"| {kind} | {len(points)} | {points.count(1)} | {points.count(0)} | {points.count(-1)} |")
    complete = sum(min(points) == 1 for points in pairs.values())
    per = {name: sum(result[name] for result in results) / len(results) for name in ("calls", "characters", "seconds")}
    print(f"\nRight with both twins: {complete} of {len(pairs)}.")
    print("Per question: " + ", ".join(f"{value:,.1f} {name}" for name, value in per.items()) + ".")


if __name__ == "__main__":
    sys.exit(main())
