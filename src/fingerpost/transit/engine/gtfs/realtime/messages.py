"""Decode GTFS-Realtime FeedMessages and their strings, and list entity outcomes."""

from enum import StrEnum
from typing import NamedTuple

from google.protobuf.message import DecodeError
from google.transit.gtfs_realtime_pb2 import FeedMessage


class FeedBytes(NamedTuple):
    """A received message: its time of receipt (Unix seconds), FEED (None: all in the network), and source name."""

    bytes: bytes
    received: int
    feed_name: str | None = None
    origin: str = ""


def parse_message(data: bytes) -> FeedMessage | None:
    """Parse a message; return None if it is damaged or lacks a header, as an empty file does."""
    message = FeedMessage()
    try:
        message.ParseFromString(data)
    except DecodeError:
        return None
    return message if message.HasField("header") else None


def find_timestamp(data: bytes) -> int | None:
    """Return a message's timestamp (Unix seconds) or None; the text of a ValueError completes "The source returned"."""
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


APPLIED = frozenset({
    EntityOutcome.TRIP_UPDATED, EntityOutcome.TRIP_UPDATED_IN_PART, EntityOutcome.TRIP_CANCELLED,
    EntityOutcome.TRIP_DELETED, EntityOutcome.TRIP_ADDED, EntityOutcome.TRIP_ADDED_IN_PART,
    EntityOutcome.TRIP_REPLACED, EntityOutcome.TRIP_REPLACED_IN_PART, EntityOutcome.ALERT_GIVEN,
})  # fmt: skip
