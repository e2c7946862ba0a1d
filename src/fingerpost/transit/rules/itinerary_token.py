"""Opaque tokens of itineraries: what it takes to find one again, as one word (rule E1)."""

import base64
import json
import math
import zlib
from binascii import Error as MalformedBase64
from dataclasses import dataclass
from datetime import date

from fingerpost.errors import ParameterError
from fingerpost.transit.model.itinerary import Itinerary, Leg, Mode, StopPoint

_VERSION = 1
_MOST_BYTES = 64_000
_REFUSAL = "This is no token of an itinerary"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLeg:
    """One leg as a token keeps it.

    ``start`` and ``end`` are stop ids, else ``lat,lon``, else names where a source places nothing.
    Times are the timetable's, Unix seconds.
    """

    mode: Mode
    start: str
    end: str
    departure: int
    arrival: int
    line: str | None = None
    trip_id: str | None = None
    service_day: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItineraryToken:
    """The network that found an itinerary, and its legs."""

    network: str
    legs: tuple[TokenLeg, ...]


def new_itinerary_token(network: str, itinerary: Itinerary) -> str:
    """Return the token of an itinerary: letters, digits, ``-`` and ``_``."""
    legs = [_write_leg(leg) for leg in itinerary.legs]
    text = json.dumps([_VERSION, network, legs], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


def read_itinerary_token(token: str) -> ItineraryToken:
    """Return what a token keeps.

    Raises:
        ParameterError: it is none.
    """
    try:
        packed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        version, network, legs = json.loads(zlib.decompressobj().decompress(packed, _MOST_BYTES))
        if version != _VERSION or not isinstance(network, str) or not legs:
            raise ParameterError(_REFUSAL)
        return ItineraryToken(network=network, legs=tuple(_read_leg(*leg) for leg in legs))
    except (ValueError, TypeError, MalformedBase64, zlib.error) as error:
        raise ParameterError(_REFUSAL) from error


def _write_leg(leg: Leg) -> list[str | int | None]:
    day = None if leg.service_day is None else leg.service_day.isoformat()
    return [
        leg.mode.value,
        _name_point(leg.start),
        _name_point(leg.end),
        leg.departure_scheduled,
        leg.arrival_scheduled,
        leg.line,
        leg.trip_id,
        day,
    ]


def _name_point(point: StopPoint) -> str:
    if point.id is None and not math.isfinite(point.coordinate.lat):
        return point.name
    return point.id or f"{point.coordinate.lat:.6f},{point.coordinate.lon:.6f}"


def _read_leg(
    mode: str,
    start: str,
    end: str,
    departure: int,
    arrival: int,
    line: str | None,
    trip_id: str | None,
    day: str | None,
) -> TokenLeg:
    return TokenLeg(
        mode=Mode(mode),
        start=start,
        end=end,
        departure=departure,
        arrival=arrival,
        line=line,
        trip_id=trip_id,
        service_day=None if day is None else date.fromisoformat(day),
    )
