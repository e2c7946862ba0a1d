"""Keys are taken out of what goes to the disk; what they cannot be taken out of is not written."""

import base64
import codecs
import html
import json
import re
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from urllib.parse import quote, quote_plus

from fingerpost.net.redaction import HIDDEN, is_secret_name, redact_url

# A shorter key would be found in innocent words, so it cannot be told from them.
SHORTEST_KEY = 4

# Whoever keeps these keeps a session; the others describe the wire, and a recording holds content.
_DROPPED_HEADERS = frozenset(
    {"set-cookie", "content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive"}
)
_URL_HEADERS = frozenset({"location", "content-location"})


class KnownKeys:
    """All keys that were seen so far. A source may repeat the key of another one, so all are looked for everywhere."""

    def __init__(self) -> None:
        self.values: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    def add(self, keys: Iterable[str]) -> None:
        """Take in more keys; from any thread."""
        with self._lock:
            self.values |= frozenset(keys)


class Cleaner:
    """Takes keys out of one body that comes piece by piece, in every way in which sources write them.

    Attributes:
        found: keys that were replaced.
        is_binary: some of the content is no UTF-8 text, so a replaced key has damaged it.
        found_short: the content holds the letters of a key too short to be told from innocent text.
    """

    def __init__(self, secrets: Collection[str]) -> None:
        written = {form for secret in secrets for form in _forms(secret) if form}
        self._pattern = _alternatives(form for form in written if len(form) >= SHORTEST_KEY)
        self._exact = [form for form in written if b"%" not in form]
        self._in_either_case = [form.lower() for form in written if b"%" in form]
        self._short = _alternatives(secret.encode() for secret in secrets if 0 < len(secret) < SHORTEST_KEY)
        self._longest = max(map(len, written), default=1)
        self._held = self._tail = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.found = 0
        self.is_binary = False
        self.found_short = False

    @property
    def problem(self) -> str | None:
        """Why the content must not be kept, or None."""
        if self.found_short:
            return f"its content holds the letters of a key that has fewer than {SHORTEST_KEY} characters"
        if self.found and self.is_binary:
            return "its content is binary and holds a key, which cannot be taken out without damage"
        return None

    def feed(self, piece: bytes) -> bytes:
        """Return what may be written so far; a key may go on in the next piece, so the end is held back."""
        self._look(piece)
        data = self._held + piece
        cut = max(0, len(data) - self._longest + 1)
        clean, cut = self._clean(data, cut)
        self._held = data[cut:]
        return clean

    def end(self) -> bytes:
        """Return the rest."""
        clean, _ = self._clean(self._held, len(self._held))
        self._held = b""
        try:
            self._decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            self.is_binary = True
        return clean

    def _look(self, piece: bytes) -> None:
        if not self.is_binary:
            try:
                self._decoder.decode(piece)
            except UnicodeDecodeError:
                self.is_binary = True
            self.is_binary = self.is_binary or b"\0" in piece
        if self._short is not None and not self.found_short:
            seen = self._tail + piece
            self.found_short = self._short.search(seen) is not None
            self._tail = seen[-SHORTEST_KEY:]

    def _may_hold_key(self, data: bytes) -> bool:
        # Fifty times as fast as the expression, and most content holds none.
        if any(form in data for form in self._exact):
            return True
        return bool(self._in_either_case) and any(form in data.lower() for form in self._in_either_case)

    def _clean(self, data: bytes, cut: int) -> tuple[bytes, int]:
        """Return the cleaned start of ``data``, and where it ends: at ``cut``, or behind a key that begins before."""
        if self._pattern is None or not self._may_hold_key(data):
            return data[:cut], cut
        parts, at = [], 0
        for match in self._pattern.finditer(data):
            if match.start() >= cut:
                break
            parts += [data[at : match.start()], HIDDEN.encode()]
            at = match.end()
            self.found += 1
        end = max(at, cut)
        return b"".join([*parts, data[at:end]]), end


def clean_text(text: str, secrets: Collection[str]) -> str:
    """Return a text without these keys."""
    cleaner = Cleaner([secret for secret in secrets if len(secret) >= SHORTEST_KEY])
    return (cleaner.feed(text.encode("utf-8", "surrogateescape")) + cleaner.end()).decode("utf-8", "surrogateescape")


def clean_url(url: str, secrets: Collection[str]) -> str:
    """Return an address without these keys, and without whatever is named like one."""
    return clean_text(redact_url(url), secrets)


def clean_headers(headers: Mapping[str, str], secrets: Collection[str]) -> dict[str, str]:
    """Return the headers of an answer that are kept, by name."""
    kept = {name: value for name, value in sorted(headers.items()) if name not in _DROPPED_HEADERS}
    return {name: _clean_header(name, value, secrets) for name, value in kept.items()}


def holds_short_key(texts: Iterable[str], secrets: Collection[str]) -> bool:
    """Return whether any text holds the letters of a key that is too short to be taken out."""
    short = [secret for secret in secrets if 0 < len(secret) < SHORTEST_KEY]
    return any(secret in text for text in texts for secret in short)


def _clean_header(name: str, value: str, secrets: Collection[str]) -> str:
    if is_secret_name(name):
        return HIDDEN
    return clean_url(value, secrets) if name in _URL_HEADERS else clean_text(value, secrets)


def _alternatives(forms: Iterable[bytes]) -> "re.Pattern[bytes] | None":
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile(b"|".join(map(_expression, longest_first))) if longest_first else None


def _expression(form: bytes) -> bytes:
    # Percent-encoding is the same in either case.
    return re.sub(rb"%[0-9A-Fa-f]{2}", lambda code: b"(?i:" + code[0] + b")", re.escape(form))


def _forms(secret: str) -> Iterator[bytes]:
    """Yield a key as sources write it: plain, in a URL, in JSON, in HTML, in base64."""
    if len(secret) < SHORTEST_KEY:
        return
    in_url = [quote(secret, safe=""), quote(secret), quote_plus(secret)]
    in_json = json.dumps(secret)[1:-1]
    texts = [
        secret,
        *in_url,
        in_json,
        in_json.replace("/", "\\/"),
        html.escape(secret),
        html.escape(secret, quote=False),
    ]
    yield from (text.encode("utf-8", "surrogateescape") for text in texts)
    data = secret.encode("utf-8", "surrogateescape")
    for encoded in (base64.b64encode(data), base64.urlsafe_b64encode(data)):
        yield encoded
        yield encoded.rstrip(b"=")
