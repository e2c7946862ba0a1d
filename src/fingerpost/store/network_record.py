"""The model of a network record, and error messages for invalid values."""

import difflib
from collections.abc import Collection, Mapping
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from fingerpost.errors import ParameterError
from fingerpost.store.network_names import VALID_NAMES, is_network_name

_Box = tuple[float, float, float, float]


def _check_bounds(bounds: _Box) -> _Box:
    south, west, north, east = bounds
    if not (-90 <= south < north <= 90 and -180 <= west < east <= 180):
        raise ValueError("not a box")
    return bounds


def _check_zone(zone: str) -> str:
    try:
        ZoneInfo(zone)
    except (KeyError, OSError) as error:
        raise ValueError("not a zone") from error
    return zone


_Text = Annotated[str, Field(min_length=1)]
_Language = Annotated[str, Field(pattern="^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$")]
_Variable = Annotated[str, Field(pattern="^[A-Z_][A-Z0-9_]*$")]
_Degrees = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Bounds = Annotated[tuple[_Degrees, _Degrees, _Degrees, _Degrees], AfterValidator(_check_bounds)]
_Zone = Annotated[str, AfterValidator(_check_zone)]


class NetworkRecord(BaseModel):
    """The operator's settings for one network."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="in upper case; the prefix of the stop ids if the network has only one feed.")
    source: _Text = Field("gtfs", description="the kind of source, such as ``gtfs`` for the embedded engine.")
    feeds: tuple[_Text, ...] = Field(
        (), description="GTFS feeds, each ``[FEED=]PATH`` or ``[FEED=]URL``, with keys written as ``${NAME}``."
    )
    realtime: tuple[_Text, ...] = Field(
        (), description="GTFS-Realtime for these feeds, each ``[FEED=]PATH`` or ``[FEED=]URL``."
    )
    extract: _Text | None = Field(None, description="the path of an OpenStreetMap extract.")
    url: _Text | None = Field(None, description="the address of a remote source.")
    key: _Variable | None = Field(None, description="the environment variable that holds the key of a remote source.")
    fallback: str | None = Field(None, description="the network that answers if this one cannot.")
    priority: int = Field(0, strict=True, description="the network with the highest priority answers for a place.")
    languages: tuple[_Language, ...] = Field((), description="the languages of its names, preferred language first.")
    bounds: _Bounds | None = Field(
        None, description="south, west, north, east in degrees (WGS84); overrides the source."
    )
    zone: _Zone | None = Field(None, description="the IANA time zone; overrides the source.")
    attribution: tuple[_Text, ...] = Field(
        (), description="sentences that every answer contains in addition to the source's own."
    )


KEYS = tuple(key for key in NetworkRecord.model_fields if key != "name")
"""The keys of a record, in the order of the file."""

_EXPECTED = {
    **dict.fromkeys(("feeds", "realtime", "attribution"), "must be a list of quoted strings, none of them empty"),
    "bounds": "must be a list of four numbers in degrees: south, west, north, east; south < north and west < east",
    "key": "must be the name of an environment variable in capitals, such as MY_KEY, not the key itself",
    "languages": "must be codes such as fi or en",
    "priority": "must be a whole number",
    "zone": "must be an IANA time zone such as Europe/Helsinki, in quotes",
}


def build_record(name: str, table: Mapping[str, Any], kinds: Collection[str] | None = None) -> NetworkRecord:
    """Build a record from a TOML table, or raise ParameterError with the key as ``details["field"]``.

    ``kinds`` are the allowed values of ``source``; None allows any.
    """
    if not is_network_name(name):
        hint = f"rename the file to {name.upper()}.toml" if is_network_name(name.upper()) else VALID_NAMES
        raise ParameterError(f"a network cannot be called {name!r}", {"field": "name"}, hint=hint)
    for key in table:
        if key not in KEYS:
            hint = suggest(key, KEYS) or f"a record has {', '.join(KEYS)}"
            raise ParameterError(f"a record has no key {key!r}", {"field": key}, hint=hint)
    try:
        record = NetworkRecord(name=name, **table)
    except ValidationError as error:
        # Report only the first error, without the value, because a URL may contain a key.
        key = str(error.errors(include_url=False)[0]["loc"][0])
        raise ParameterError(f"{key} {_EXPECTED.get(key, 'must be a quoted string')}", {"field": key}) from error
    if kinds is not None and record.source not in kinds:
        hint = suggest(record.source, kinds) or f"the kinds are {', '.join(sorted(kinds))}"
        raise ParameterError(f"there is no source kind {record.source!r}", {"field": "source"}, hint=hint)
    return record


def suggest(word: str, words: Collection[str]) -> str | None:
    """Return ``did you mean X?`` for a misspelt word, or None."""
    matches = difflib.get_close_matches(word, words, n=1)
    return f"did you mean {matches[0]}?" if matches else None
