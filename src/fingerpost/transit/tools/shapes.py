"""Shapes that several contracts share, and the functions that write them (rule B1)."""

from collections.abc import Iterable
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypeAliasType

from fingerpost.contract.wire import Identifier, WireDict, WireModel, WordOf, write_stated
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.model.provenance import FeedVersion, Provenance
from fingerpost.transit.places.labels import Latitude, Longitude
from fingerpost.transit.rules.times import print_instant
from fingerpost.transit.rules.warnings import Warnings

Language = Literal["fi", "sv", "en"]


class LatLon(WireModel):
    """A position in a question, in degrees (WGS84)."""

    lat: Latitude
    lon: Longitude

    def inner(self) -> Coordinate:
        return Coordinate(self.lat, self.lon)


class WireCoordinate(WireDict):
    """A position in an answer, in degrees (WGS84), to a tenth of a metre."""

    lat: Latitude
    lon: Longitude


class LocationRef(WireDict):
    """One end of a trip as it was understood (rule B1)."""

    coordinate: WireCoordinate
    rawSource: Annotated[str, WordOf(LocationSource)]
    label: NotRequired[str]
    name: NotRequired[str]
    address: NotRequired[str]


class WireWarning(WireDict):
    """Something that the answer must not leave unsaid."""

    code: str
    message: str


class Warned(WireDict):
    """The part of an answer that holds its warnings."""

    warnings: NotRequired[list[WireWarning]]


class WireFeed(WireDict):
    """A feed that the answer is made from; ids that begin with its name are its own.

    ``version`` is the publisher's word, ``firstDay`` to ``lastDay`` the days with service.
    """

    feed: str
    version: NotRequired[str]
    firstDay: NotRequired[str]
    lastDay: NotRequired[str]


class AnswerOrigin(WireDict):
    """Where an answer comes from (rule A10)."""

    network: str
    source: str
    retrievedAt: str
    language: str
    feeds: NotRequired[list[WireFeed]]
    lost: NotRequired[list[str]]
    attribution: NotRequired[list[str]]
    demo: NotRequired[bool]
    notes: NotRequired[list[str]]
    realtimeAgeSeconds: NotRequired[int]


class Meta(AnswerOrigin):
    """What is ours, said once in every answer (rule A10)."""

    timeZone: str


class CoordsEnd(WireModel):
    """A position."""

    type: Literal["coords"]
    value: LatLon

    def query(self) -> Coordinate:
        return self.value.inner()


class LabelEnd(WireModel):
    """A saved variable's key, a token from an earlier answer, or a place name."""

    type: Literal["label"]
    value: Annotated[Identifier, Field(max_length=200, description="saved variable, token, or place name")]

    def query(self) -> str:
        return self.value


TripEnd = TypeAliasType("TripEnd", Annotated[CoordsEnd | LabelEnd, Field(discriminator="type")])
"""An end of a trip; an alias, so that the schema says once what it may be."""


def show_coordinate(coordinate: Coordinate) -> WireCoordinate:
    return {"lat": round(coordinate.lat, 6), "lon": round(coordinate.lon, 6)}


def show_location(location: Location) -> LocationRef:
    fields = {
        "coordinate": show_coordinate(location.coordinate),
        "rawSource": location.source.value,
        "label": location.label,
        "name": location.name,
        "address": location.address,
    }
    return write_stated(LocationRef, fields)


def show_meta(provenance: Provenance, *, ids: Iterable[str], realtime_age_s: int | None = None) -> Meta:
    retrieved_at = print_instant(provenance.retrieved_at, provenance.zone)
    origin = show_origin(provenance, retrieved_at, ids=ids, realtime_age_s=realtime_age_s)
    return {**origin, "timeZone": provenance.zone}


def show_origin(
    provenance: Provenance, retrieved_at: str, *, ids: Iterable[str], realtime_age_s: int | None
) -> AnswerOrigin:
    """Write where an answer comes from.

    ``ids`` are those that it shows, and say which feeds are worth naming; ``retrieved_at`` is in the contract's form.
    """
    named = {each.partition(":")[0].upper() for each in ids}
    feeds = [_show_feed(feed) for feed in provenance.feeds if feed.name.upper() in named and _is_dated(feed)]
    fields = {
        "network": provenance.network,
        "source": provenance.source,
        "retrievedAt": retrieved_at,
        "language": provenance.language,
        "feeds": feeds or None,
        "attribution": list(provenance.attribution) or None,
        "demo": provenance.demo or None,
        "notes": list(provenance.notes) or None,
        "lost": list(provenance.lost) or None,
        "realtimeAgeSeconds": realtime_age_s,
    }
    return write_stated(AnswerOrigin, fields)


def _is_dated(feed: FeedVersion) -> bool:
    return feed.version is not None or feed.first_day is not None


def _show_feed(feed: FeedVersion) -> WireFeed:
    fields = {
        "feed": feed.name,
        "version": feed.version,
        "firstDay": feed.first_day and feed.first_day.isoformat(),
        "lastDay": feed.last_day and feed.last_day.isoformat(),
    }
    return write_stated(WireFeed, fields)


def show_warnings(warnings: Warnings) -> Warned:
    """Write the warnings as a field of the answer, no field where there are none (rule A2)."""
    shown: list[WireWarning] = [{"code": each.code.value, "message": each.message} for each in warnings.list_all()]
    return {"warnings": shown} if shown else {}
