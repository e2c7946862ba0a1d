"""Valid names of networks."""

import re

from fingerpost.errors import ParameterError

_NAME = re.compile("[A-Z0-9_-]{1,40}")
_RESERVED = "DEMO-"


def is_network_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and not name.startswith(_RESERVED)


def plain_name(name: str) -> str:
    """Return a network's name in upper case, or raise ParameterError if it is invalid or reserved."""
    upper = name.strip().upper()
    if not _NAME.fullmatch(upper):
        raise ParameterError(
            f"A network cannot be called {name!r}. Use up to 40 letters A-Z, digits, _ and -", {"field": "name"}
        )
    if upper.startswith(_RESERVED):
        raise ParameterError(
            f"A network cannot be called {name!r}: names that begin with {_RESERVED} are reserved for demos",
            {"field": "name"},
        )
    return upper
