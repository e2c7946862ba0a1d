"""Identify calls with canonical JSON and correlation ids (rule A3)."""

import json
import uuid
from typing import Any

from fingerpost import clock
from fingerpost.errors import SettingsInvalid

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "fingerpost")
_MAX_EXACT_FLOAT = 2.0**53
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def encode_canonical(value: Any) -> str:
    """Encode a JSON value as compact ASCII with sorted keys; integral floats become integers.

    Raise ValueError if the value is not JSON (such as NaN or infinity), or is nested too deeply.
    """
    try:
        return _ENCODER.encode(_normalize(value))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not a JSON value: {error}") from error


def _normalize(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError("an object's keys must be strings")
        return {key: _normalize(item) for key, item in value.items()}
    if isinstance(value, float) and value.is_integer() and abs(value) < _MAX_EXACT_FLOAT:
        return int(value)
    return [_normalize(item) for item in value] if isinstance(value, (list, tuple)) else value


def new_correlation_id(user: str | None, tool: str, arguments: Any) -> str:
    """Return the UUID of a call: derived from its arguments if ``FINGERPOST_NOW`` fixes the clock, else random."""
    try:
        fixed_time = clock.find_fixed_time()
    except SettingsInvalid:
        # The envelope that reports a malformed FINGERPOST_NOW needs an id too.
        fixed_time = None
    if fixed_time is None:
        return str(uuid.uuid4())
    try:
        text = encode_canonical(arguments)
    except ValueError:
        text = "not JSON"
    return str(uuid.uuid5(_NAMESPACE, _ENCODER.encode([fixed_time.isoformat(), user, tool, text])))
