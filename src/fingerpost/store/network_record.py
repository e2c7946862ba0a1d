"""One network's record: the model, its schema, and plain messages about invalid values."""

import difflib
import re
from collections.abc import Collection, Mapping
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from fingerpost.errors import ParameterError
from fingerpost.store.network_names import is_network_name

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")

_Text = Annotated[str, Field(min_length=1)]
_Degrees = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class NetworkRecord(BaseModel):
    """The operator's settings for one network."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="upper case; it begins the stop ids of a network with one feed.")
    source: _Text = Field("gtfs", description="the kind of source, such as ``gtfs`` for the embedded engine.")
    feeds: tuple[_Text, ...] = Field(
        (), description="GTFS feeds, each ``[FEED=]PATH`` or ``[FEED=]URL``, keys written ``${NAME}``."
    )
    realtime: tuple[_Text, ...] = Field(
        (), description="GTFS-Realtime for these feeds, each ``[FEED=]PATH`` or ``[FEED=]URL``."
    )
    extract: _Text | None = Field(None, description="the path of an OpenStreetMap extract.")
    url: _Text | None = Field(None, description="the address of a remote source.")
    key: str | None = Field(None, description="the environment variable that holds the key of a remote source.")
    fallback: str | None = Field(None, description="the network that answers if this one cannot.")
    priority: int = Field(0, strict=True, description="of several networks that cover a place the highest answers.")
    languages: tuple[_Text, ...] = Field((), description="the languages of its names, the preferred first.")
    bounds: tuple[_Degrees, _Degrees, _Degrees, _Degrees] | None = Field(
        None, description="south, west, north, east in degrees (WGS84); overrides the source."
    )
    zone: str | None = Field(None, description="the IANA time zone; overrides the source.")
    attribution: tuple[_Text, ...] = Field(
        (), description="sentences that every answer carries besides the source's own."
    )

    @field_validator("key")
    @classmethod
    def _names_a_variable(cls, key: str | None) -> str | None:
        # The message does not repeat the value: it may be the key itself.
        if key is not None and not _VARIABLE.fullmatch(key):
            raise ValueError("key must name an environment variable in capitals, such as MY_KEY, not hold the key")
        return key

    @field_validator("languages")
    @classmethod
    def _are_languages(cls, languages: tuple[str, ...]) -> tuple[str, ...]:
        for language in languages:
            if not _LANGUAGE.fullmatch(language):
                raise ValueError(f"languages must be codes such as fi or en, not {language!r}")
        return languages

    @field_validator("bounds")
    @classmethod
    def _is_a_box(cls, bounds: tuple[float, float, float, float] | None) -> tuple[float, float, float, float] | None:
        if bounds is None:
            return None
        south, west, north, east = bounds
        if not (-90 <= south < north <= 90 and -180 <= west < east <= 180):
            raise ValueError(
                "bounds must be south, west, north, east in degrees: south below north, west below east, "
                "within -90, -180, 90, 180"
            )
        return bounds

    @field_validator("zone")
    @classmethod
    def _is_a_zone(cls, zone: str | None) -> str | None:
        try:
            if zone is not None:
                ZoneInfo(zone)
        except (ValueError, KeyError, OSError) as error:
            raise ValueError(f"zone must be an IANA time zone such as Europe/Helsinki, not {zone!r}") from error
        return zone


KEYS = tuple(key for key in NetworkRecord.model_fields if key != "name")
"""The keys of a record, in the order in which they are written."""

_EXPECTED = {
    **dict.fromkeys(("feeds", "realtime", "languages", "attribution"), "a list of texts in quotes, none of them empty"),
    "bounds": "a list of four numbers: south, west, north, east",
    "priority": "a whole number",
}


def build_record(name: str, table: Mapping[str, Any], kinds: Collection[str] | None = None) -> NetworkRecord:
    """Return the record of a table, or raise ParameterError with the key as ``details["field"]``.

    ``kinds`` are the allowed values of ``source``, None for any.
    """
    if not is_network_name(name):
        hint = "use up to 40 letters A-Z, digits, _ and -, not beginning with DEMO-"
        if is_network_name(name.upper()):
            hint = f"rename the file to {name.upper()}.toml"
        raise ParameterError(f"a network cannot be called {name!r}", {"field": "name"}, hint=hint)
    for key in table:
        if key not in KEYS:
            hint = suggest(key, KEYS) or f"a record has {', '.join(KEYS)}"
            raise ParameterError(f"a record has no key {key!r}", {"field": key}, hint=hint)
    try:
        record = NetworkRecord(name=name, **table)
    except ValidationError as error:
        # Only the first: a person corrects one after the other. Values are not repeated: an address may hold a key.
        first = error.errors(include_url=False)[0]
        key = str(first["loc"][0])
        message = f"{key} must be {_EXPECTED.get(key, 'a text in quotes')}"
        if first["type"] == "value_error":
            message = str(first["ctx"]["error"])
        raise ParameterError(message, {"field": key}) from error
    if kinds is not None and record.source not in kinds:
        hint = suggest(record.source, kinds) or f"the kinds are {', '.join(sorted(kinds))}"
        raise ParameterError(f"there is no kind of source {record.source!r}", {"field": "source"}, hint=hint)
    return record


def suggest(word: str, words: Collection[str]) -> str | None:
    """Return ``did you mean X?`` for a misspelt word, or None."""
    found = difflib.get_close_matches(word, words, n=1)
    return f"did you mean {found[0]}?" if found else None


def describe_schema() -> dict[str, Any]:
    """Return the JSON schema of a record's file, for editors that check TOML."""
    schema = NetworkRecord.model_json_schema()
    schema["title"] = "Network record"
    schema["properties"].pop("name")
    schema["required"] = [key for key in schema["required"] if key != "name"]
    for key in schema["properties"].values():
        # TOML has no null: an optional key is left out.
        key.update(next(iter(key.pop("anyOf", ())), {}))
        if key.get("default", ...) is None:
            del key["default"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
