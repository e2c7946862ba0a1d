"""Cut an answer to the bounds of rule A11: 48 KB of structured content, and a text of 16 KB.

Of a part that is too long the first rows remain, and a notice states their number and how to get the rest.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, islice, takewhile
from typing import Any, NamedTuple

from pydantic_core import PydanticSerializationError, to_json

from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import new_failure
from fingerpost.contract.tool_definition import Answer, Path, ToolDefinition
from fingerpost.errors import ParameterError

MAX_BODY_BYTES = 48_000
MAX_TEXT_BYTES = 16_000
STATED = "Max 48 KB, text 16."
"""The bounds of an answer, for the end of each published description."""

# As in transit/rules/warnings.py, which contracts do not import.
_TRUNCATED = "truncated-results"
# The long parts of failures: quotations, and alternatives.
_FAILURE_PATHS: tuple[Path, ...] = (
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
_FAILURE_HINT = "Send a shorter call."

# Reserved for the notices of a shortened answer.
_NOTICE_BYTES = 400
# A long text is cut in the middle, because notes, sources and the newest rows are at its end.
_HEAD_SHARE = 0.6


class TruncatedPart(NamedTuple):
    """The extent to which a part is shown, and how to get the rest; ``part`` is its path with dots."""

    part: str
    shown: int
    total: int
    rest: str

    def to_sentence(self) -> str:
        """Return the notice for texts and warnings."""
        return f"{self.part}: the first {self.shown:,} of {self.total:,} are here. {self.rest}"


def bound_answer(answer: Answer, tool: ToolDefinition) -> Answer:
    """Return an answer of at most 48 KB with a text of at most 16 KB; smaller ones unchanged.

    An answer that cannot be shortened so far becomes an error with a hint on how to request less.
    """
    if answer.output is not None:
        paths, hint = answer.output.truncatable_paths, answer.output.continuation_hint
    else:
        paths, hint = _FAILURE_PATHS, _FAILURE_HINT
        if isinstance(answer.body.get("error"), str):
            paths = (("error",), *paths)
    try:
        body, truncated = _bound_body(answer.body, paths, hint)
    except ParameterError as error:
        return new_failure(error, tool.contract, answer.correlation_id, tool=tool.name)
    if truncated and answer.error is None:
        body = _note(body, truncated, tool)
    text = _bound_text(answer.text, hint, [f"! {part.to_sentence()}" for part in truncated])
    if body is answer.body and text == answer.text:
        return answer
    return replace(answer, body=body, text=text)


def _note(body: dict[str, Any], truncated: Sequence[TruncatedPart], tool: ToolDefinition) -> dict[str, Any]:
    sentences = [part.to_sentence() for part in truncated]
    if tool.contract is Contract.STEP:
        return {**body, "left_out": [part._asdict() for part in truncated]}
    if tool.contract is Contract.LONDON:
        return {**body, "message": " ".join([body["message"], *sentences])}
    *holder, key = tool.warnings_path
    holding: Mapping[str, Any] = body.get(holder[0], {}) if holder else body
    warnings = holding.get(key, ())
    # There is one entry a code (rule A2).
    before = [warning["message"] for warning in warnings if warning["code"] == _TRUNCATED]
    others = [warning for warning in warnings if warning["code"] != _TRUNCATED]
    noted = {**holding, key: [*others, {"code": _TRUNCATED, "message": " ".join([*before, *sentences])}]}
    return {**body, holder[0]: noted} if holder else noted


def _bound_body(body: dict[str, Any], paths: Sequence[Path], hint: str) -> tuple[dict[str, Any], list[TruncatedPart]]:
    """Return a body within the bound and its truncated parts.

    The parts at ``paths`` share the room evenly; a part that needs less than its share is not cut.
    """
    whole_bytes = _count_bytes(body)
    if whole_bytes <= MAX_BODY_BYTES:
        return body, []
    truncated: list[TruncatedPart] = []
    # Answers of the plan-step contract echo their parameters.
    parts = [part for path in (*paths, ("parameters",)) for part in _find_parts(body, path)]
    sizes = [_count_bytes(value) for _, value in parts]
    share = _find_share(sizes, MAX_BODY_BYTES - (whole_bytes - sum(sizes)) - _NOTICE_BYTES - 120 * len(parts))
    for (path, value), part_bytes in zip(parts, sizes, strict=True):
        if part_bytes > share:
            short = _truncate(value, share)
            body = _replace_part(body, path, short)
            truncated.append(TruncatedPart(".".join(path), len(short), len(value), hint))
    if _count_bytes(body) > MAX_BODY_BYTES:
        raise ParameterError(
            f"the answer takes {whole_bytes:,} bytes, more than the {MAX_BODY_BYTES:,} that an answer may have",
            hint=hint,
        )
    return body, truncated


def _find_parts(body: Any, path: Path, before: Path = ()) -> Iterator[tuple[Path, Any]]:
    if not isinstance(body, dict):
        return
    for key in body if path[0] == "*" else path[:1]:
        value = body.get(key)
        if len(path) > 1:
            yield from _find_parts(value, path[1:], (*before, key))
        elif isinstance(value, list | dict | str):
            yield (*before, key), value


def _replace_part(body: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    key, *inner = path
    return {**body, key: _replace_part(body[key], tuple(inner), value) if inner else value}


def _find_share(sizes: Sequence[int], room: int) -> int:
    left = max(room, 0)
    for at, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - at)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def _truncate(value: Any, max_bytes: int) -> Any:
    """Return the first entries or characters of a value."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace")[: max(max_bytes - 10, 0)].decode("utf-8", "ignore")
    if isinstance(value, dict):
        items = list(value.items())
        return dict(items[: count_fitting(items, max_bytes)])
    return value[: count_fitting(value, max_bytes)]


def count_fitting(entries: Sequence[Any], max_bytes: int) -> int:
    """Return how many of the first entries take at most so many bytes as JSON."""
    totals = accumulate((1 + _count_bytes(entry) for entry in entries), initial=2)
    return sum(1 for _ in takewhile(lambda total: total <= max_bytes, islice(totals, 1, None)))


def _count_bytes(value: Any) -> int:
    """Return the bytes of a value as minified JSON."""
    try:
        return len(to_json(value))
    except PydanticSerializationError:
        # A lone surrogate from a caller's JSON has no UTF-8; as an escape it takes six bytes.
        return len(repr(value).encode("utf-8", "surrogatepass"))


def _bound_text(text: str, hint: str, notices: Sequence[str]) -> str:
    """Return a text within the bound that ends with the notices and states how much of it is left out."""
    stated = "\n".join([text, *notices])
    raw = stated.encode("utf-8", "replace")
    if len(raw) <= MAX_TEXT_BYTES:
        return stated
    room = MAX_TEXT_BYTES - _NOTICE_BYTES - len(hint.encode())
    head_bytes = int(room * _HEAD_SHARE)
    # Cut between words, because half a figure would be a wrong one.
    head, tail = raw[:head_bytes].rsplit(None, 1)[0], raw[head_bytes - room :].split(None, 1)[-1]
    left_out = len(raw) - len(head) - len(tail)
    notice = f"… [{left_out:,} of {len(raw):,} bytes are left out of this text here. {hint}] …"
    return "\n".join([head.decode("utf-8", "ignore"), notice, tail.decode("utf-8", "ignore")])
