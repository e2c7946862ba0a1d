"""Limits for plans and runs, and a check of a JSON value's size and depth."""

import json
import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits for plans and runs: JSON sizes, concurrency, timeouts and retries.

    Attributes:
        plan_bytes: size of a plan, including its initial memory.
        depth: nesting depth of objects and lists in a plan or an output.
        memory_bytes: size of all outputs of one run.
        initial_memory_bytes: size of the memory that a run copies from an earlier run.
        calls_per_tool: concurrent calls to one tool by all runs in this process.
        attempts: attempts at one step, including the first.
        backoff_s: wait before the second attempt; it doubles each time.
        max_backoff_s: longest wait; if a source requests a longer wait, the step fails.
        runs_per_caller: background runs per user or address in one process.
    """

    steps: int = 500
    plan_bytes: int = 1_000_000
    depth: int = 32
    output_bytes: int = 1_000_000
    memory_bytes: int = 64_000_000
    initial_memory_bytes: int = 8_000_000
    steps_at_once: int = 64
    calls_per_tool: int = 64
    attempt_s: float = 60.0
    attempts: int = 3
    backoff_s: float = 0.2
    max_backoff_s: float = 10.0
    replans: int = 3
    runs_per_caller: int = 100


# Python refuses to convert longer integers to text by default.
_MAX_BITS = 4096


def find_excess(value: Any, *, max_bytes: int, max_depth: int) -> str | None:
    """Return why a value cannot be stored as JSON, such as ``has a key that is not a string``, or None.

    The computed size is a lower bound on the length of the JSON text.
    """
    too_large = f"is larger than {max_bytes:,} bytes of JSON"
    size_bytes = 0
    level = [value]
    for _ in range(max_depth + 1):
        children: list[Any] = []
        for item in level:
            value_type = type(item)
            if value_type is str:
                size_bytes += len(item) + 2
            elif value_type is dict:
                size_bytes += 2
                for key in item:
                    if type(key) is not str:
                        return "has a key that is not a string"
                    size_bytes += len(key) + 4
                children.extend(item.values())
            elif value_type is list or value_type is tuple:
                size_bytes += 2 + len(item)
                if size_bytes > max_bytes:
                    return too_large
                children.extend(item)
            elif value_type is float and not math.isfinite(item):
                return "contains a number that is not finite"
            elif value_type is int and item.bit_length() > _MAX_BITS:
                return f"contains an integer of more than {_MAX_BITS} bits"
            elif item is None or value_type in (float, int, bool):
                size_bytes += 1
            else:
                return f"contains a {value_type.__name__}, which is not JSON"
            if size_bytes > max_bytes:
                return too_large
        if not children:
            return None
        level = children
    return f"is nested more than {max_depth} levels deep"


encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, check_circular=False, separators=(",", ":")).encode
"""Encodes a value as compact ASCII JSON; check the value with ``find_excess`` first."""
