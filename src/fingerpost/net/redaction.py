"""Redact keys, passwords and tokens from URLs, text and responses."""

import html
import json
import re
from base64 import b64encode
from collections.abc import Iterable
from functools import lru_cache
from typing import AnyStr
from urllib.parse import quote, quote_plus, unquote, unquote_plus, urlsplit, urlunsplit

HIDDEN = "***"

# Prefixes of secret names, with or without a separator: authkey, user_key, sessionToken.
_PREFIXES = (
    "access|account|api|app|auth|bearer|client|consumer|customer|dev|developer|id|licen[cs]e|login|master|my|oauth2?"
    "|partner|private|refresh|secret|security|service|session|shared|signing|subscription|user"
)
_SECRET_NAME = re.compile(
    rf"(^|[-_. ])(({_PREFIXES})[-_. ]?)*"
    r"(key|token|secret|password|passwd|passphrase|pwd|sig|signature|auth|authorization|jwt|bearer|credentials?"
    r"|access[-_. ]?key[-_. ]?id|token[-_. ]?id)$",
    re.IGNORECASE,
)
_CAMEL_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_TRAILING_NUMBER = re.compile(r"[-_. \[\]0-9]+$")
_PAIR = re.compile(r"[^&;]+")
_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})
_ESCAPE = re.compile("%[0-9A-F]{2}")
# Shorter values would match ordinary words in messages or content.
_MIN_SECRET_CHARS = 4
_MIN_SECRET_CHARS_IN_CONTENT = 8


@lru_cache(maxsize=1024)
def is_secret_name(name: str) -> bool:
    """Whether a header or query parameter with this name, which may be percent-encoded, contains a secret."""
    decoded = unquote(unquote(name)).strip()
    if decoded.lower() in _SECRET_HEADERS:
        return True
    stripped = _TRAILING_NUMBER.sub("", decoded).replace("[", "_")
    return any(_SECRET_NAME.search(text) for text in (stripped, _CAMEL_BOUNDARY.sub("_", stripped)))


def read_pair(pair: str) -> tuple[str, str]:
    name, _, value = pair.partition("=")
    return unquote_plus(name).strip(), unquote_plus(value)


def list_pairs(query: str) -> list[str]:
    """Return the ``name=value`` pairs of a query string without decoding them; the separator is ``&`` or ``;``."""
    return _PAIR.findall(query)


@lru_cache(maxsize=256)
def redact_url(url: str) -> str:
    """Return a URL without its user, password and fragment, and with the values of secret parameters hidden."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    query = _PAIR.sub(_redact_pair, parts.query)
    return urlunsplit(parts._replace(netloc=host, query=query, fragment=""))


def _redact_pair(pair: re.Match[str]) -> str:
    name, equals, _ = pair[0].partition("=")
    return f"{name}={HIDDEN}" if equals and is_secret_name(unquote_plus(name)) else pair[0]


def redact(data: AnyStr, secrets: Iterable[str], hidden: str = HIDDEN) -> AnyStr:
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) < _MIN_SECRET_CHARS:
            break
        for text, encoded in _list_forms(secret):
            data = data.replace(encoded, hidden.encode()) if isinstance(data, bytes) else data.replace(text, hidden)
        if isinstance(data, bytes):
            data = _compile_escaped(secret)[1].sub(hidden.encode(), data) if b"\\u" in data else data
        elif "\\u" in data:
            data = _compile_escaped(secret)[0].sub(hidden, data)
    return data


@lru_cache(maxsize=256)
def _compile_escaped(secret: str) -> tuple[re.Pattern[str], re.Pattern[bytes]]:
    """Return patterns that match a key even if any of its characters are written as JSON escapes."""
    escapes = [re.sub("....", r"\\\\u\g<0>", char.encode("utf-16-be", "surrogatepass").hex()) for char in secret]
    pattern = "".join(rf"(?:\\?{re.escape(char)}|{escape})" for char, escape in zip(secret, escapes, strict=True))
    return re.compile(pattern, re.IGNORECASE), re.compile(pattern.encode(errors="surrogateescape"), re.IGNORECASE)


def redact_content(data: AnyStr, secrets: Iterable[str]) -> AnyStr:
    return redact(data, [secret for secret in secrets if len(secret) >= _MIN_SECRET_CHARS_IN_CONTENT])


@lru_cache(maxsize=256)
def _list_forms(secret: str) -> tuple[tuple[str, bytes], ...]:
    """Return a key in plain text, URL, JSON and HTML encodings (also in upper and lower case), and base64."""
    # The value of an environment variable may be invalid UTF-8.
    raw, in_json = secret.encode(errors="surrogateescape"), json.dumps(secret)[1:-1]
    forms = [secret, quote(raw, safe=""), quote(raw), quote_plus(raw), in_json, in_json.replace("/", "\\/")]
    # Some servers HTML-escape strings in JSON, put JSON into JSON, or write percent escapes in lower case.
    forms += [html.escape(secret), json.dumps(in_json)[1:-1]]
    forms += [_ESCAPE.sub(lambda m: m[0].lower(), form) for form in forms]
    forms += [form.lower() for form in forms] + [form.upper() for form in forms]
    # If base64 encodes a longer text, such as ``user:key``, these characters depend only on the key and its position.
    for offset in range(3):
        in_base64 = b64encode(bytes(offset) + raw).decode()[-(-8 * offset // 6) : 8 * (offset + len(raw)) // 6]
        forms += [in_base64, in_base64.replace("+", "-").replace("/", "_")]
    forms = sorted(dict.fromkeys(forms), key=len, reverse=True)
    return tuple((form, form.encode(errors="surrogateescape")) for form in forms)
