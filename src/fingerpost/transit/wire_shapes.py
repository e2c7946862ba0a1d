"""Objects, lists and instants of the JSON that sources answer, as frozen values."""

from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic.alias_generators import to_camel

_T = TypeVar("_T")


def _without_null_entries(value: Any) -> Any:
    return [each for each in value if each is not None] if isinstance(value, list) else value


def _without_nulls(value: Any) -> Any:
    return () if value is None else _without_null_entries(value)


Entries = Annotated[tuple[_T, ...], BeforeValidator(_without_null_entries)]
"""A list whose null entries are left out."""

Several = Annotated[tuple[_T, ...], BeforeValidator(_without_nulls)]
"""A list; null is empty, and null entries are left out."""


class Shape(BaseModel):
    """An object of an answer, its names in camelCase; fields that are not known are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel)


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


Instant = Annotated[
    int, BeforeValidator(lambda value: read_wire_instant(value) if isinstance(value, str) else value)
]  # fmt: skip
"""A Unix second, from an instant with an offset."""
