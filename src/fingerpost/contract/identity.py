"""Identify calls with correlation ids (rule A3)."""

import json
import uuid
from typing import Any

from fingerpost import clock
from fingerpost.errors import SettingsInvalid

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "fingerpost")
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


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
        text = _ENCODER.encode(arguments)
    except (TypeError, ValueError, RecursionError):
        text = "not JSON"
    return str(uuid.uuid5(_NAMESPACE, _ENCODER.encode([fixed_time.isoformat(), user, tool, text])))
