"""References: ``{"$ref": key, "path": jmespath, "default": ...}`` anywhere in a step's parameters.

A reference is replaced by the value itself, so it preserves types, and nothing is inserted into text (rule F4).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

import jmespath
from jmespath.exceptions import JMESPathError

MARK: Final = "$ref"
MAX_PATH_CHARS: Final = 500
_MAX_NODES = 60
_MAX_WIDTH = 16
_FIELDS = frozenset({MARK, "path", "default"})
_NOTHING: Final = object()

# Without functions that enlarge their input (join, to_string, map, merge), the value limits the work of a path.
_FUNCTIONS = frozenset(
    {
        "abs", "avg", "ceil", "contains", "ends_with", "floor", "keys", "length", "max", "max_by", "min",
        "min_by", "not_null", "reverse", "sort", "sort_by", "starts_with", "sum", "to_array", "to_number",
        "type", "values",
    }
)  # fmt: skip
_WIDE = ("multi_select_list", "multi_select_dict")

Way = tuple[str | int, ...]
"""A place in the parameters: names and indexes."""


class ReferenceInvalid(ValueError):
    """The object is not a valid reference."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference ``at`` a place in a step's parameters to a memory key.

    ``path`` is JMESPath from the response; None reads the value at the key's ``output_path``.
    """

    at: Way
    key: str
    path: str | None
    default: Any
    _search: Callable[[Any], Any] | None

    def __str__(self) -> str:
        return f"reference to '{self.key}'" + (f" at path '{self.path}'" if self.path is not None else "")

    @property
    def has_default(self) -> bool:
        return self.default is not _NOTHING

    def find_in(self, response: Any) -> Any:
        """Return the value at the path in a response, or None."""
        assert self._search is not None
        try:
            return self._search(response)
        except (JMESPathError, TypeError, ValueError, AttributeError):
            return None


def is_reference(value: Any) -> bool:
    return isinstance(value, dict) and MARK in value


def list_references(value: Any, at: Way = ()) -> Iterator[Reference | tuple[Way, str]]:
    if is_reference(value):
        try:
            yield _read(value, at)
        except ReferenceInvalid as error:
            yield at, str(error)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from list_references(item, (*at, name))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from list_references(item, (*at, index))


def fill(value: Any, resolve: Callable[[Way], Any], at: Way = ()) -> Any:
    """Return a copy of a value with each reference replaced by what ``resolve`` returns for its place."""
    if is_reference(value):
        return resolve(at)
    if isinstance(value, dict):
        return {name: fill(item, resolve, (*at, name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [fill(item, resolve, (*at, index)) for index, item in enumerate(value)]
    return value


def walk(response: Any, path: list[str]) -> Any:
    """Return the value at a plain path in a response, or None; a list is entered by its index."""
    here = response
    for part in path:
        if isinstance(here, dict) and part in here:
            here = here[part]
        elif isinstance(here, list) and part.isdecimal() and int(part) < len(here):
            here = here[int(part)]
        else:
            return None
    return here


def _read(raw: dict[str, Any], at: Way) -> Reference:
    unknown = sorted(str(name) for name in raw.keys() - _FIELDS)
    if unknown:
        raise ReferenceInvalid(f"a reference has $ref, path and default, and no {', '.join(unknown)}")
    key, path = raw[MARK], raw.get("path")
    if not isinstance(key, str) or not key:
        raise ReferenceInvalid("$ref must be the memory key of a step, as text")
    if path is not None and not isinstance(path, str):
        raise ReferenceInvalid("path must be a JMESPath text")
    search = None if path is None else _compile(path)
    return Reference(at, key, path, raw.get("default", _NOTHING), search)


def _compile(path: str) -> Callable[[Any], Any]:
    if len(path) > MAX_PATH_CHARS:
        raise ReferenceInvalid(f"path has {len(path)} characters, and may have {MAX_PATH_CHARS}")
    try:
        compiled = jmespath.compile(path)
    except (JMESPathError, ValueError, RecursionError) as error:
        where = getattr(error, "lex_position", None)
        place = f" at character {where + 1}" if isinstance(where, int) else ""
        raise ReferenceInvalid(f"path {path!r} is not JMESPath: there is a mistake{place}") from error
    _refuse_growth(cast("dict[str, Any]", compiled.parsed))
    search: Callable[[Any], Any] = compiled.search
    return search


def _refuse_growth(root: dict[str, Any]) -> None:
    """Refuse paths that could enlarge a value, so that the work of a path stays near the size of its value."""
    width = 1
    nodes = [root]
    for count, node in enumerate(nodes):
        if count > _MAX_NODES:
            raise ReferenceInvalid(f"path has more than {_MAX_NODES} parts")
        kind = node["type"]
        if kind in _WIDE:
            width *= max(1, len(node["children"]))
        elif kind == "function_expression" and node["value"] not in _FUNCTIONS:
            raise ReferenceInvalid(f"path may not call {node['value']}; it may call {', '.join(sorted(_FUNCTIONS))}")
        elif kind == "literal" and isinstance(node["value"], list | dict):
            raise ReferenceInvalid("path may contain plain values only, no lists or objects")
        if width > _MAX_WIDTH:
            raise ReferenceInvalid("path combines too many lists or objects")
        nodes += [child for child in node["children"] if isinstance(child, dict)]
