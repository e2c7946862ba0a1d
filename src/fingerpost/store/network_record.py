"""One network's record: what a person decides about it."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, field_validator

from fingerpost.store.network_names import TEXT_LISTS

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_MOST_LAT, _MOST_LON = 90.0, 180.0

_Texts = tuple[Annotated[str, Field(min_length=1)], ...]
_Degrees = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class NetworkRecord(BaseModel):
    """One network's record.

    Attributes:
        name: upper case; it begins the stop ids of a network with one feed.
        source: the kind of source that answers, such as ``gtfs`` for the embedded engine.
        feeds: GTFS feeds, each ``[FEED=]PATH`` or ``[FEED=]URL``, keys written ``${NAME}``.
        realtime: GTFS-Realtime that speaks of these feeds, each ``[FEED=]PATH`` or ``[FEED=]URL``.
        extract: the path of an OpenStreetMap extract.
        url: where a remote source is asked.
        key: the environment variable that holds the key of a remote source.
        fallback: the network that answers in this one's stead when it cannot.
        priority: of several networks that cover a place the highest answers.
        languages: in which the network has names, the preferred first.
        bounds: south, west, north, east in degrees (WGS84), in place of what the source states.
        zone: the IANA time zone, in place of what the source states.
        attribution: sentences that every answer carries besides the source's own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    source: Annotated[str, Field(min_length=1)] = "gtfs"
    feeds: _Texts = ()
    realtime: _Texts = ()
    extract: Annotated[str | None, Field(min_length=1)] = None
    url: Annotated[str | None, Field(min_length=1)] = None
    key: str | None = None
    fallback: str | None = None
    priority: Annotated[int, Field(strict=True)] = 0
    languages: _Texts = ()
    bounds: tuple[_Degrees, _Degrees, _Degrees, _Degrees] | None = None
    zone: str | None = None
    attribution: _Texts = ()

    @field_validator("key")
    @classmethod
    def _names_a_variable(cls, key: str | None) -> str | None:
        # The value is not repeated: it may be the key itself.
        if key is not None and not _VARIABLE.fullmatch(key):
            raise ValueError("key must name an environment variable in capitals, such as MY_KEY, not hold the key")
        return key

    @field_validator("languages")
    @classmethod
    def _are_languages(cls, languages: tuple[str, ...]) -> tuple[str, ...]:
        wrong = next((each for each in languages if not _LANGUAGE.fullmatch(each)), None)
        if wrong is not None:
            raise ValueError(f"languages must hold codes such as fi or en, not {wrong!r}")
        return languages

    @field_validator("bounds")
    @classmethod
    def _is_a_box(cls, bounds: tuple[float, float, float, float] | None) -> tuple[float, float, float, float] | None:
        if bounds is None:
            return None
        south, west, north, east = bounds
        if not (-_MOST_LAT <= south < north <= _MOST_LAT and -_MOST_LON <= west < east <= _MOST_LON):
            raise ValueError(
                "bounds must be south, west, north, east in degrees: south below north, west below east, "
                "within -90, -180, 90, 180"
            )
        return bounds

    @field_validator("zone")
    @classmethod
    def _is_a_zone(cls, zone: str | None) -> str | None:
        if zone is not None and not _is_zone(zone):
            raise ValueError(f"zone must be an IANA time zone such as Europe/Helsinki, not {zone!r}")
        return zone


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ValueError, KeyError, OSError):
        return False
    return bool(name)


KEYS = tuple(field for field in NetworkRecord.model_fields if field != "name")
"""What may stand in a record, in the order in which it is written."""

EXPECTED: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(TEXT_LISTS, "a list of texts in quotes, none of them empty")
    | {"bounds": "a list of four numbers: south, west, north, east", "priority": "a whole number"}
)
"""What a key must hold, in words; a text in quotes where it is not said."""


def list_changes(record: NetworkRecord, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return what must be written into a record's table so that it holds the record; None for what must go."""
    changes: dict[str, Any] = {}
    for key, field in NetworkRecord.model_fields.items():
        value = getattr(record, key)
        plain = list(value) if isinstance(value, tuple) else value
        if key == "name" or (key in table and table[key] == plain):
            continue
        if key == "source" or value != field.default:
            changes[key] = plain
        elif key in table:
            changes[key] = None
    return changes
