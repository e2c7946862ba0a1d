"""Encode stop ids as ``FEED:LOCAL``, which matches ``^[A-Z0-9:_-]+$`` (rule A8, the lookup contract).

Letters are converted to upper case; then each UTF-8 byte of a character outside that pattern becomes ``_XX``. An
underscore is escaped only if two hexadecimal digits follow, so the escape can be reversed. If two ids differ only in
case, the lower-case letters of the later one are escaped or, if it has none, those of the earlier one.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

# The maximum distance between the positions of the same stop in two feeds (rule A8).
SAME_STOP_M = 100.0

_UNSAFE = re.compile(r"_(?=[0-9A-Fa-f]{2})|[^A-Z0-9:_-]")
_ESCAPED = re.compile(r"(?:_[0-9A-F]{2})+")


def clean_feed_name(name: str) -> str:
    """Return a feed's name as an id prefix; it has no colons, because ids are split at the first colon."""
    return escape(name.upper().replace(":", "-"))


def escape(text: str) -> str:
    """Escape everything but upper-case letters, digits, ``:``, ``-`` and plain underscores."""
    return _UNSAFE.sub(lambda match: "".join(f"_{byte:02X}" for byte in match[0].encode()), text)


def unescape(text: str) -> str:
    return _ESCAPED.sub(_decode_bytes, text)


def _decode_bytes(escaped: re.Match[str]) -> str:
    raw = bytes.fromhex(escaped[0].replace("_", ""))
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return escaped[0]


def encode_stop_ids(ids: Iterable[tuple[str, str]]) -> list[str]:
    """Return a unique id for each (feed name, local id) pair, in the same order."""
    pairs = list(ids)
    encoded = [""] * len(pairs)
    known: set[str] = set()
    to_prefix = lru_cache(maxsize=None)(clean_feed_name)
    # Upper-case ids come first, so that no other id is encoded as one of them.
    for row in sorted(range(len(pairs)), key=lambda row: pairs[row][1] != pairs[row][1].upper()):
        feed, local_id = pairs[row]
        text = f"{to_prefix(feed)}:{escape(local_id.upper())}"
        if text in known:
            text = f"{to_prefix(feed)}:{escape(local_id)}"
        while text in known:
            text += "-"
        known.add(text)
        encoded[row] = text
    return encoded
