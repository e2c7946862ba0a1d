"""Shapes that several contracts share, as they go over the wire (ruling B1)."""

from typing import Annotated, Literal

from pydantic import Field

from fingerpost.contract.published import Wire
from fingerpost.contract.wire import Flag, Identifier, Number, Whole, WireModel
from fingerpost.transit.model import Coordinate, Location, PlaceMatch, Provenance
from fingerpost.transit.rules.warnings import Warnings

Language = Literal["fi", "sv", "en"]
Latitude = Annotated[Number, Field(ge=-90, le=90, description="degrees north")]
Longitude = Annotated[Number, Field(ge=-180, le=180, description="degrees east")]


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


class LocationValue(WireModel):
    """A saved place: the value of a user variable of type location (ruling C4)."""

    lat: Latitude
    lon: Longitude
    label: str | None = None
    name: str | None = None
    address: str | None = None
    stop_id: Identifier | None = None


class WireWarning(WireModel):
    """Something that the answer must not leave unsaid."""

    code: str
    message: str


class Meta(WireModel):
    """What is ours, said once in every answer (ruling A10)."""

    network: str
    source: str
    time_zone: str
    language: str
    attribution: list[str] | None = None
    demo: Flag | None = None
    notes: list[str] | None = None
    realtime_age_seconds: Whole | None = None


class CoordsEnd(WireModel):
    """A position."""

    type: Annotated[Literal["coords"], Field(description="a position")]
    value: Annotated[WireCoordinate, Field(description="WGS84")]


class LabelEnd(WireModel):
    """A saved variable's key, a token from an earlier answer, or a place name."""

    type: Annotated[Literal["label"], Field(description="a name")]
    value: Annotated[Identifier, Field(max_length=200, description="saved variable, token, or place name")]


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


def show_meta(provenance: Provenance, *, realtime_age_s: int | None = None) -> Wire:
    """Write where an answer comes from."""
    shown: Wire = {
        "network": provenance.network,
        "source": provenance.source,
        "timeZone": provenance.zone,
        "language": provenance.language,
    }
    if provenance.attribution:
        shown["attribution"] = list(provenance.attribution)
    if provenance.demo:
        shown["demo"] = True
    if provenance.notes:
        shown["notes"] = list(provenance.notes)
    if realtime_age_s is not None:
        shown["realtimeAgeSeconds"] = realtime_age_s
    return shown


def say_shown(count: int) -> str:
    """Return how many are shown, as the end of a sentence."""
    return "1 is shown" if count == 1 else f"{count} are shown"


def show_warnings(warnings: Warnings) -> Wire:
    """Write the warnings as a field of the answer, no field where there are none (ruling A2)."""
    shown = [{"code": each.code.value, "message": each.message} for each in warnings.list_all()]
    return {"warnings": shown} if shown else {}


def show_candidate(match: PlaceMatch) -> Wire:
    """Write a candidate for an ambiguous place; its ``token`` is accepted by every tool (ruling B10)."""
    place = match.place
    candidate = {
        "token": place.token,
        "name": place.name,
        "type": place.kind.value,
        "coordinate": show_coordinate(place.coordinate),
        "confidenceScore": round(match.score, 4),
        "locality": place.locality,
    }
    return {key: value for key, value in candidate.items() if value is not None}
