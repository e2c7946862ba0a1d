"""The bounds of every answer (rule A11): its structured content, its text, and what is said where they cut something.

A part of an answer that may be shortened is named by its path: keys, or ``*`` for every key of an object.
What is too long keeps its first rows, and a notice says how many there are and how to get the rest.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from pydantic_core import PydanticSerializationError, to_json

from fingerpost.contract.envelope import Contract, render_error, text_of_error
from fingerpost.contract.tool_definition import Answer, Path, ToolDefinition
from fingerpost.errors import ParameterError

MOST_BODY_BYTES = 48_000
MOST_TEXT_BYTES = 16_000
STATED = "Max 48 KB, text 16."
"""The bounds of an answer, at the end of each published description."""

# As in transit/rules/warnings.py, which contracts do not import.
_TRUNCATED = "truncated-results"
# What of a failure may be long: what it quotes, and what it offers instead.
_OF_FAILURES: tuple[Path, ...] = (
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

# A shortened answer keeps this free for the notices of what was left out.
_NOTICE_BYTES = 400
# Of what a caller sent, a value that is longer is not echoed in an answer that is too large.
_ECHO_BYTES = 1_000
_LINE_BYTES = 4_000
# A text that is too long keeps lines from both ends: what ends it are notes, sources, and the newest of a series.
_HEAD_SHARE = 0.6


class ShortenedPart(NamedTuple):
    """How much of a part is shown, and how to get the rest; ``part`` is its path with dots."""

    part: str
    shown: int
    total: int
    rest: str

    def say(self) -> str:
        """Return it as a sentence."""
        return f"{self.part}: the first {self.shown:,} of {self.total:,} are here. {self.rest}"


@dataclass(frozen=True, slots=True)
class _LongPart:
    holder: dict[str, Any]
    key: str
    path: str

    @property
    def value(self) -> Any:
        return self.holder[self.key]


def bound_answer(answer: Answer, tool: ToolDefinition) -> Answer:
    """Return an answer of at most 48 KB with a text of at most 16 KB; one that is small enough as it is.

    An answer that cannot be shortened so far becomes an error that says how to ask for less.
    """
    if answer.output is not None:
        paths, rest = answer.output.truncatable_paths, answer.output.continuation_hint
    else:
        paths, rest = _OF_FAILURES, _REST_OF_FAILURES
        if isinstance(answer.body.get("error"), str):
            paths = (("error",), *paths)
    try:
        body, left_out = bound_body(answer.body, paths, rest)
    except ParameterError as error:
        body = render_error(error, tool.contract, answer.correlation_id, tool=tool.name)
        text = text_of_error(error, tool.contract)
        return replace(answer, body=body, text=text, is_error=True, error=error, extras={}, output=None)
    if left_out and answer.error is None:
        body = _note(body, left_out, tool)
    text = bound_text(answer.text, rest, [f"! {part.say()}" for part in left_out])
    if body is answer.body and text == answer.text:
        return answer
    return replace(answer, body=body, text=text)


def _note(body: dict[str, Any], left_out: Sequence[ShortenedPart], tool: ToolDefinition) -> dict[str, Any]:
    sentences = [part.say() for part in left_out]
    if tool.contract is Contract.STEP:
        return {**body, "left_out": [part._asdict() for part in left_out]}
    if tool.contract is Contract.LONDON:
        return {**body, "message": " ".join([body["message"], *sentences])}
    *holder, key = tool.warnings_path
    holding: Mapping[str, Any] = body.get(holder[0], {}) if holder else body
    warnings = holding.get(key, ())
    # There is one entry a code (rule A2).
    said = [warning["message"] for warning in warnings if warning["code"] == _TRUNCATED]
    others = [warning for warning in warnings if warning["code"] != _TRUNCATED]
    noted = {**holding, key: [*others, {"code": _TRUNCATED, "message": " ".join([*said, *sentences])}]}
    return {**body, holder[0]: noted} if holder else noted


def size_of(value: Any) -> int:
    """Return how many bytes a value takes as minified JSON."""
    try:
        return len(to_json(value))
    except PydanticSerializationError:
        # A lone surrogate from a caller's JSON has no UTF-8; as an escape it takes six bytes.
        return len(repr(value).encode("utf-8", "surrogatepass"))


def bound_body(
    body: dict[str, Any], paths: Sequence[Path], rest: str, *, most: int = MOST_BODY_BYTES
) -> tuple[dict[str, Any], list[ShortenedPart]]:
    """Return a body of at most ``most`` bytes, and what it lacks; one that is small enough as it is.

    The parts at ``paths`` share the room evenly: what needs less than its share stays whole.

    Raises:
        ParameterError: it is too large even without its rows.
    """
    size = size_of(body)
    if size <= most:
        return body, []
    whole, body = body, _copied(body, paths)
    _shorten_echo(body)
    size = size_of(body)
    found: list[ShortenedPart] = []
    if size > most:
        parts = [part for path in paths for part in _parts_at(body, path)]
        sizes = [size_of(part.value) for part in parts]
        room = most - (size - sum(sizes)) - _NOTICE_BYTES - 120 * len(parts)
        share = _share_of(sizes, room)
        for part, taken in zip(parts, sizes, strict=True):
            if taken > share:
                total, shown = len(part.value), _shorten(part, share)
                found.append(ShortenedPart(part.path, shown, total, rest))
    if size_of(body) > most:
        raise ParameterError(
            f"the answer takes {size_of(whole):,} bytes, more than the {most:,} that an answer may have", hint=rest
        )
    return body, found


def bound_text(text: str, rest: str, notices: Sequence[str] = (), *, most: int = MOST_TEXT_BYTES) -> str:
    """Return a text of at most ``most`` bytes that ends with the notices; where lines are left out it says how many."""
    lines = [*text.split("\n"), *notices]
    if _bytes_of(lines) <= most:
        return "\n".join(lines)
    lines = [_clip(line) for line in lines]
    if _bytes_of(lines) <= most:
        return "\n".join(lines)
    room = most - _NOTICE_BYTES - len(rest.encode())
    head = _count_fitting(lines, int(room * _HEAD_SHARE))
    tail = _count_fitting(lines[:head:-1], room - _bytes_of(lines[:head]))
    left_out = len(lines) - head - tail
    notice = f"[{left_out:,} of {len(lines):,} lines are left out of this text here. {rest}]"
    return "\n".join([*lines[:head], notice, *lines[len(lines) - tail :]])


def _copied(value: dict[str, Any], paths: Sequence[Path]) -> dict[str, Any]:
    """Return an object whose parts can be replaced without touching the one it was made from."""
    below: dict[str, list[Path]] = {}
    for path in paths:
        for key in value if path[0] == "*" else path[:1]:
            below.setdefault(key, []).append(path[1:])
    copied = dict(value)
    for key, inner in below.items():
        if isinstance(copied.get(key), dict):
            copied[key] = _copied(copied[key], [path for path in inner if path])
    return copied


def _parts_at(body: Any, path: Path, before: Path = ()) -> Iterator[_LongPart]:
    if not isinstance(body, dict):
        return
    for key in list(body) if path[0] == "*" else path[:1]:
        here = (*before, key)
        if len(path) > 1:
            yield from _parts_at(body.get(key), path[1:], here)
        elif isinstance(body.get(key), list | dict | str):
            yield _LongPart(body, key, ".".join(here))


def _share_of(sizes: Sequence[int], room: int) -> int:
    left = max(room, 0)
    for at, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - at)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def _shorten(part: _LongPart, most: int) -> int:
    value = part.value
    if isinstance(value, str):
        part.holder[part.key] = value.encode("utf-8", "replace")[: max(most - 10, 0)].decode("utf-8", "ignore")
        return len(part.holder[part.key])
    taken, shown = 2, 0
    for key in value:
        taken += 1 + (size_of(key) + 1 + size_of(value[key]) if isinstance(value, dict) else size_of(key))
        if taken > most:
            break
        shown += 1
    part.holder[part.key] = dict(list(value.items())[:shown]) if isinstance(value, dict) else value[:shown]
    return shown


def _shorten_echo(body: dict[str, Any]) -> None:
    """Replace what is long of the parameters that a plan-step answer echoes: the caller has them."""
    echo = body.get("parameters")
    if isinstance(echo, dict) and size_of(echo) > _ECHO_BYTES:
        left, shown = _ECHO_BYTES, {}
        for key, value in echo.items():
            size = size_of(key) + size_of(value)
            if size <= left:
                shown[key] = value
                left -= size
            elif len(key) <= 50 and len(shown) < 50:
                shown[key] = f"… {size_of(value):,} bytes, as they were sent"
        body["parameters"] = shown


def _clip(line: str) -> str:
    raw = line.encode("utf-8", "replace")
    if len(raw) <= _LINE_BYTES:
        return line
    shown = raw[:_LINE_BYTES].decode("utf-8", "ignore")
    return f"{shown}… ({len(line) - len(shown):,} more characters of this line are left out)"


def _bytes_of(lines: Sequence[str]) -> int:
    return sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)


def _count_fitting(lines: Sequence[str], room: int) -> int:
    for count, line in enumerate(lines):
        room -= len(line.encode("utf-8", "replace")) + 1
        if room < 0:
            return count
    return len(lines)
