"""Decode GTFS-Realtime messages, reject oversized ones, and define the outcomes of entities."""

from enum import StrEnum
from functools import cache
from typing import NamedTuple

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError
from google.transit.gtfs_realtime_pb2 import FeedMessage


class FeedBytes(NamedTuple):
    """A received message: its time of receipt (Unix seconds), FEED (None: all in the network), and source name."""

    bytes: bytes
    received: int
    feed_name: str | None = None
    origin: str = ""


# An empty entity or stop time update is two bytes long, but takes up a few hundred bytes once parsed.
MAX_ENTITIES = 500_000
MAX_PARTS = 2_000_000
_FIXED_BYTES = {1: 8, 5: 4}


@cache
def _list_repeated(message: Descriptor) -> dict[int, Descriptor | None]:
    """Return {field number: type} of submessages that are, or contain, repeated ones; None for types that do not."""
    types = {field.number: (field.is_repeated, field.message_type) for field in message.fields if field.message_type}
    nested = {number: part if _list_repeated(part) else None for number, (_, part) in types.items()}
    return {number: nested[number] for number, (is_repeated, _) in types.items() if is_repeated or nested[number]}


def _has_more(data: bytes, limit: int, *, is_nested: bool) -> bool:
    """Whether a message has over ``limit`` entities (if ``is_nested``: repeated submessages at all levels)."""
    count, todo = 0, [(0, len(data), FeedMessage.DESCRIPTOR)]
    try:
        while todo and len(data) > 2 * limit:
            position, end, message = todo.pop()
            parts = _list_repeated(message)
            while position < end and count <= limit:
                # Most varints are one byte long, and calling a function for each would take twice as long.
                tag = data[position]
                tag, position = (tag, position + 1) if tag < 0x80 else _read_varint(data, position)
                wire_type, length = tag & 7, 0
                if wire_type in (0, 2):
                    length = data[position]
                    length, position = (length, position + 1) if length < 0x80 else _read_varint(data, position)
                if wire_type == 2:
                    if tag >> 3 in parts:
                        count += 1
                        if is_nested and length and (part := parts[tag >> 3]) is not None:
                            todo.append((position, position + length, part))
                    position += length
                else:
                    position += _FIXED_BYTES.get(wire_type, 0)
    except IndexError:
        # The data is truncated or not a message, so parsing it fails as well.
        pass
    return count > limit


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        value |= (data[position] & 0x7F) << shift
        position += 1
        if data[position - 1] < 0x80:
            return value, position
    raise IndexError


def parse_message(data: bytes) -> FeedMessage | None:
    """Parse a message; return None if it is damaged or lacks a header, as an empty file does."""
    message = FeedMessage()
    try:
        message.ParseFromString(data)
    except DecodeError:
        return None
    return message if message.HasField("header") else None


def find_timestamp(data: bytes) -> int | None:
    """Return a message's timestamp (Unix seconds) or None; raise ValueError if it is oversized or not a message."""
    if _has_more(data, MAX_ENTITIES, is_nested=False):
        raise ValueError(f"a message with more than {MAX_ENTITIES:,} entities, which is too large")
    if _has_more(data, MAX_PARTS, is_nested=True):
        raise ValueError(f"a message with more than {MAX_PARTS:,} stop times and other parts, which is too large")
    message = parse_message(data)
    if message is None:
        content = "a web page" if data.lstrip()[:1] == b"<" else "something that is not a GTFS-Realtime message"
        raise ValueError(content)
    return message.header.timestamp or None


def to_text(text: str | bytes) -> str:
    """Convert a protobuf string to str; the bindings return strings that are not UTF-8 as bytes."""
    return text if isinstance(text, str) else text.decode(errors="replace")


class EntityOutcome(StrEnum):
    """The outcome of reading an entity in a GTFS-Realtime message; each entity has exactly one.

    ``*_IN_PART``: the entity was applied without some of its stop time updates, new stops or delays.
    """

    TRIP_UPDATED = "trip-updated"
    TRIP_UPDATED_IN_PART = "trip-updated-in-part"
    TRIP_CANCELLED = "trip-cancelled"
    TRIP_DELETED = "trip-deleted"
    TRIP_ADDED = "trip-added"
    TRIP_ADDED_IN_PART = "trip-added-in-part"
    TRIP_REPLACED = "trip-replaced"
    TRIP_REPLACED_IN_PART = "trip-replaced-in-part"
    ALERT_GIVEN = "alert-given"

    SUPERSEDED = "superseded-by-a-newer-one"
    ENTITY_DELETED = "entity-deleted"
    KIND_NOT_READ = "kind-not-read"
    FROM_THE_FUTURE = "from-the-future"

    TRIP_UNKNOWN = "trip-unknown"
    TRIP_NOT_NAMED = "trip-not-named"
    TRIP_AMBIGUOUS = "trip-ambiguous"
    ID_SHARED = "id-of-several-feeds"
    ROUTE_DIFFERS = "trip-of-another-route"
    START_DATE_INVALID = "start-date-invalid"
    START_DATE_FAR = "start-date-far-from-today"
    NOT_RUNNING = "trip-not-running-that-day"
    START_TIME_MISSING = "start-time-missing"
    START_TIME_UNKNOWN = "start-time-unknown"
    WITHOUT_TIMES = "trip-without-times"
    DELAY_OUT_OF_RANGE = "trip-delay-out-of-range"
    CALLS_UNMATCHED = "trip-calls-unmatched"
    REPLACEMENT_UNPLACED = "trip-replaced-by-nothing-known"
    ADDED_UNPLACED = "added-trip-without-two-known-calls"
    FEED_UNCLEAR = "added-trip-of-an-unknown-feed"

    ALERT_WITHOUT_SELECTOR = "alert-without-known-selector"
    ALERT_BEYOND_LIMIT = "alert-beyond-limit"


APPLIED = frozenset({
    EntityOutcome.TRIP_UPDATED, EntityOutcome.TRIP_UPDATED_IN_PART, EntityOutcome.TRIP_CANCELLED,
    EntityOutcome.TRIP_DELETED, EntityOutcome.TRIP_ADDED, EntityOutcome.TRIP_ADDED_IN_PART,
    EntityOutcome.TRIP_REPLACED, EntityOutcome.TRIP_REPLACED_IN_PART, EntityOutcome.ALERT_GIVEN,
})  # fmt: skip
