"""Write questions.json from parameters.toml: each question, with the oracle's answer."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import oracle

from worlds import FOLDER

_TRIP = "I am at stop {from} on {day} at {time}. When can I be at stop {to} at the earliest, on the same day?"
_FIGURE = "What was {metric} of {ticker} in fiscal {period}?"
# Each kind's question, and the oracle's function.
KINDS = {
    "trip": (_TRIP, oracle.answer_trip),
    "realtime": (_TRIP, oracle.answer_trip),
    "unsolvable": (_TRIP, oracle.answer_trip),
    "wishes": ("From stop {from} to stop {to} on {day}: {wish}?", oracle.answer_trip),
    "board": (
        "What leaves stop {stop} from {time}, for {window} minutes? List [line, planned time, status].",
        oracle.answer_board,
    ),
    "day": ("When is the {what} departure of line {line} from stop {stop} on {day}?", oracle.answer_timetable),
    "count": ("How often does line {line} leave stop {stop} on {day}, in any direction?", oracle.answer_timetable),
    "lines": ("Which lines leave stop {stop} on {day}?", oracle.answer_lines),
    "nearest": ("Which stop is nearest to {lat},{lon}? Give its id.", oracle.answer_nearest),
    "alert": ("Is line {line} disrupted now? Give the announcement, or refuse if there is none.", oracle.answer_alert),
    "place": ("Which stops are called {text}? List the ids of all.", oracle.answer_places),
    "figure": (_FIGURE, oracle.answer_figure),
    "missing": (_FIGURE, oracle.answer_figure),
    "as_of": ("What was {metric} of {ticker} in fiscal {period}, as known on {as_of}?", oracle.answer_figure),
    "formula": ("What was {formula} of {ticker} in fiscal {period}?", oracle.answer_formula),
    "claim": (
        "{metric} of {ticker} in fiscal {period} was {value} {scale}: confirmed, contradicted, or cannot judge?",
        oracle.answer_claim,
    ),
}


def list_questions() -> Iterator[tuple[str, str, dict[str, Any], str | None]]:
    """Yield the kind, the world, the parameters and the pair of each question."""
    asks = tomllib.loads((FOLDER / "parameters.toml").read_text(encoding="utf-8"))["ask"]
    for number, ask in enumerate(asks):
        for index, row in enumerate(ask["rows"]):
            parameters = ask.get("common", {}) | dict(zip(ask["fields"], row, strict=True))
            world, pair = parameters.pop("world", "harbour"), None
            if "twin" in ask:
                pair = f"{number}-{index}"
                yield ask["twin"], "harbour", parameters, pair
            elif ask.get("pairs"):
                pair = f"{number}-{index // 2}"
            yield ask["kind"], world, parameters, pair


def build_questions() -> list[dict[str, Any]]:
    questions = []
    for number, (kind, world, parameters, pair) in enumerate(list_questions(), 1):
        text, answer = KINDS[kind]
        values = {name: str(value).format(**parameters) for name, value in parameters.items()}
        question = {"id": f"q{number:03}", "kind": kind, "world": world, "pair": pair, "text": text.format(**values)}
        questions.append(question | {"parameters": parameters, "expected": answer(world, parameters)})
    return questions


def format_questions() -> str:
    return "[\n" + ",\n".join(json.dumps(question, ensure_ascii=False) for question in build_questions()) + "\n]\n"


if __name__ == "__main__":
    Path(FOLDER, "questions.json").write_text(format_questions(), encoding="utf-8")
