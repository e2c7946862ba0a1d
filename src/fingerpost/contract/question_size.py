"""Bounds on how many values a question may hold: each unknown field costs a sentence, and thousands stall a server."""

from collections.abc import Collection, Mapping
from typing import Any

from fingerpost.errors import ParameterError

MOST_VALUES = 10_000
MOST_FIELDS = 100
# With more, checking and telling take so long that a thread costs less than what others wait meanwhile.
QUICK_VALUES = 1_000

_PLAIN = frozenset({str, int, float, bool, type(None)})


def check_count(arguments: Mapping[str, Any], most_values: int | None) -> bool:
    """Check that arguments have at most 100 fields of their own, and all in all at most ``most_values`` values.

    Returns whether they have more than ``QUICK_VALUES``.

    Raises:
        ParameterError: they have more.
    """
    if len(arguments) > MOST_FIELDS:
        raise ParameterError(f"the arguments have {len(arguments):,} fields; no tool knows more than {MOST_FIELDS}")
    if not has_more_values(arguments, QUICK_VALUES):
        return False
    if most_values is not None and has_more_values(arguments, most_values):
        raise ParameterError(f"the arguments hold more than {most_values:,} values", hint="Send a shorter call")
    return True


def has_more_values(whole: object, most: int) -> bool:
    """Whether an object or a list holds more values than that, at whatever depth."""
    left, waiting = most, [whole]
    while waiting:
        value: Any = waiting.pop()
        inner: Collection[Any]
        # Asking each value whether it is a mapping was measured to take a third of a short call.
        if type(value) is dict or isinstance(value, Mapping):
            inner = value.values()
        elif isinstance(value, list | tuple):
            inner = value
        else:
            continue
        left -= len(inner)
        if left < 0:
            return True
        waiting += [each for each in inner if type(each) not in _PLAIN]
    return False
