"""What a network may be called."""

import re

from fingerpost.errors import ParameterError

PATTERN = "[A-Z0-9_-]{1,40}"
_NAME = re.compile(PATTERN)
_RESERVED = "DEMO-"

TEXT_LISTS = ("feeds", "realtime", "languages", "attribution")
"""The keys of a record that hold lists of texts."""


def is_network_name(name: str) -> bool:
    """Whether an added network may have this name as it stands."""
    return _NAME.fullmatch(name) is not None and not name.startswith(_RESERVED)


def plain_name(name: str) -> str:
    """Return a network's name in upper case.

    Raises:
        ParameterError: it has other characters than letters, digits, ``_`` and ``-``, is too long, or is a demo's.
    """
    upper = name.strip().upper()
    if not _NAME.fullmatch(upper):
        raise ParameterError(
            f"A network cannot be called {name!r}. Take up to 40 letters A-Z, digits, _ and -.", {"field": "name"}
        )
    if upper.startswith(_RESERVED):
        raise ParameterError(
            f"A network cannot be called {name!r}: names that begin with {_RESERVED} are the demo's.", {"field": "name"}
        )
    return upper
