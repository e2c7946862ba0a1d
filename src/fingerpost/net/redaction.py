"""Redact keys, passwords and tokens from URLs and texts."""

import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import quote, unquote, unquote_plus, urlsplit, urlunsplit

HIDDEN = "***"

# What may stand before the word, with or without a mark between: authkey, user_key, sessionToken.
_BEFORE = (
    "access|account|api|app|auth|bearer|client|consumer|customer|dev|developer|id|licen[cs]e|login|master|my|oauth2?"
    "|partner|private|refresh|secret|security|service|session|shared|signing|subscription|user"
)
_SECRET_NAME = re.compile(
    rf"(^|[-_. ])(({_BEFORE})[-_. ]?)*"
    r"(key|token|secret|password|passwd|passphrase|pwd|sig|signature|auth|authorization|jwt|bearer|credentials?"
    r"|access[-_. ]?key[-_. ]?id|token[-_. ]?id)$",
    re.IGNORECASE,
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBERED = re.compile(r"[-_. \[\]0-9]+$")
_PAIR = re.compile(r"[^&;]+")
_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})
# A value as short as this would be found in innocent words.
_SHORTEST_SECRET = 4


@lru_cache(maxsize=1024)
def is_secret_name(name: str) -> bool:
    """Return whether a header or a query parameter of this name holds a secret; the name may be percent-encoded."""
    decoded = unquote(unquote(name)).strip()
    if decoded.lower() in _SECRET_HEADERS:
        return True
    bare = _NUMBERED.sub("", decoded).replace("[", "_")
    return any(_SECRET_NAME.search(text) for text in (bare, _HUMP.sub("_", bare)))


def read_pair(pair: str) -> tuple[str, str]:
    """Return the decoded name and value of one ``name=value`` of a query."""
    name, _, value = pair.partition("=")
    return unquote_plus(name).strip(), unquote_plus(value)


def list_pairs(query: str) -> list[str]:
    """Return each ``name=value`` of a query as it is written; some servers part them with ``;``."""
    return _PAIR.findall(query)


def redact_url(url: str) -> str:
    """Return a URL without its user, its password, and the values of parameters that are named like secrets."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    query = _PAIR.sub(lambda pair: _redact_pair(pair[0]), parts.query)
    return urlunsplit(parts._replace(netloc=host, query=query, fragment=""))


def _redact_pair(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    return f"{name}={HIDDEN}" if equals and is_secret_name(unquote_plus(name)) else pair


def redact_text(text: str, secrets: Iterable[str]) -> str:
    """Return a text without these values, as they are and as a URL writes them."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            for written in (secret, quote(secret, safe=""), quote(secret)):
                text = text.replace(written, HIDDEN)
    return text
