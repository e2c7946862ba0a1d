"""Choose the language of names (rule A7)."""

from collections.abc import Collection

CHAIN = ("fi", "en", "sv")
DEFAULT = "default"


def choose(requested: str | None, available: Collection[str]) -> str:
    """Return the requested language if it is available, else the first of the chain that is, else ``default``."""
    wanted = CHAIN if requested is None else (requested, *CHAIN)
    return next((language for language in wanted if language in available), DEFAULT)
