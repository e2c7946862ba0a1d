"""Shorten a JSON Schema, and state any-type parts in a way that every client reads, without changing its meaning."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

_PREFIX = "#/$defs/"
_ANY = ["object", "array", "string", "number", "boolean", "null"]
_REMARKS = {"title", "description", "default"}
_OF_NAMED = ("properties", "$defs")
_OF_SEVERAL = ("anyOf", "oneOf", "allOf")
_OF_ONE = ("items", "additionalProperties")


def inline_single_uses(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with each definition that is used once written where it is used.

    Keys beside a reference override those of the definition.
    """
    definitions = schema.get("$defs", {})
    uses = Counter(_list_references(schema))
    single = {name for name, count in uses.items() if count == 1 and name not in _list_own(definitions)}

    def written(part: Any) -> Any:
        if isinstance(part, list):
            return [written(entry) for entry in part]
        if not isinstance(part, dict):
            return part
        name = _name_of(part)
        if name in single:
            beside = {key: value for key, value in part.items() if key != "$ref"}
            return written({**definitions[name], **beside})
        return {key: written(value) for key, value in part.items()}

    kept = {name: written(definition) for name, definition in definitions.items() if name not in single}
    rest = {key: written(value) for key, value in schema.items() if key != "$defs"}
    return {"$defs": kept, **rest} if kept else rest


def name_any_types(schema: dict[str, Any]) -> None:
    """Write the six types of JSON where a part accepts any value: clients complain about empty schemas."""
    named = (part for key in _OF_NAMED for part in schema.get(key, {}).values())
    several = (part for key in _OF_SEVERAL for part in schema.get(key, ()))
    one = (schema[key] for key in _OF_ONE if key in schema)
    for part in (*named, *several, *one):
        if isinstance(part, dict):
            if part.keys() <= _REMARKS:
                # One type a branch: many clients know no list of types.
                part["anyOf"] = [{"type": name} for name in _ANY]
            name_any_types(part)


def _name_of(part: dict[str, Any]) -> str | None:
    reference = part.get("$ref")
    return reference.removeprefix(_PREFIX) if isinstance(reference, str) else None


def _list_references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        name = _name_of(part)
        if name is not None:
            yield name
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _list_references(inner)


def _list_own(definitions: dict[str, Any]) -> set[str]:
    """Return the definitions that lead to themselves."""
    below = {name: set(_list_references(definition)) for name, definition in definitions.items()}
    for _ in below:
        below = {name: names.union(*(below[inner] for inner in names)) for name, names in below.items()}
    return {name for name, names in below.items() if name in names}
