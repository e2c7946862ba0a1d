"""Stop ids as they are printed: ``FEED:LOCAL``, always matching ``^[A-Z0-9:_-]+$`` (rule A8, the lookup contract).

Letters are raised to upper case; any other character becomes ``_XX``, its UTF-8 bytes in hexadecimal.
An underscore stands for itself unless two hexadecimal digits follow, when it is escaped too; so
the escape can be undone. Upper-casing cannot, so two ids that differ in case only are told apart by
escaping the lower-case letters of the later one, and the index keeps each printed id beside its own stop.
"""

import re
from collections.abc import Iterable

# Rule A8: how far apart one stop may lie in two feeds.
SAME_STOP_M = 100.0

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-")
_ALL_PLAIN = re.compile(r"[A-Z0-9:-]*")
_LOOKS_ESCAPED = re.compile(r"[0-9A-Fa-f]{2}")
_ESCAPED = re.compile(r"(?:_[0-9A-F]{2})+")


def print_feed_name(name: str) -> str:
    """Return a feed's name in the printed form; it holds no colon, because an id is split at the first one."""
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


def print_stop_ids(ids: Iterable[tuple[str, str]]) -> list[str]:
    """Return the printed form of (feed name, local id) pairs, in order, each different from all others."""
    taken: set[str] = set()
    printed = []
    prefixes: dict[str, str] = {}
    for feed, local_id in ids:
        prefix = prefixes.get(feed)
        if prefix is None:
            prefix = prefixes[feed] = print_feed_name(feed) + ":"
        text = prefix + escape(local_id.upper())
        if text in taken:
            text = prefix + escape(local_id)
        while text in taken:
            text += "-"
        taken.add(text)
        printed.append(text)
    return printed
