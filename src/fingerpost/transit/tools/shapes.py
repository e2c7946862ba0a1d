"""Shared JSON types of transit tools (locations, warnings, alerts, provenance) and their serializers (rule B1)."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BeforeValidator, Field
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypeAliasType, TypedDict

from fingerpost.contract.published_tool import PublishedTool
from fingerpost.contract.wire import EnumValue, Identifier, WireDict, WireModel, omit_none
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.model.provenance import FeedVersion, Provenance
from fingerpost.transit.places.resolver import Latitude, Longitude, PlaceResolver, StopLabel, TextQuery
from fingerpost.transit.rules.alerts import HEADER_CHARS, MAX_ALERTS, TEXT_CHARS, AlertNotice, AlertNotices
from fingerpost.transit.rules.times import format_instant, format_utc
from fingerpost.transit.rules.warnings import Warning  # noqa: A004  # the contract's own name

Language = Literal["fi", "sv", "en"]


class PlaceTool(PublishedTool):
    """A tool that resolves places."""

    def __init__(self, places: PlaceResolver) -> None:
        self._places = places


class LatLon(WireModel):
    lat: Latitude
    lon: Longitude

    def to_coordinate(self) -> Coordinate:
        return Coordinate(self.lat, self.lon)


class WireCoordinate(WireDict):
    lat: Latitude
    lon: Longitude


class LocationRef(WireDict):
    coordinate: WireCoordinate
    rawSource: Annotated[str, EnumValue(LocationSource)]
    label: NotRequired[str]
    name: NotRequired[str]
    address: NotRequired[str]


class WireWarning(WireDict):
    code: str
    message: str


class Warned(WireDict):
    warnings: NotRequired[list[WireWarning]]


class CorrelatedAnswer(Warned):
    correlationId: str


class WireFeed(WireDict):
    feed: str
    version: NotRequired[str]
    firstDay: NotRequired[str]
    lastDay: NotRequired[str]


class AnswerOrigin(WireDict):
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
    timeZone: str


# "from" is a Python keyword, so only this form of TypedDict can have it as a key.
_From = TypedDict("_From", {"from": NotRequired[str]})


class WireAlert(WireDict, _From):
    """A service alert; ``touches`` lists the paths of the affected parts, such as itineraries/0/legs/1."""

    header: Annotated[str, Field(min_length=1, max_length=HEADER_CHARS)]
    text: NotRequired[Annotated[str, Field(max_length=TEXT_CHARS)]]
    effect: str
    until: NotRequired[str]
    url: NotRequired[str]
    touches: Annotated[list[str], Field(min_length=1)]


class AlertNotes(WireDict):
    alerts: NotRequired[Annotated[list[WireAlert], Field(max_length=MAX_ALERTS)]]
    alertsNotShown: NotRequired[int]


UtcInstant = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")]


class NoResultsReason(StrEnum):
    NO_SERVICE = "NO_SERVICE"
    NO_DEPARTURES = "NO_DEPARTURES"
    IN_THE_PAST = "IN_THE_PAST"


class AnswerMetadata(Warned):
    timeZone: str
    noResultsReason: NotRequired[Annotated[str, EnumValue(NoResultsReason)]]
    cancelledLeftOut: NotRequired[int]


class TimetableMeta(AnswerOrigin, AlertNotes):
    whyEmpty: NotRequired[str]


class CoordsEnd(WireModel):
    type: Literal["coords"]
    value: LatLon
    name: SkipJsonSchema[str | None] = None

    def to_query(self) -> Location:
        source = LocationSource.INPUT if self.name is None else LocationSource.GEOCODE
        return Location(coordinate=self.value.to_coordinate(), source=source, name=self.name)


class LabelEnd(WireModel):
    type: Literal["label", "id"]
    value: Annotated[Identifier, Field(max_length=200, description="saved variable, token, or place name")]
    name: SkipJsonSchema[str | None] = None

    def to_query(self) -> TextQuery | StopLabel:
        if self.type == "label":
            return TextQuery(text=self.value)
        return StopLabel(self.value, self.name or self.value, is_certain=True, name=self.name)


class AnswerPlace(WireModel):
    """A place from an answer, with the fields in the schema; ``read_place`` accepts its other fields too."""

    id: Annotated[Identifier | None, Field(description="stop id")] = None
    name: str | None = None
    coordinate: LatLon | None = None


def read_label_text(value: Any) -> Any:
    """Convert plain text to a label (rule A11); return other values and JSON strings unchanged."""
    is_text = isinstance(value, str) and not value.lstrip().startswith("{")
    return {"type": "label", "value": value} if is_text else value


def read_place(value: Any) -> Any:
    """Convert plain text, or a place from any answer, to an origin or destination; return other values unchanged."""
    if not isinstance(value, dict) or "value" in value:
        return read_label_text(value)
    stop_id = value.get("id") or value.get("stopId") or value.get("token")
    name = value.get("name") or value.get("label")
    if isinstance(stop_id, str) and ":" in stop_id:
        return {"type": "id", "value": stop_id, "name": name}
    position = value.get("coordinate") or {axis: value[axis] for axis in ("lat", "lon") if axis in value}
    if position:
        return {"type": "coords", "value": position, "name": name}
    return {"type": "label", "value": name} if name else value


TripEnd = TypeAliasType(
    "TripEnd",
    Annotated[
        Annotated[CoordsEnd | LabelEnd, Field(discriminator="type")],
        BeforeValidator(read_place, json_schema_input_type=CoordsEnd | LabelEnd | AnswerPlace | str),
    ],
)
"""An alias, so that the schema defines it once."""


def format_time(instant: int, zone: str | None) -> str:
    return format_utc(instant) if zone is None else format_instant(instant, zone)


def serialize_coordinate(coordinate: Coordinate) -> WireCoordinate:
    return {"lat": round(coordinate.lat, 6), "lon": round(coordinate.lon, 6)}


def serialize_location(location: Location) -> LocationRef:
    fields = {
        "coordinate": serialize_coordinate(location.coordinate),
        "rawSource": location.source.value,
        "label": location.label,
        "name": location.name,
        "address": location.address,
    }
    return omit_none(LocationRef, fields)


def serialize_meta(
    provenance: Provenance, zone: str | None, *, ids: Iterable[str], realtime_age_s: int | None = None
) -> Meta:
    """Serialize the provenance, in UTC if ``zone`` is None; list only the feeds that ``ids`` belong to."""
    feed_names = {stop_id.partition(":")[0].upper() for stop_id in ids}
    relevant = [feed for feed in provenance.feeds if feed.version is not None or feed.service.first_day is not None]
    fields = {
        "network": provenance.network,
        "source": provenance.source,
        "retrievedAt": format_time(provenance.retrieved_at, zone),
        "language": provenance.language,
        "feeds": [_serialize_feed(feed) for feed in relevant if feed.name.upper() in feed_names] or None,
        "attribution": list(provenance.attribution) or None,
        "demo": provenance.demo or None,
        "notes": list(provenance.notes) or None,
        "lost": list(provenance.lost) or None,
        "realtimeAgeSeconds": realtime_age_s,
        "timeZone": zone,
    }
    return omit_none(Meta, fields)


def _serialize_feed(feed: FeedVersion) -> WireFeed:
    fields = {
        "feed": feed.name,
        "version": feed.version,
        "firstDay": feed.service.first_day and feed.service.first_day.isoformat(),
        "lastDay": feed.service.last_day and feed.service.last_day.isoformat(),
    }
    return omit_none(WireFeed, fields)


def serialize_warnings(warnings: Iterable[Warning]) -> Warned:
    shown: list[WireWarning] = [{"code": warning.code.value, "message": warning.message} for warning in warnings]
    return {"warnings": shown} if shown else {}


def serialize_alerts(alerts: AlertNotices, zone: str | None) -> AlertNotes:
    notices = [_serialize_alert(notice, zone) for notice in alerts.notices]
    return omit_none(AlertNotes, {"alerts": notices or None, "alertsNotShown": alerts.more or None})


def _serialize_alert(notice: AlertNotice, zone: str | None) -> WireAlert:
    alert = notice.alert
    since, until = (None if instant is None else format_time(instant, zone) for instant in (alert.since, alert.until))
    fields = {
        "header": alert.header,
        "effect": alert.effect,
        "touches": list(notice.touches),
        "text": alert.text or None,
        "from": since,
        "until": until,
        "url": alert.url,
    }
    return omit_none(WireAlert, fields)


def serialize_metadata(
    zone: str, warnings: Iterable[Warning], *, cancelled: int, reason: NoResultsReason | None
) -> AnswerMetadata:
    fields = {
        "timeZone": zone,
        "noResultsReason": reason and reason.value,
        "cancelledLeftOut": cancelled or None,
        **serialize_warnings(warnings),
    }
    return omit_none(AnswerMetadata, fields)
