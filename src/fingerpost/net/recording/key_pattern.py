"""Find a key in content, in every way in which URLs, JSON, HTML and UTF-16 may write its characters."""

import base64
import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from html.entities import html5
from urllib.parse import unquote

# A shorter key would also match innocent words.
SHORTEST_KEY = 4

# Encoded again, a percent sign becomes %25, a backslash two, an ampersand &amp;.
_PERCENT = rb"%(?:25){0,3}"
_BACKSLASH = rb"\\\\{0,3}"
_AMP = rb"(?:amp;){0,2}"
# A percent sign that is itself written as an escape of JSON or of HTML.
_ESCAPED_PERCENTS = (
    _BACKSLASH + rb"(?:[uU]00|[xX])25(?:25){0,3}",
    rb"&" + _AMP + rb"(?:#0{0,5}37|#[xX]0{0,5}25|percnt);(?:25){0,3}",
)
_HASH = rb"(?:#|%(?:25){0,3}23)"
_END = rb"(?:;|%(?:25){0,3}3[bB])?"
# The most bytes per character, on average over a key: enough for &amp;amp;#x0000002B; and for escapes in UTF-16.
_LONGEST_CHARACTER = 24
_LETTER_HEX = rb"(?:3[0-9]|[46][1-9a-fA-F]|[57][0-9aA])"
_LETTER_ENTITY = _AMP + _HASH + rb"(?:[xX]0{0,5}" + _LETTER_HEX + rb"|0{0,5}(?:[4-9][0-9]|1[0-2][0-9])(?![0-9]))"
# Letters and digits need no escape. Only where one has it all the same, a key's plain run may be missing.
_ESCAPED_LETTERS = (
    re.compile(_PERCENT + rb"(?:[uU]00)?" + _LETTER_HEX),
    re.compile(rb"%(?:25){0,3}(?:26" + _LETTER_ENTITY + rb"|5[cC](?:[uU]00|[xX]|[uU]\{0{0,4})" + _LETTER_HEX + rb")"),
    re.compile(_BACKSLASH + rb"(?:(?:[uU]00|[xX]|[uU]\{0{0,4})" + _LETTER_HEX + rb"|[uU]0026" + _LETTER_ENTITY + rb")"),
    re.compile(rb"&" + _LETTER_ENTITY),
    *(re.compile(percent + _LETTER_HEX) for percent in _ESCAPED_PERCENTS),
)
_SHORT_ESCAPES = {"\n": b"n", "\t": b"t", "\r": b"r", "\b": b"b", "\f": b"f"}
# One is written for the other: a form's blank, and base64 in a URL.
_TWINS = {" ": " +", "+": "+ ", "/": "/"}
_TWINS_BASE64 = {"+": "+- ", "/": "/_"}


class KeyPattern:
    """The pattern of one key, or of its base64; letter case, padding and the escape of each character may differ.

    Attributes:
        longest: the most bytes that a match can have.
    """

    def __init__(self, text: str, twins: dict[str, str]) -> None:
        core = text.rstrip("=")
        core, padding = (core, len(text) - len(core)) if len(core) >= SHORTEST_KEY else (text, 0)
        padding = max(padding, 2 if twins is _TWINS_BASE64 else 0)
        runs = re.findall("[A-Za-z0-9]+", core)
        self._run = max(runs, key=len, default="").lower().encode()
        self._core, self._twins, self._padding = core, twins, padding
        self.longest = _LONGEST_CHARACTER * (len(core) + padding)

    @cached_property
    def _expression(self) -> re.Pattern[bytes]:
        # Compiling takes 5 ms per character: only once a key may be there.
        optional = b"(?:" + _character("=", {}) + b")?"
        characters = b"".join(_character(char, self._twins) for char in self._core)
        return re.compile(characters + optional * self._padding)

    def may_be_in(self, folded: bytes) -> bool:
        """Return whether the key's longest plain run is in content that is in lower case and free of NUL bytes."""
        return self._run in folded

    def list_spans(self, data: bytes) -> list[tuple[int, int]]:
        """Return the start and end of each place where the key is written; in UTF-16 too, past its NUL bytes."""
        if b"\0" not in data:
            return [match.span() for match in self._expression.finditer(data)]
        spans = [match.span() for match in self._expression.finditer(data.translate(None, b"\0"))]
        if not spans:
            return []
        places = [place for place, octet in enumerate(data) if octet]
        found = [(places[start], places[end - 1] + 1) for start, end in spans]
        return [(start, end) for start, end in found if end - start <= self.longest]


