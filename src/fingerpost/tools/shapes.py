"""Shapes that several contracts share, as they go over the wire (ruling B1)."""

from typing import Annotated, Any, Literal

from pydantic import Field

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

    @classmethod
    def of(cls, location: Location) -> "LocationRef":
        """Show a resolved location."""
        return cls(
            coordinate=WireCoordinate.of(location.coordinate),
            raw_source=location.source.value,
            label=location.label,
            name=location.name,
            address=location.address,
        )


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

    @classmethod
    def facts(cls, provenance: Provenance, *, realtime_age_s: int | None = None) -> dict[str, Any]:
        """Return the fields of where an answer comes from."""
        return {
            "network": provenance.network,
            "source": provenance.source,
            "time_zone": provenance.zone,
            "language": provenance.language,
            "attribution": list(provenance.attribution) or None,
            "demo": provenance.demo or None,
            "notes": list(provenance.notes) or None,
            "realtime_age_seconds": realtime_age_s,
        }


class CoordsEnd(WireModel):
    """A position."""

    type: Annotated[Literal["coords"], Field(description="a position")]
    value: Annotated[WireCoordinate, Field(description="WGS84")]


class LabelEnd(WireModel):
    """A saved variable's key, a token from an earlier answer, or a place name."""

    type: Annotated[Literal["label"], Field(description="a name")]
    value: Annotated[Identifier, Field(max_length=200, description="saved variable, token, or place name")]


TripEnd = Annotated[CoordsEnd | LabelEnd, Field(discriminator="type")]


def wire_warnings(warnings: Warnings) -> list[WireWarning] | None:
    """Return the warnings as the wire has them, None where there are none (ruling A2)."""
    return [WireWarning(code=each.code, message=each.message) for each in warnings.list_all()] or None


def candidate_of(match: PlaceMatch) -> dict[str, Any]:
    """Return a candidate for an ambiguous place; its ``token`` is accepted by every tool (ruling B10)."""
    place = match.place
    candidate = {
        "token": place.token,
        "name": place.name,
        "type": place.kind.value,
        "coordinate": WireCoordinate.of(place.coordinate).to_wire(),
        "confidenceScore": round(match.score, 2),
        "locality": place.locality,
    }
    return {key: value for key, value in candidate.items() if value is not None}
