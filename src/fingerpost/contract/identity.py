"""Identity of calls: canonical JSON and correlation ids (rule A3)."""

import json
import uuid
from datetime import datetime
from typing import Any

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "fingerpost")
_EXACT_FLOAT = 2.0**53
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical_json(value: Any) -> str:
    """Return one text for one JSON value: keys sorted, compact, ASCII, a whole float written as the integer it is.

    Raise ValueError if the value is not JSON (NaN and infinities included), or is nested too deeply.
    """
    try:
        return _ENCODER.encode(_plain(value))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not a JSON value: {error}") from error


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_FLOAT:
        return int(value)
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("an object's keys must be text")
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def new_correlation_id(now_is_fixed: datetime | None, user: str | None, tool: str, arguments: Any) -> str:
    """Return the UUID of one call: random, or with a fixed clock derived from its question."""
    if now_is_fixed is None:
        return str(uuid.uuid4())
    try:
        question = canonical_json(arguments)
    except ValueError:
        question = "not JSON"
    return str(uuid.uuid5(_NAMESPACE, canonical_json([now_is_fixed.isoformat(), user, tool, question])))
