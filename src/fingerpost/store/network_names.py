"""Validate and normalize the names of networks."""

import re
from typing import Final

from fingerpost.errors import ParameterError

VALID_NAMES: Final = "use up to 40 letters A-Z, digits, _ and -, not beginning with DEMO-"

_NAME = re.compile("(?!DEMO-)[A-Z0-9_-]{1,40}")


def is_network_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def parse_network_name(name: str) -> str:
    """Return a network's name in upper case, or raise ParameterError if it is invalid."""
    upper = name.strip().upper()
    if not is_network_name(upper):
        raise ParameterError(f"A network cannot be called {name!r}: {VALID_NAMES}", {"field": "name"})
    return upper
