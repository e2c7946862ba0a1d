"""Shapes that several contracts share, as they go over the wire (ruling B1)."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from fingerpost.contract.published import Wire
from fingerpost.contract.wire import Flag, Identifier, Whole, WireModel
from fingerpost.transit.model import Coordinate, Location
from fingerpost.transit.places.labels import Latitude, Longitude
from fingerpost.transit.provenance import FeedVersion, Provenance
from fingerpost.transit.rules.instants import print_instant
from fingerpost.transit.rules.warnings import Warnings

Language = Literal["fi", "sv", "en"]


class WireCoordinate(WireModel):
    """A position in degrees (WGS84)."""

    lat: Latitude
    lon: Longitude

    @classmethod
    def of(cls, coordinate: Coordinate) -> "WireCoordinate":
        """Show a position to the precision of a tenth of a metre."""
        return cls(lat=round(coordinate.lat, 6), lon=round(coordinate.lon, 6))

    def inner(self) -> Coordinate:
        """Return the position as the inner model has it."""
        return Coordinate(self.lat, self.lon)


class LocationRef(WireModel):
    """One end of a trip as it was understood (ruling B1)."""

    coordinate: WireCoordinate
    raw_source: Literal["input", "user-variable", "geocode"]
    label: str | None = None
    name: str | None = None
    address: str | None = None


class WireWarning(WireModel):
    """Something that the answer must not leave unsaid."""

    code: str
    message: str


class WireFeed(WireModel):
    """A feed that the answer is made from; ids that begin with its name are its own.

    ``version`` is the publisher's word, ``first_day`` to ``last_day`` the days with service.
    """

    feed: str
    version: str | None = None
    first_day: str | None = None
    last_day: str | None = None


class Meta(WireModel):
    """What is ours, said once in every answer (ruling A10)."""

    network: str
    source: str
    retrieved_at: str
    time_zone: str
    language: str
    feeds: list[WireFeed] | None = None
    lost: list[str] | None = None
    attribution: list[str] | None = None
    demo: Flag | None = None
    notes: list[str] | None = None
    realtime_age_seconds: Whole | None = None


class CoordsEnd(WireModel):
    """A position."""

    type: Annotated[Literal["coords"], Field(description="a position")]
    value: Annotated[WireCoordinate, Field(description="WGS84")]

    def query(self) -> Coordinate:
        """Return what the resolver of places is asked."""
        return self.value.inner()


class LabelEnd(WireModel):
    """A saved variable's key, a token from an earlier answer, or a place name."""

    type: Annotated[Literal["label"], Field(description="a name")]
    value: Annotated[Identifier, Field(max_length=200, description="saved variable, token, or place name")]

    def query(self) -> str:
        """Return what the resolver of places is asked."""
        return self.value


TripEnd = Annotated[CoordsEnd | LabelEnd, Field(discriminator="type")]


def show_coordinate(coordinate: Coordinate) -> Wire:
    """Write a position to the precision of a tenth of a metre."""
    return {"lat": round(coordinate.lat, 6), "lon": round(coordinate.lon, 6)}


def show_location(location: Location) -> Wire:
    """Write one end of a trip as it was understood."""
    told = {"label": location.label, "name": location.name, "address": location.address}
    return {
        "coordinate": show_coordinate(location.coordinate),
        "rawSource": location.source.value,
        **{name: value for name, value in told.items() if value is not None},
    }


def show_meta(provenance: Provenance, *, ids: Iterable[str] = (), realtime_age_s: int | None = None) -> Wire:
    """Write where an answer comes from; ``ids`` are those that it shows, and say which feeds are worth naming."""
    shown: Wire = {
        "network": provenance.network,
        "source": provenance.source,
        "retrievedAt": print_instant(provenance.retrieved_at, provenance.zone),
        "timeZone": provenance.zone,
        "language": provenance.language,
    }
    named = {each.partition(":")[0].upper() for each in ids}
    told = {
        "feeds": [_show_feed(feed) for feed in provenance.feeds if feed.name.upper() in named and _is_dated(feed)],
        "attribution": list(provenance.attribution),
        "demo": provenance.demo,
        "notes": list(provenance.notes),
        "lost": list(provenance.lost),
    }
    shown |= {name: value for name, value in told.items() if value}
    if realtime_age_s is not None:
        shown["realtimeAgeSeconds"] = realtime_age_s
    return shown


def _is_dated(feed: FeedVersion) -> bool:
    return feed.version is not None or feed.first_day is not None


def _show_feed(feed: FeedVersion) -> Wire:
    told = {
        "feed": feed.name,
        "version": feed.version,
        "firstDay": feed.first_day and feed.first_day.isoformat(),
        "lastDay": feed.last_day and feed.last_day.isoformat(),
    }
    return {name: value for name, value in told.items() if value is not None}


def show_warnings(warnings: Warnings) -> Wire:
    """Write the warnings as a field of the answer, no field where there are none (ruling A2)."""
    shown = [{"code": each.code.value, "message": each.message} for each in warnings.list_all()]
    return {"warnings": shown} if shown else {}
