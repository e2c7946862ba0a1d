"""Decodes GTFS-Realtime FeedMessages, and the texts in them."""

from typing import NamedTuple

from google.protobuf.message import DecodeError
from google.transit.gtfs_realtime_pb2 import FeedMessage


class FeedBytes(NamedTuple):
    """A message as it came, when (Unix seconds), and the FEED that it speaks of, None for all of the network.

    ``origin`` names the source that it came from, empty where nobody asks.
    """

    bytes: bytes
    received: int
    feed_name: str | None = None
    origin: str = ""


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


def plain_text(text: str | bytes) -> str:
    """Return a text; bytes that are no UTF-8 come out of the bindings as they are."""
    return text if isinstance(text, str) else text.decode(errors="replace")
