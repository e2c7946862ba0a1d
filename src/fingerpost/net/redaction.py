"""Redact keys, passwords and tokens from URLs and texts."""

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

HIDDEN = "***"

_SECRET_NAME = re.compile(
    r"(^|[-_.])(api|app|access|subscription|client)?[-_]?(key|token|secret|password|passwd|pwd|sig|signature|auth)$",
    re.IGNORECASE,
)
_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})
# A value as short as this would be found in innocent words.
_SHORTEST_SECRET = 4


def is_secret_name(name: str) -> bool:
    """Return whether a header or a query parameter of this name holds a secret."""
    return name.lower() in _SECRET_HEADERS or _SECRET_NAME.search(name) is not None


def redact_url(url: str) -> str:
    """Return a URL without its user, its password, and the values of parameters that are named like secrets."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    if not any(is_secret_name(name) for name, _ in pairs):
        return urlunsplit(parts._replace(netloc=host, fragment=""))
    query = "&".join(
        f"{quote(name, safe='')}={HIDDEN if is_secret_name(name) else quote(value, safe='')}" for name, value in pairs
    )
    return urlunsplit(parts._replace(netloc=host, query=query, fragment=""))


def redact_text(text: str, secrets: Iterable[str]) -> str:
    """Return a text without these values, as they are and as a URL writes them."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            for written in (secret, quote(secret, safe=""), quote(secret)):
                text = text.replace(written, HIDDEN)
    return text
