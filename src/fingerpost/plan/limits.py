"""Limits of plans and runs, and the check that a value is JSON within limits of size and depth."""

import json
import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of plans and runs: sizes (as JSON), concurrency, times and retries.

    Attributes:
        plan_bytes: of a plan, its initial memory included.
        depth: levels of objects and lists in a plan or an output.
        memory_bytes: of all outputs of one run.
        given_bytes: of the memory that a run takes from an earlier one.
        calls_per_tool: of all runs in this process.
        attempts: of one step, the first included.
        backoff_s: the wait before the second attempt; it doubles from then on.
        longest_backoff_s: if a source asks for a longer wait, its step fails.
        breaker_failures: after so many failures in a row a tool is not called for ``breaker_s``.
        runs_of_caller: background runs of one user or address in a process.
    """

    steps: int = 500
    plan_bytes: int = 1_000_000
    depth: int = 32
    output_bytes: int = 1_000_000
    memory_bytes: int = 64_000_000
    given_bytes: int = 8_000_000
    steps_at_once: int = 64
    calls_per_tool: int = 64
    attempt_s: float = 60.0
    attempts: int = 3
    backoff_s: float = 0.2
    longest_backoff_s: float = 10.0
    breaker_failures: int = 5
    breaker_s: float = 30.0
    replans: int = 3
    runs_of_caller: int = 100


# Python refuses to convert longer integers to text by default.
_MAX_BITS = 4096


def find_excess(value: Any, *, max_bytes: int, max_depth: int) -> str | None:
    """Return why a value cannot be stored as JSON, as the end of a sentence, or None.

    The size is a lower bound of the length of the JSON text.
    """
    size_bytes = 0
    level = [value]
    for _ in range(max_depth + 1):
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is str:
                size_bytes += len(item) + 2
            elif kind is dict:
                size_bytes += 2
                for key in item:
                    if type(key) is not str:
                        return "has a key that is not text"
                    size_bytes += len(key) + 4
                below.extend(item.values())
            elif kind is list or kind is tuple:
                size_bytes += 2 + len(item)
                if size_bytes > max_bytes:
                    break
                below.extend(item)
            elif kind is float and not math.isfinite(item):
                return "contains a number that is not finite"
            elif kind is int and item.bit_length() > _MAX_BITS:
                return f"contains a whole number of more than {_MAX_BITS} bits"
            elif item is None or kind in (float, int, bool):
                size_bytes += 1
            else:
                return f"contains a {kind.__name__}, which is not JSON"
            if size_bytes > max_bytes:
                break
        if size_bytes > max_bytes:
            return f"is larger than {max_bytes:,} bytes of JSON"
        if not below:
            return None
        level = below
    return f"is nested more than {max_depth} deep"


_encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, check_circular=False, separators=(",", ":")).encode


def encode(value: Any) -> str:
    """Return compact ASCII JSON of a value for which ``find_excess`` returned None."""
    return _encode(value)
