"""Collect a tool's remarks (missing values, notes, hints, suggestions, candidates, warnings), which runs list apart."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from fingerpost.errors import as_sentence
from fingerpost.plan.catalogue import listed
from fingerpost.plan.limits import encode
from fingerpost.plan.references import walk

# The fields of a response that contain remarks, at any depth.
_KIND_OF: Final = {
    "missing": "missing",
    "note": "note",
    "notes": "note",
    "accessibilityNotes": "note",
    "disruptionNote": "note",
    "DisruptionNote": "note",
    "explanation": "note",
    "noResultsReason": "note",
    "retry_after": "note",
    "truncated": "note",
    "hint": "hint",
    "recommendation": "hint",
    "did_you_mean": "did_you_mean",
    "candidates": "candidates",
    "fromLocationDisambiguation": "candidates",
    "toLocationDisambiguation": "candidates",
    "warning": "warning",
    "warnings": "warning",
}
# Fields that echo the call, and fields that the step's record already contains.
_IGNORED_FIELDS: Final = frozenset({"query_type", "parameters", "output_key", "success", "error"})


class Remark(NamedTuple):
    """One remark of a tool; ``at`` is its dotted path in the response, ``kind`` a value of ``_KIND_OF``."""

    kind: str
    at: str
    value: Any


def list_remarks(response: Any) -> list[Remark]:
    if not isinstance(response, Mapping):
        return []
    # The step's record already has the message of a failure of type "warning".
    own = "warning" if response.get("success") is False else ""
    others = {name: value for name, value in response.items() if name not in _IGNORED_FIELDS and name != own}
    # A transit tool's body is under data, and again as the only result.
    order = sorted(others, key=lambda name: name == "results")
    found: dict[tuple[str, str], Remark] = {}
    for remark in _walk({name: others[name] for name in order}, ""):
        found.setdefault((remark.kind, encode(remark.value)), remark)
    return list(found.values())


def list_remark_sentences(remark: Remark) -> Iterator[str]:
    """Yield the sentences of a remark for readers who do not see the response."""
    kind, at, value = remark
    name = at.rpartition(".")[2]
    if kind == "missing" and isinstance(value, Mapping):
        for name, why in value.items():
            yield f"missing {name}: {_format_value(why)}"
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


def details_of(response: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind, _at, value in list_remarks(response):
        if kind in ("missing", "did_you_mean", "candidates"):
            found.setdefault(kind, value)
    return found


def find_unresolved_path(response: Any, path: list[str] | None) -> str | None:
    """Return where an output path ends without a value, and the fields there; None if it has a value."""
    if not path or walk(response, path) is not None:
        return None
    known = next(length for length in range(len(path)) if walk(response, path[: length + 1]) is None)
    here = walk(response, path[:known])
    place = f"under {'.'.join(path[:known])} " if known else ""
    if isinstance(here, Mapping) and path[known] in here:
        return f"output_path {'.'.join(path)} leads to null"
    there = listed(map(str, here)) if isinstance(here, Mapping) else "there is no object"
    return f"output_path {'.'.join(path)} finds nothing; {place}{there}"


def _walk(value: Any, at: str) -> Iterator[Remark]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            here = f"{at}.{name}" if at else str(name)
            if name not in _KIND_OF:
                yield from _walk(item, here)
            elif item is not None and item is not False and item not in ("", [], {}):
                yield Remark(_KIND_OF[name], here, item)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _walk(item, f"{at}.{number}")


def _to_list(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _format_value(value: Any) -> str:
    """Return a text unchanged, our own failures as sentences, and any other value as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and isinstance(value.get("message"), str):
        parts = [value[name] for name in ("message", "next_step", "hint") if value.get(name)]
        if suggested := value.get("did_you_mean"):
            parts.append(f"Did you mean {', '.join(_format_value(word) for word in _to_list(suggested))}?")
        return " ".join(as_sentence(str(part)) for part in parts)
    return encode(value)


def _format_candidate(value: Any) -> str:
    if not isinstance(value, Mapping):
        return _format_value(value)
    token = value.get("token") or value.get("id") or value.get("parameterValue")
    where = value.get("coordinate")
    if token is None and isinstance(where, Mapping):
        token = ",".join(str(where[axis]) for axis in ("lat", "lon") if axis in where)
    return f"{value['name']} ({token})" if value.get("name") else str(token or encode(value))
