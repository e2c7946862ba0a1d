"""References: ``{"$ref": key, "path": jmespath, "default": ...}`` anywhere in a step's parameters.

A reference is replaced by the value itself, so types are preserved and no text is interpolated (rule F4).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

import jmespath
from jmespath.exceptions import JMESPathError

MARK: Final = "$ref"
MAX_PATH_CHARS: Final = 500
_MAX_NODES = 60
_MAX_COMBINATIONS = 16
_FIELDS = frozenset({MARK, "path", "default"})
_NO_DEFAULT: Final = object()

# Functions that enlarge their input (join, to_string, map, merge) are excluded, so the input size limits the work.
_ALLOWED_FUNCTIONS = frozenset(
    {
        "abs", "avg", "ceil", "contains", "ends_with", "floor", "keys", "length", "max", "max_by", "min",
        "min_by", "not_null", "reverse", "sort", "sort_by", "starts_with", "sum", "to_array", "to_number",
        "type", "values",
    }
)  # fmt: skip
_COMBINING_NODES = ("multi_select_list", "multi_select_dict")

ParameterPath = tuple[str | int, ...]
"""A path in the parameters: names and indexes."""


class ReferenceInvalid(ValueError):
    """The object is not a valid reference."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to a memory key; ``location`` is its path in the step's parameters.

    ``path`` is a JMESPath expression for the response; None selects the key's ``output_path``.
    """

    location: ParameterPath
    key: str
    path: str | None
    default: Any
    _search: Callable[[Any], Any] | None

    def __str__(self) -> str:
        return f"reference to '{self.key}'" + (f" at path '{self.path}'" if self.path is not None else "")

    @property
    def has_default(self) -> bool:
        return self.default is not _NO_DEFAULT

    def find_in(self, response: Any) -> Any:
        """Return the value at the path in a response, or None."""
        assert self._search is not None
        try:
            return self._search(response)
        except (JMESPathError, TypeError, ValueError, AttributeError):
            return None


def is_reference(value: Any) -> bool:
    return isinstance(value, dict) and MARK in value


def list_references(value: Any, location: ParameterPath = ()) -> Iterator[Reference | tuple[ParameterPath, str]]:
    if is_reference(value):
        try:
            yield _parse(value, location)
        except ReferenceInvalid as error:
            yield location, str(error)
    elif isinstance(value, (dict, list, tuple)):
        for part, item in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(item, (dict, list, tuple)):
                yield from list_references(item, (*location, part))


def fill(value: Any, resolve: Callable[[ParameterPath], Any], location: ParameterPath = ()) -> Any:
    """Return a copy of a value with each reference replaced by the result of ``resolve`` for its location."""
    if is_reference(value):
        return resolve(location)
    if isinstance(value, dict):
        return {name: fill(item, resolve, (*location, name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [fill(item, resolve, (*location, index)) for index, item in enumerate(value)]
    return value


def get_at_path(response: Any, path: list[str]) -> Any:
    """Return the value at a plain path in a response, or None; a number in the path is a list index."""
    current = response
    for part in path:
        if isinstance(current, dict) and part in current:
            current = current[part]
        elif isinstance(current, list) and part.isdecimal() and int(part) < len(current):
            current = current[int(part)]
        else:
            return None
    return current


def _parse(raw: dict[str, Any], location: ParameterPath) -> Reference:
    unknown = sorted(str(name) for name in raw.keys() - _FIELDS)
    if unknown:
        raise ReferenceInvalid(f"a reference may have only $ref, path and default, not {', '.join(unknown)}")
    key, path = raw[MARK], raw.get("path")
    if not isinstance(key, str) or not key:
        raise ReferenceInvalid("$ref must be the memory key of a step, as a string")
    if path is not None and not isinstance(path, str):
        raise ReferenceInvalid("path must be a JMESPath string")
    return Reference(location, key, path, raw.get("default", _NO_DEFAULT), None if path is None else _compile(path))


def _compile(path: str) -> Callable[[Any], Any]:
    if len(path) > MAX_PATH_CHARS:
        raise ReferenceInvalid(f"path is {len(path)} characters long; the limit is {MAX_PATH_CHARS}")
    try:
        compiled = jmespath.compile(path)
    except (JMESPathError, ValueError, RecursionError) as error:
        position = getattr(error, "lex_position", None)
        place = f" at character {position + 1}" if isinstance(position, int) else ""
        raise ReferenceInvalid(f"path {path!r} is not valid JMESPath: there is an error{place}") from error
    _check_growth(cast("dict[str, Any]", compiled.parsed))
    search: Callable[[Any], Any] = compiled.search
    return search


def _check_growth(root: dict[str, Any]) -> None:
    """Reject paths that could enlarge a value, to limit the work of evaluating a path."""
    combinations = 1
    nodes = [root]
    for count, node in enumerate(nodes):
        if count > _MAX_NODES:
            raise ReferenceInvalid(f"path has more than {_MAX_NODES} parts")
        kind = node["type"]
        if kind in _COMBINING_NODES:
            combinations *= max(1, len(node["children"]))
        elif kind == "function_expression" and node["value"] not in _ALLOWED_FUNCTIONS:
            raise ReferenceInvalid(
                f"path may not call {node['value']}; it may call {', '.join(sorted(_ALLOWED_FUNCTIONS))}"
            )
        elif kind == "literal" and isinstance(node["value"], list | dict):
            raise ReferenceInvalid("path may contain only plain values, not lists or objects")
        if combinations > _MAX_COMBINATIONS:
            raise ReferenceInvalid("path combines too many lists or objects")
        nodes += [child for child in node["children"] if isinstance(child, dict)]
