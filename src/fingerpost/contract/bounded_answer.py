"""Hold an answer to the bounds of rule A11, and say in it and in its text what was left out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fingerpost.contract.envelope import render_error, text_of_error
from fingerpost.contract.published import Answer, PublishedTool
from fingerpost.contract.size_bounds import LeftOut, Path, bound_body, bound_text
from fingerpost.errors import ToolError

# As in transit/rules/warnings.py, which contracts do not import.
_TRUNCATED = "truncated-results"
# What of a failure may be long: what it quotes, and what it offers instead.
_OF_FAILURES: tuple[Path, ...] = (
    ("error",),
    ("warning",),
    ("hint",),
    ("error", "message"),
    ("error", "candidates"),
    ("error", "details", "candidates"),
    ("error", "details", "errors"),
    ("candidates",),
    ("missing",),
    ("results",),
    ("data", "steps"),
    ("data", "values"),
)
_REST_OF_FAILURES = "Send a shorter call."


def bound_answer(answer: Answer, tool: PublishedTool | None) -> Answer:
    """Return an answer of at most 48 KB with a text of at most 16 KB; one that is small enough as it is.

    What cannot be shortened so far becomes an error that says how to ask for less.
    """
    is_whole = answer.error is None and tool is not None
    rest = tool.rest_of(answer.body) if tool is not None and is_whole else _REST_OF_FAILURES
    paths = tool.paths_of(answer.body) if tool is not None and is_whole else _OF_FAILURES
    try:
        body, left_out = bound_body(answer.body, paths, rest)
    except ToolError as error:
        if tool is None:
            raise
        body = render_error(error, tool.family, answer.correlation_id, tool=tool.name)
        text = text_of_error(error, tool.family)
        return Answer(body=body, text=text, is_error=True, correlation_id=answer.correlation_id, error=error)
    if left_out and is_whole:
        body = _note(body, left_out)
    text = bound_text(answer.text, rest, [f"! {each.say()}" for each in left_out])
    if body is answer.body and text == answer.text:
        return answer
    return replace(answer, body=body, text=text)


def _note(body: Mapping[str, Any], left_out: Sequence[LeftOut]) -> dict[str, Any]:
    """Return a body that says what it lacks: the plan-step contract's at the top, others among their warnings."""
    if "query_type" in body:
        return {**body, "left_out": [each._asdict() for each in left_out]}
    if "metadata" in body:
        metadata = body["metadata"]
        return {**body, "metadata": {**metadata, "warnings": _warned(metadata.get("warnings", ()), left_out)}}
    if "topJourneys" in body:
        return {**body, "message": " ".join([body["message"], *(each.say() for each in left_out)])}
    if "needsClarification" in body:
        meta = body.get("meta", {})
        return {**body, "meta": {**meta, "warnings": _warned(meta.get("warnings", ()), left_out)}}
    return {**body, "warnings": _warned(body.get("warnings", ()), left_out)}


def _warned(warnings: Sequence[Mapping[str, Any]], left_out: Sequence[LeftOut]) -> list[Mapping[str, Any]]:
    """Return warnings with what was left out; there is one entry a code (rule A2)."""
    said = [each["message"] for each in warnings if each["code"] == _TRUNCATED]
    message = " ".join([*said, *(each.say() for each in left_out)])
    return [
        *(each for each in warnings if each["code"] != _TRUNCATED),
        {"code": _TRUNCATED, "message": message},
    ]
