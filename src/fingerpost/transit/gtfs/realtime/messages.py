"""Bytes as they came, and whether they are a message at all."""

from typing import NamedTuple

from google.protobuf.message import DecodeError
from google.transit.gtfs_realtime_pb2 import FeedMessage


class FeedBytes(NamedTuple):
    """A message as it came, when (Unix seconds), and the FEED that it speaks of, None for all of the network."""

    bytes: bytes
    received: int
    feed_name: str | None = None


def find_message(data: bytes) -> FeedMessage | None:
    """Return the message in some bytes, None where they are damaged or something else.

    Bytes without a header are something else: an empty file would otherwise pass for a message.
    """
    message = FeedMessage()
    try:
        message.ParseFromString(data)
    except DecodeError:
        return None
    return message if message.HasField("header") else None


def find_timestamp(data: bytes) -> int | None:
    """Return a message's own timestamp (Unix seconds), None where it states none.

    Raises:
        ValueError: the bytes are not a message.
    """
    message = find_message(data)
    if message is None:
        raise ValueError("not a GTFS-Realtime message")
    return message.header.timestamp or None
