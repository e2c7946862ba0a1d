"""Truncate answers to the limits of rule A11: 48 KB of structured content, and 16 KB of text.

If a part is too long, only its first rows are returned; a notice gives the total and explains how to get the rest.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, islice, takewhile
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import Answer, Path, ToolDefinition, new_failure
from fingerpost.contract.wire import TruncationNotice, Wire
from fingerpost.errors import ParameterError

MAX_BODY_BYTES = 48_000
MAX_TEXT_BYTES = 16_000
SIZE_NOTE = "Max 48 KB, text 16 KB."
"""The size limits, appended to each tool's published description."""

# Equals the warning code in transit/rules/warnings.py, which the contract layer does not import.
_TRUNCATED = "truncated-results"
# The parts of failures that may be long.
_FAILURE_PATHS: tuple[Path, ...] = (
    *(("error", part) for part in ("message", "candidates")),
    *(("error", "details", part) for part in ("candidates", "errors")),
    *((part,) for part in ("warning", "hint", "candidates", "missing", "results")),
    *(("data", part) for part in ("steps", "values")),
)

# Reserved for the notices in a truncated answer.
_NOTICE_BYTES = 400
# Long text is cut in the middle, because notes, sources and the newest rows are at its end.
_HEAD_FRACTION = 0.6


def _format_notice(notice: TruncationNotice) -> str:
    return f"{notice['part']}: the first {notice['shown']:,} of {notice['total']:,} are shown. {notice['rest']}"


def bound_answer(answer: Answer, tool: ToolDefinition) -> Answer:
    """Truncate an answer to 48 KB and its text to 16 KB; smaller answers are unchanged.

    An answer that is still too large becomes an error with a hint on how to request less.
    """
    if answer.output is not None:
        paths, hint = answer.output.truncatable_paths, answer.output.continuation_hint
    else:
        paths, hint = _FAILURE_PATHS, "Send a smaller request."
        if isinstance(answer.body.get("error"), str):
            paths = (("error",), *paths)
    try:
        body, truncated = _bound_body(answer.body, paths, hint)
    except ParameterError as error:
        return new_failure(error, tool.contract, answer.correlation_id, tool=tool.name)
    if truncated and answer.error is None:
        body = _add_notices(body, truncated, tool)
    text = _bound_text(answer.text, hint, [f"! {_format_notice(notice)}" for notice in truncated])
    if body is answer.body and text == answer.text:
        return answer
    return replace(answer, body=body, text=text)


def _add_notices(body: dict[str, Any], truncated: Sequence[TruncationNotice], tool: ToolDefinition) -> dict[str, Any]:
    sentences = [_format_notice(notice) for notice in truncated]
    if tool.contract is Contract.STEP:
        return {**body, "left_out": truncated}
    if tool.contract is Contract.LONDON:
        return {**body, "message": " ".join([body["message"], *sentences])}
    warnings: list[dict[str, Any]] = next((value for _, value in _find_parts(body, tool.warnings_path)), [])
    # An answer has at most one warning with each code (rule A2).
    earlier_messages = [warning["message"] for warning in warnings if warning["code"] == _TRUNCATED]
    others = [warning for warning in warnings if warning["code"] != _TRUNCATED]
    notice = {"code": _TRUNCATED, "message": " ".join([*earlier_messages, *sentences])}
    return _replace_part(body, tool.warnings_path, [*others, notice])


def _bound_body(body: Wire, paths: Sequence[Path], hint: str) -> tuple[Wire, list[TruncationNotice]]:
    """Truncate a body to the limit; return it with a notice for each truncated part.

    The parts at ``paths`` share the limit evenly; a part smaller than its share is not truncated.
    """
    body_bytes = _count_bytes(body)
    if body_bytes <= MAX_BODY_BYTES:
        return body, []
    truncated: list[TruncationNotice] = []
    # Answers in the plan-step contract repeat the parameters, which may be long too.
    parts = [part for path in (*paths, ("parameters",)) for part in _find_parts(body, path)]
    sizes = [_count_bytes(value) for _, value in parts]
    share = _find_share(sizes, MAX_BODY_BYTES - (body_bytes - sum(sizes)) - _NOTICE_BYTES - 120 * len(parts))
    for (path, value), part_bytes in zip(parts, sizes, strict=True):
        if part_bytes > share:
            truncated_value = _truncate(value, share)
            body = _replace_part(body, path, truncated_value)
            truncated.append({"part": ".".join(path), "shown": len(truncated_value), "total": len(value), "rest": hint})
    if _count_bytes(body) > MAX_BODY_BYTES:
        raise ParameterError(f"the answer is {body_bytes:,} bytes, but the limit is {MAX_BODY_BYTES:,}", hint=hint)
    return body, truncated


def _find_parts(body: Any, path: Path, prefix: Path = ()) -> Iterator[tuple[Path, Any]]:
    if not isinstance(body, dict):
        return
    for key in body if path[0] == "*" else path[:1]:
        value = body.get(key)
        if len(path) > 1:
            yield from _find_parts(value, path[1:], (*prefix, key))
        elif isinstance(value, list | dict | str):
            yield (*prefix, key), value


def _replace_part(body: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    key, *inner = path
    return {**body, key: _replace_part(body.get(key, {}), tuple(inner), value) if inner else value}


def _find_share(sizes: Sequence[int], room: int) -> int:
    free_bytes = max(room, 0)
    for index, size in enumerate(sorted(sizes)):
        share = free_bytes // (len(sizes) - index)
        if size > share:
            return share
        free_bytes -= size
    return max(sizes, default=0)


def _truncate(value: Any, max_bytes: int) -> Any:
    """Return as many of a value's first entries or characters as fit."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace")[: max(max_bytes - 10, 0)].decode("utf-8", "ignore")
    if isinstance(value, dict):
        items = list(value.items())
        return dict(items[: count_fitting(items, max_bytes)])
    return value[: count_fitting(value, max_bytes)]


def count_fitting(entries: Sequence[Any], max_bytes: int) -> int:
    """Return how many of the first entries fit into ``max_bytes`` of JSON."""
    totals = accumulate((1 + _count_bytes(entry) for entry in entries), initial=2)
    return sum(1 for _ in takewhile(lambda total: total <= max_bytes, islice(totals, 1, None)))


def _count_bytes(value: Any) -> int:
    """Return the size of a value as minified JSON."""
    try:
        return len(to_json(value))
    except PydanticSerializationError:
        # UTF-8 cannot encode a lone surrogate from a caller's JSON; its escape takes six bytes.
        return len(repr(value).encode("utf-8", "surrogatepass"))


def _bound_text(text: str, hint: str, notices: Sequence[str]) -> str:
    """Append the notices; if the text then exceeds the limit, cut out its middle."""
    full_text = "\n".join([text, *notices])
    raw = full_text.encode("utf-8", "replace")
    if len(raw) <= MAX_TEXT_BYTES:
        return full_text
    room = MAX_TEXT_BYTES - _NOTICE_BYTES - len(hint.encode())
    head_bytes = int(room * _HEAD_FRACTION)
    # Cut between words, because a truncated number would be wrong.
    head, tail = raw[:head_bytes].rsplit(None, 1)[0], raw[head_bytes - room :].split(None, 1)[-1]
    omitted_bytes = len(raw) - len(head) - len(tail)
    notice = f"… [{omitted_bytes:,} of {len(raw):,} bytes are left out here. {hint}] …"
    return "\n".join([head.decode("utf-8", "ignore"), notice, tail.decode("utf-8", "ignore")])
