"""Whether a value is JSON, and small enough, found without building its text.

A value of many references to few objects may be small in memory and endless as text; the walk stops at the bound.
"""

import json
import math
from typing import Any

# Python writes no longer number than this into JSON without a fight.
_MOST_BITS = 4096


def find_excess(value: Any, *, most_bytes: int, most_depth: int) -> str | None:
    """Return what is wrong with a value, as the end of a sentence, or None.

    The count of bytes is a lower bound of the JSON text's length.
    """
    weight = 0
    level = [value]
    for _ in range(most_depth + 1):
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is str:
                weight += len(item) + 2
            elif kind is dict:
                weight += 2
                for key in item:
                    if type(key) is not str:
                        return "has a key that is not text"
                    weight += len(key) + 4
                below.extend(item.values())
            elif kind is list or kind is tuple:
                weight += 2 + len(item)
                if weight > most_bytes:
                    break
                below.extend(item)
            elif (
                (kind is float and math.isfinite(item))
                or (kind is int and item.bit_length() <= _MOST_BITS)
                or item is None
                or kind is bool
            ):
                weight += 1
            else:
                return _describe_fault(item)
            if weight > most_bytes:
                break
        if weight > most_bytes:
            return f"is larger than {most_bytes:,} bytes of JSON"
        if not below:
            return None
        level = below
    return f"is nested more than {most_depth} deep"


def _describe_fault(item: Any) -> str:
    """Return why a value that is no text, object or list cannot be written as JSON."""
    if type(item) is float:
        return "holds a number that is not finite"
    if type(item) is int:
        return f"holds a whole number of more than {_MOST_BITS} bits"
    return f"holds a {type(item).__name__}, which is not JSON"


_encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, check_circular=False, separators=(",", ":")).encode


def encode(value: Any) -> str:
    """Return compact ASCII JSON of a value that ``find_excess`` has nothing against."""
    return _encode(value)
