"""Decode GTFS-Realtime FeedMessages and their texts."""

from typing import NamedTuple

from google.protobuf.message import DecodeError
from google.transit.gtfs_realtime_pb2 import FeedMessage


class FeedBytes(NamedTuple):
    """A received message, its time (Unix seconds), its FEED (None: all of the network), and the name of its source."""

    bytes: bytes
    received: int
    feed_name: str | None = None
    origin: str = ""


# An empty entity has two bytes, but takes a few hundred once parsed.
MAX_ENTITIES = 500_000
# The tag of an entity: field 2, of stated length.
_ENTITY = 0x12
_FIXED_BYTES = {1: 8, 5: 4}


def has_too_many_entities(data: bytes) -> bool:
    """Count the entities of a message over the wire format, without parsing it."""
    at = count = 0
    try:
        while len(data) > max(at, 2 * MAX_ENTITIES) and count <= MAX_ENTITIES:
            tag, at = _read_varint(data, at)
            count += tag == _ENTITY
            kind = tag & 7
            number, at = _read_varint(data, at) if kind in (0, 2) else (0, at)
            at += number if kind == 2 else _FIXED_BYTES.get(kind, 0)
    except IndexError:
        # Truncated or not a message; parsing it fails as well.
        pass
    return count > MAX_ENTITIES


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    raise IndexError


def find_message(data: bytes) -> FeedMessage | None:
    """Return the message, or None if the bytes are damaged or lack a header, as an empty file does."""
    message = FeedMessage()
    try:
        message.ParseFromString(data)
    except DecodeError:
        return None
    return message if message.HasField("header") else None


def find_timestamp(data: bytes) -> int | None:
    """Return a message's own timestamp (Unix seconds), or None; ValueError completes "The source gave ..."."""
    if has_too_many_entities(data):
        raise ValueError(f"a message with more than {MAX_ENTITIES:,} entities, which is too large")
    message = find_message(data)
    if message is None:
        what = "a web page" if data.lstrip()[:1] == b"<" else "something that is not a GTFS-Realtime message"
        raise ValueError(what)
    return message.header.timestamp or None


def plain_text(text: str | bytes) -> str:
    """Return a text; the bindings return texts that are not UTF-8 as bytes."""
    return text if isinstance(text, str) else text.decode(errors="replace")
