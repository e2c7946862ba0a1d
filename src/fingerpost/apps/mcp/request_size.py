"""Bounds of a request's body: its bytes, and its values, counted before anything reads it as JSON.

Reading JSON keeps every other caller waiting for as long as it takes, because it cannot be interrupted; counting can.
"""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from starlette.types import Message

from fingerpost.runtime.fair_threads import COMPUTING

MOST_BYTES: Final = 1_500_000
"""A plan with its memory is at most 1,000,000 bytes (``plan/limits.py``); some are escaped."""

MOST_VALUES: Final = 10_500
"""Values in all that is sent, keys not counted: what a tool takes at most, and the protocol around it."""

MOST_PLAN_VALUES: Final = 20_000
"""As many where a plan is sent: 500 steps of 40 values each."""

_LARGE = f"The request has more than {MOST_BYTES:,} bytes; send a shorter call"
_MARKS = (b",", b"[", b"{")
MOST_ESCAPES: Final = 100_000
"""Backslashes in all that is sent: each one takes as long to read as a hundred plain characters."""

# A smaller one is read sooner than counted.
_SMALL_BYTES = 50_000
# All up to the next bracket or comma outside of texts, or the end. Possessive, so that each byte is looked at once.
_UP_TO_MARK = re.compile(rb'(?:[^",\[{]++|"[^"]*+(?:"|\Z))*+(?:[,\[{]|\Z)')


def find_declared_excess(content_length: str | None) -> str | None:
    """Return why a request is too large by what its header says, as a sentence, or None."""
    is_number = content_length is not None and re.fullmatch("[0-9]{1,20}", content_length)
    return _LARGE if is_number and int(content_length or 0) > MOST_BYTES else None


async def find_excess(messages: Sequence[Message]) -> str | None:
    """Return why a request is too large to be read, as a sentence, or None."""
    parts = [message.get("body", b"") for message in messages]
    size = sum(map(len, parts))
    if size > MOST_BYTES:
        return _LARGE
    if size <= _SMALL_BYTES:
        return None
    body = b"".join(parts)
    if body.lstrip()[:1] == b"[":
        return "A list of requests is not taken; send one at a time"
    if body.count(b"\\") > MOST_ESCAPES:
        return f"The request holds more than {MOST_ESCAPES:,} escapes; write its texts in UTF-8"
    most = MOST_PLAN_VALUES if b'"run_plan"' in body else MOST_VALUES
    if await COMPUTING.run(has_many_values, body, most):
        return f"The request holds more than {most:,} values; send a shorter call"
    return None


def has_many_values(body: bytes, most: int) -> bool:
    """Whether a JSON text may hold more values than ``most``; of what is no JSON, either is said.

    Each value but the first follows an opening bracket or a comma that stands outside of texts.
    An empty list or object is counted twice.
    """
    if sum(map(body.count, _MARKS)) < most:
        return False
    # Backslashes stand in texts alone: without those that are escaped, each one before a quote escapes it.
    plain = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = (found for found in _UP_TO_MARK.finditer(plain) if plain[found.end() - 1 : found.end()] in _MARKS)
    return sum(1 for _ in islice(marks, most)) == most
