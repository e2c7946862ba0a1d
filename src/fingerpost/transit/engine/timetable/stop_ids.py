"""Stop ids in answers: ``FEED:LOCAL``, always matching ``^[A-Z0-9:_-]+$`` (rule A8, the lookup contract).

Letters become upper case, and any other character ``_XX`` for each of its UTF-8 bytes. An underscore is escaped only if
two hexadecimal digits follow, so the escape can be undone. Of two ids that differ in case only, the lower-case letters
of the later one are escaped.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

# How far apart the positions of one stop may be in two feeds (rule A8).
SAME_STOP_M = 100.0

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-")
_ALL_PLAIN = re.compile(r"[A-Z0-9:-]*")
_LOOKS_ESCAPED = re.compile(r"[0-9A-Fa-f]{2}")
_ESCAPED = re.compile(r"(?:_[0-9A-F]{2})+")


def clean_feed_name(name: str) -> str:
    """Return a feed's name for ids, without a colon, because an id is split at the first one."""
    return escape(name.upper().replace(":", "-"))


def escape(text: str) -> str:
    """Escape everything but upper-case letters, digits, ``:``, ``-`` and plain underscores."""
    if _ALL_PLAIN.fullmatch(text):
        return text
    parts = []
    for index, character in enumerate(text):
        if character in _PLAIN or (character == "_" and not _LOOKS_ESCAPED.match(text, index + 1)):
            parts.append(character)
        else:
            parts.extend(f"_{byte:02X}" for byte in character.encode())
    return "".join(parts)


def unescape(text: str) -> str:
    return _ESCAPED.sub(_read_bytes, text)


def _read_bytes(escaped: re.Match[str]) -> str:
    raw = bytes.fromhex(escaped[0].replace("_", ""))
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return escaped[0]


def encode_stop_ids(ids: Iterable[tuple[str, str]]) -> list[str]:
    """Return the unique ids of (feed name, local id) pairs, in their order."""
    printed: dict[str, None] = {}
    prefix_of = lru_cache(maxsize=None)(clean_feed_name)
    for feed, local_id in ids:
        text = f"{prefix_of(feed)}:{escape(local_id.upper())}"
        if text in printed:
            text = f"{prefix_of(feed)}:{escape(local_id)}"
        while text in printed:
            text += "-"
        printed[text] = None
    return list(printed)
