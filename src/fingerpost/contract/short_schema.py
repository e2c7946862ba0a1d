"""Shorten a JSON Schema: inline single-use definitions, and spell out parts that accept any type."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

_PREFIX = "#/$defs/"
_TYPES = ["object", "array", "string", "number", "boolean", "null"]
_ANNOTATIONS = {"title", "description", "default"}
_MAP_KEYS = ("properties", "$defs")
_LIST_KEYS = ("anyOf", "oneOf", "allOf")
_SCHEMA_KEYS = ("items", "additionalProperties")


def inline_single_uses(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with its single-use definitions inlined.

    Keys next to a reference override those of the definition.
    """
    definitions = schema.get("$defs", {})
    uses = Counter(_list_references(schema))
    single = {name for name, count in uses.items() if count == 1 and name not in _find_recursive(definitions)}

    def inline(part: Any) -> Any:
        if isinstance(part, list):
            return [inline(entry) for entry in part]
        if not isinstance(part, dict):
            return part
        name = _find_definition_name(part)
        if name in single:
            siblings = {key: value for key, value in part.items() if key != "$ref"}
            return inline({**definitions[name], **siblings})
        return {key: inline(value) for key, value in part.items()}

    remaining = {name: inline(definition) for name, definition in definitions.items() if name not in single}
    rest = {key: inline(value) for key, value in schema.items() if key != "$defs"}
    return {"$defs": remaining, **rest} if remaining else rest


def expand_any_types(schema: dict[str, Any]) -> None:
    """Replace empty schemas with the six JSON types, because some clients reject empty ones."""
    named = (part for key in _MAP_KEYS for part in schema.get(key, {}).values())
    alternatives = (part for key in _LIST_KEYS for part in schema.get(key, ()))
    nested = (schema[key] for key in _SCHEMA_KEYS if key in schema)
    for part in (*named, *alternatives, *nested):
        if isinstance(part, dict):
            if part.keys() <= _ANNOTATIONS:
                # One branch per type, because many clients do not support a list of types.
                part["anyOf"] = [{"type": name} for name in _TYPES]
            expand_any_types(part)


def _find_definition_name(part: dict[str, Any]) -> str | None:
    reference = part.get("$ref")
    return reference.removeprefix(_PREFIX) if isinstance(reference, str) else None


def _list_references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        name = _find_definition_name(part)
        if name is not None:
            yield name
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _list_references(inner)


def _find_recursive(definitions: dict[str, Any]) -> set[str]:
    """Return the names of the recursive definitions."""
    reachable = {name: set(_list_references(definition)) for name, definition in definitions.items()}
    for _ in reachable:
        reachable = {name: names.union(*(reachable[inner] for inner in names)) for name, names in reachable.items()}
    return {name for name, names in reachable.items() if name in names}
