"""The memory that a run starts from, as a text in its record; it may be long, and is written and read in pieces.

Python writes and reads JSON in one step, in which no other thread does anything; so each key has a step of its own.
"""

import json
import re
from typing import Any

from fingerpost.plan.journal import Given
from fingerpost.plan.size_limits import encode

_LEVELS = 2
_SPACE = re.compile(r"[ \t\n\r]*")
_read_piece = json.JSONDecoder().raw_decode


def write_given(given: Given) -> str:
    """Return the memory that a run starts from as JSON."""
    values = ",".join(f"{encode(key)}:{encode(value)}" for key, value in given.values.items())
    return f'{{"values":{{{values}}},"paths":{encode(dict(given.paths))}}}'


def read_given(text: str) -> Given:
    """Return the memory that a run starts from."""
    # By name: what a newer build adds must not keep an older one from saying that the run is newer.
    found, _end = _read_object(text, 0, _LEVELS)
    return Given(values=found.get("values", {}), paths=found.get("paths", {}))


def _read_object(text: str, at: int, levels: int) -> tuple[dict[str, Any], int]:
    """Return the JSON object that begins at a place, and where it ends."""
    found: dict[str, Any] = {}
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _read_piece(text, at)
        at = _skip(text, _skip(text, at) + 1)
        is_inner = levels > 1 and text[at] == "{"
        found[key], at = _read_object(text, at, levels - 1) if is_inner else _read_piece(text, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found, at + 1


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
