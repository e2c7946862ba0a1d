"""Objects, lists, numbers and instants of the JSON that sources answer, as frozen values.

What lies outside the range of its kind is refused here, so that nobody further on meets a latitude of 999.
"""

from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetCoreSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, core_schema

_T = TypeVar("_T")

# In the year 2106. What lies behind it is an unset value, or was written in milliseconds.
LAST_INSTANT = 2**32 - 1


class _NullEntriesLeftOut:
    """Leaves out the null entries of a list after they were counted, so that errors name the entry that was sent."""

    def __init__(self, *, null_is_empty: bool) -> None:
        self._null_is_empty = null_is_empty

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        made = cast("core_schema.TupleSchema", handler(source))
        made["items_schema"] = [core_schema.nullable_schema(each) for each in made["items_schema"]]
        whole = core_schema.nullable_schema(made) if self._null_is_empty else made
        return core_schema.no_info_after_validator_function(_without_nulls, whole)


def _without_nulls(entries: tuple[Any, ...] | None) -> tuple[Any, ...]:
    return tuple([each for each in entries if each is not None]) if entries else ()


Entries = Annotated[tuple[_T, ...], _NullEntriesLeftOut(null_is_empty=False)]
"""A list whose null entries are left out."""

Several = Annotated[tuple[_T, ...], _NullEntriesLeftOut(null_is_empty=True)]
"""A list; null is empty, and null entries are left out."""

Words = Annotated[str, Field(pattern=r"\S")]
"""A text that says something."""

Latitude = Annotated[float, Field(ge=-90, le=90)]
"""Degrees north."""

Longitude = Annotated[float, Field(ge=-180, le=180)]
"""Degrees east."""

Metres = Annotated[float, Field(ge=0, le=100_000_000)]
"""A length."""


class Shape(BaseModel):
    """An object of an answer, its names in camelCase; fields that are not known are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, allow_inf_nan=False)


@lru_cache(maxsize=8192)
def read_wire_instant(text: str) -> int:
    """Return the Unix second of an instant with an offset.

    Raises:
        ValueError: it is none, or has no offset.
    """
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        raise ValueError("an instant without an offset")
    return int(instant.timestamp())


def _read(value: Any) -> Any:
    return read_wire_instant(value) if isinstance(value, str) else value


def _read_open(value: Any) -> Any:
    read = _read(value)
    is_known = isinstance(read, int | float) and 0 <= read <= LAST_INSTANT and read == int(read)
    return int(read) if is_known else None


UnixSecond = Annotated[int, Field(ge=0, le=LAST_INSTANT)]
"""A Unix second."""

Instant = Annotated[UnixSecond, BeforeValidator(_read)]
"""A Unix second, from an instant with an offset."""

OpenInstant = Annotated[int | None, BeforeValidator(_read_open)]
"""A Unix second that bounds a period; null where the period is open, as by the year 9999 or the largest number."""
