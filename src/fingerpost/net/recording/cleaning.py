"""Remove keys from recordings; content that they cannot be removed from is not written."""

import codecs
import re
import threading
from collections.abc import Collection, Iterable, Mapping

from fingerpost.net.recording.key_pattern import SHORTEST_KEY, has_escaped_letter, list_patterns
from fingerpost.net.redaction import HIDDEN, is_secret_name, redact_url

# Whoever keeps these keeps a session; the others describe the wire, and a recording holds content.
_DROPPED_HEADERS = frozenset(
    {"set-cookie", "content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive"}
)
_URL_HEADERS = frozenset({"location", "content-location"})


class KnownKeys:
    """All keys seen so far, because one source's response may repeat another's key."""

    def __init__(self) -> None:
        self.values: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    def add(self, keys: Iterable[str]) -> None:
        """Take in more keys; from any thread."""
        with self._lock:
            self.values |= frozenset(keys)


class Cleaner:
    """Removes keys from a streamed body, in every encoding in which sources write them.

    Attributes:
        found: keys that were replaced.
        is_binary: some of the content is no UTF-8 text, so a replaced key has damaged it.
        found_short: the content holds the letters of a key too short to be told from innocent text.
    """

    def __init__(self, secrets: Collection[str]) -> None:
        self._patterns = [pattern for secret in secrets for pattern in list_patterns(secret)]
        short = [re.escape(secret.encode()) for secret in secrets if 0 < len(secret) < SHORTEST_KEY]
        self._short = re.compile(b"|".join(short)) if short else None
        self._longest = max((pattern.longest for pattern in self._patterns), default=1)
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

    def _find_spans(self, data: bytes) -> list[tuple[int, int]]:
        """Return where keys are written, in order; those of several keys that overlap are one."""
        if not self._patterns:
            return []
        # Far faster than the expressions, and most content holds no key.
        folded = _fold(data)
        any_may = has_escaped_letter(folded)
        near = [pattern for pattern in self._patterns if any_may or pattern.may_be_in(folded)]
        merged: list[tuple[int, int]] = []
        for start, end in sorted(span for pattern in near for span in pattern.list_spans(data)):
            if merged and start < merged[-1][1]:
                merged[-1] = merged[-1][0], max(end, merged[-1][1])
            else:
                merged.append((start, end))
        return merged

    def _clean(self, data: bytes, cut: int) -> tuple[bytes, int]:
        """Return the cleaned start of ``data``, and where it ends: at ``cut``, or before a key that reaches beyond."""
        parts, at = [], 0
        for start, end in self._find_spans(data):
            if end > cut:
                # What follows may make it longer.
                cut = min(cut, start)
                break
            parts += [data[at:start], HIDDEN.encode()]
            at = end
            self.found += 1
        return b"".join([*parts, data[at:cut]]), cut


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


def _fold(data: bytes) -> bytes:
    return (data.translate(None, b"\0") if b"\0" in data else data).lower()
