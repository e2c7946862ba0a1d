"""Read a tool's response: its failure, and remarks such as missing values, notes, candidates and warnings."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from fingerpost.contract.envelope import Contract, build_step_fields
from fingerpost.contract.tool import failure_response
from fingerpost.contract.wire import WireDict
from fingerpost.errors import BrokenContract, ToolError, as_sentence
from fingerpost.plan.catalogue import list_choices
from fingerpost.plan.limits import Limits, encode, find_excess
from fingerpost.plan.references import get_at_path

_TRIP_NOTES: Final = ("accessibilityNotes", "disruptionNote", "DisruptionNote")
RemarkKind = Literal["missing", "note", "hint", "did_you_mean", "candidates", "warning"]
# The response fields that contain remarks, at any depth, by kind of remark.
_FIELDS: Final[dict[RemarkKind, tuple[str, ...]]] = {
    "missing": ("missing",),
    "note": (*_TRIP_NOTES, "note", "notes", "explanation", "noResultsReason", "retry_after", "truncated"),
    "hint": ("hint", "recommendation"),
    "did_you_mean": ("did_you_mean",),
    "candidates": ("candidates", "fromLocationDisambiguation", "toLocationDisambiguation"),
    "warning": ("warning", "warnings"),
}
_KINDS_BY_FIELD: Final = {field: kind for kind, fields in _FIELDS.items() for field in fields}
# Fields that echo the call, and fields that the step's record already contains.
_IGNORED_FIELDS: Final = frozenset({"query_type", "parameters", "output_key", "success", "error"})
# Error details that help the caller fix the cause.
_DETAILS = ("missing", "notes", "did_you_mean", "candidates")


def check_response(name: str, response: object, limits: Limits) -> dict[str, Any]:
    """Return a tool's response; raise BrokenContract if it is not a standard response or cannot be stored as JSON."""
    if not isinstance(response, Mapping) or not isinstance(response.get("success"), bool):
        raise BrokenContract(f"{name} did not return a standard response")
    standard = dict(response)
    excess = find_excess(standard, max_bytes=limits.output_bytes, max_depth=limits.depth)
    if excess is not None:
        raise BrokenContract(f"The output of {name} cannot be used: a value in it {excess}")
    return standard


def find_failure(response: Mapping[str, Any]) -> str | None:
    """Return the reason for a failure, or None for a success."""
    if response["success"]:
        return None
    return str(response.get("error") or response.get("warning") or "it failed without a message")


def build_failure(name: str, query_type: str, parameters: Mapping[str, Any], error: ToolError) -> dict[str, Any]:
    details = {detail: error.details[detail] for detail in _DETAILS if error.details.get(detail)}
    extra = build_step_fields(error, Contract.STEP) | details
    return failure_response(name, query_type, parameters, error.message, "error", extra)


class Remark(WireDict):
    """A remark from a step's tool; ``at`` is its path in the response."""

    kind: RemarkKind
    at: str
    value: Any


def list_remarks(response: Any) -> list[Remark]:
    if not isinstance(response, Mapping):
        return []
    # For a failure of type "warning", the step's record already has the message.
    failure_field = "warning" if response.get("success") is False else ""
    fields = {name: value for name, value in response.items() if name not in _IGNORED_FIELDS and name != failure_field}
    # Transit tools return the same body in data and in results.
    order = sorted(fields, key=lambda name: name == "results")
    remarks: dict[tuple[str, str], Remark] = {}
    for remark in _find_remarks({name: fields[name] for name in order}, ""):
        remarks.setdefault((remark["kind"], encode(remark["value"])), remark)
    return list(remarks.values())


def list_remark_sentences(remark: Remark) -> Iterator[str]:
    """Format a remark as sentences that can be read without the response."""
    kind, value = remark["kind"], remark["value"]
    name = remark["at"].rpartition(".")[2]
    if kind == "missing" and isinstance(value, Mapping):
        for name, reason in value.items():
            yield f"missing {name}: {_format_value(reason)}"
    elif kind == "missing":
        yield f"missing: {_format_value(value)}"
    elif kind == "candidates":
        yield f"candidates: {'; '.join(_format_candidate(candidate) for candidate in _to_list(value))}"
    elif kind == "did_you_mean":
        yield f"did you mean {', '.join(_format_value(word) for word in _to_list(value))}?"
    elif isinstance(value, bool | int | float) or name == "noResultsReason":
        yield f"{name}: {_format_value(value)}"
    else:
        yield from map(_format_value, _to_list(value))


def explain_unresolved_path(response: Any, path: list[str] | None) -> str | None:
    """Return a clause that says where an output path stops resolving, or None if the path has a value."""
    if not path or get_at_path(response, path) is not None:
        return None
    resolved_length = next(length for length in range(len(path)) if get_at_path(response, path[: length + 1]) is None)
    parent = get_at_path(response, path[:resolved_length])
    place = f" under {'.'.join(path[:resolved_length])}" if resolved_length else ""
    if isinstance(parent, Mapping) and path[resolved_length] in parent:
        return f"output_path {'.'.join(path)} is null"
    reason = list_choices(map(str, parent), place) if isinstance(parent, Mapping) else f"no object{place}"
    return f"output_path {'.'.join(path)} has no value; {reason}"


def _find_remarks(value: Any, at: str) -> Iterator[Remark]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            path = f"{at}.{name}" if at else str(name)
            if name not in _KINDS_BY_FIELD:
                yield from _find_remarks(item, path)
            elif item is not None and item is not False and item not in ("", [], {}):
                yield Remark(kind=_KINDS_BY_FIELD[name], at=path, value=item)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _find_remarks(item, f"{at}.{number}")


def _to_list(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _format_value(value: Any) -> str:
    """Format failure entries as sentences and other values as JSON; return text unchanged."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and isinstance(value.get("message"), str):
        parts = [value[name] for name in ("message", "next_step", "hint") if value.get(name)]
        if suggestions := value.get("did_you_mean"):
            parts.append(f"Did you mean {', '.join(_format_value(word) for word in _to_list(suggestions))}?")
        return " ".join(as_sentence(str(part)) for part in parts)
    return encode(value)


def _format_candidate(value: Any) -> str:
    if not isinstance(value, Mapping):
        return _format_value(value)
    token = value.get("token") or value.get("id") or value.get("parameterValue")
    coordinate = value.get("coordinate")
    if token is None and isinstance(coordinate, Mapping):
        token = ",".join(str(coordinate[axis]) for axis in ("lat", "lon") if axis in coordinate)
    return f"{value['name']} ({token})" if value.get("name") else str(token or encode(value))