@lru_cache(maxsize=256)
def list_patterns(secret: str) -> tuple[KeyPattern, ...]:
    """Return the patterns of a key, plain and in base64; none for a key too short to be told from innocent text."""
    if len(secret) < SHORTEST_KEY:
        return ()
    # A key that is given percent-encoded may come back decoded.
    plain = dict.fromkeys((secret, unquote(secret)))
    encoded = base64.b64encode(secret.encode("utf-8", "surrogateescape")).decode()
    patterns = [KeyPattern(text, _TWINS) for text in plain if len(text) >= SHORTEST_KEY]
    return (*patterns, KeyPattern(encoded, _TWINS_BASE64))


def has_escaped_letter(data: bytes) -> bool:
    """Return whether an ASCII letter or digit is written as an escape, which no ordinary encoder does."""
    return any(pattern.search(data) for pattern in _ESCAPED_LETTERS)


def _character(char: str, twins: dict[str, str]) -> bytes:
    """Return an expression for all ways to write a character; each branch begins with a literal, which is fast."""
    either_case = [case for case in (char.lower(), char.upper()) if len(case) == 1]
    same = dict.fromkeys([char, *either_case, *twins.get(char, "")])
    return b"(?:" + b"|".join(branch for one in same for branch in _branches(one)) + b")"


def _branches(char: str) -> Iterator[bytes]:
    raw = _raw_forms(char)
    number = ord(char)
    names = [re.escape(name.rstrip(";").encode()) for name, text in html5.items() if text == char]
    numbers = [rb"0{0,5}%d(?![0-9])" % number, rb"[xX]0{0,5}" + _hex(f"{number:x}")]
    entity = (
        _AMP + b"(?:" + b"|".join([_HASH + b"(?:" + b"|".join(numbers) + b")", *dict.fromkeys(names)]) + b")" + _END
    )
    units = re.findall("....", char.encode("utf-16-be", "surrogatepass").hex())
    escapes = [_BACKSLASH.join(b"[uU]" + _hex(unit) for unit in units), rb"[uU]\{0{0,4}" + _hex(f"{number:x}") + rb"\}"]
    if number < 0x100:
        escapes.append(b"[xX]" + _hex(f"{number:02x}"))
    if char in _SHORT_ESCAPES:
        escapes.append(_SHORT_ESCAPES[char])
    elif number < 0x80 and not char.isalnum():
        escapes.append(re.escape(char.encode()))
    escape = b"(?:" + b"|".join(escapes) + b")"
    octets = [_PERCENT.join(_hex(f"{octet:02x}") for octet in form) for form in raw]
    in_url = [*octets, _PERCENT.join(b"[uU]" + _hex(unit) for unit in units), b"26" + entity, b"5[cC]" + escape]
    yield from map(re.escape, raw)
    yield b"&" + entity
    # Backslashes that are the key's own are not counted in every way.
    lead = rb"\\" if char == "\\" else _BACKSLASH
    yield lead + b"(?:" + escape + b"|[uU]0026" + entity + b")"
    yield _PERCENT + b"(?:" + b"|".join(in_url) + b")"
    for percent in _ESCAPED_PERCENTS:
        yield percent + b"(?:" + b"|".join(percent.join(_hex(f"{octet:02x}") for octet in form) for form in raw) + b")"


def _raw_forms(char: str) -> list[bytes]:
    forms = [char.encode("utf-8", "surrogateescape")]
    if ord(char) >= 0x80:
        others = (char.encode(charset, "ignore") for charset in ("latin-1", "utf-16-le", "utf-16-be"))
        forms += [form.replace(b"\0", b"") for form in others if form]
    return list(dict.fromkeys(forms))


def _hex(digits: str) -> bytes:
    return b"".join(f"[{digit}{digit.upper()}]".encode() if digit.isalpha() else digit.encode() for digit in digits)
