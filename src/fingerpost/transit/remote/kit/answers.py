"""Parse JSON responses leniently: drop invalid parts and report them.

An invalid part becomes null, like a failed field in GraphQL, and so does its parent if the part must not be null.
An invalid optional value is therefore unknown, and an invalid list entry is dropped. Values that are out of range, such
as a latitude of 999, are invalid too.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, lru_cache, reduce
from operator import getitem
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, cast

from pydantic import (
    AfterValidator,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)
from pydantic.alias_generators import to_camel
from pydantic_core import from_json

from fingerpost.errors import SourceChanged, list_first
from fingerpost.net.response import Response
from fingerpost.runtime.concurrency import compute
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.rules.modes import to_mode

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_Other = TypeVar("_Other")

# A response with more faults than this is reported as having an unknown format.
_MAX_FAULTS = 2000
# Each round drops the parents of the parts dropped in the previous round; no model is nested deeper than this.
_MAX_ROUNDS = 24
_MAX_PATHS = 4
_MAX_REMEMBERED_BYTES = 16_384
_Loc = tuple[str | int, ...]

get_reader: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[_T]):
    """The data in a response, with notes on its dropped parts; ``lost`` counts those parts by path."""

    data: _T
    retrieved_at: datetime
    notes: tuple[str, ...] = ()
    lost: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    def with_data(self, data: _Other) -> "Answer[_Other]":
        return replace(cast("Answer[Any]", self), data=data)

    def require(self, entry: str, *lists: str, found: Sequence[object]) -> None:
        """Raise SourceChanged if nothing was found because every entry in one of the ``lists`` was dropped."""
        if not found and any(path.rpartition(".")[2] in lists for path in self.lost):
            raise new_unreadable_error(entry, self.notes)


async def read_exactly(shape: type[_T], response: Response) -> Answer[_T]:
    """Parse a response strictly; raise SourceChanged if any part is invalid."""
    try:
        return Answer(data=get_reader(shape).validate_json(response.body), retrieved_at=response.retrieved_at)
    except ValidationError as error:
        raise _new_format_error(response, error) from error


@lru_cache(maxsize=64)
def _parse_once(reader: TypeAdapter[_T], body: bytes) -> _T:
    return reader.validate_json(body)


async def read_answer(shape: type[_T], response: Response) -> Answer[_T]:
    """Parse a response, dropping and reporting its invalid parts; raise SourceChanged if nothing is left."""
    reader = get_reader(shape)
    # Boards read a stop's cached response in each call; parsed, it needs sixteen times as much memory.
    is_remembered = response.from_cache and len(response.body) <= _MAX_REMEMBERED_BYTES
    try:
        data = _parse_once(reader, response.body) if is_remembered else reader.validate_json(response.body)
        return Answer(data=data, retrieved_at=response.retrieved_at)
    except ValidationError as error:
        try:
            # Dropping parts one by one can take seconds, so it must not block the event loop.
            data, lost = await compute(_read_valid_parts, reader, response.body, error)
        except ValidationError:
            raise _new_format_error(response, error) from error
    paths = [f"{path.removeprefix('data.')} ({number})" for path, number in lost.items()]
    note = f"Parts of the server's response could not be read and were dropped: {list_first(paths, _MAX_PATHS)}."
    _log.warning("%s: %s", _format_address(response), note)
    return Answer(data=data, retrieved_at=response.retrieved_at, notes=(note,), lost=lost)


def _new_format_error(response: Response, error: ValidationError) -> SourceChanged:
    first = error.errors()[0]
    field_path = ".".join(str(part) for part in first["loc"])
    fault = (
        "something that is not JSON" if first["type"] == "json_invalid" else f"data in an unknown format ({field_path})"
    )
    return SourceChanged(
        f"{_format_address(response)} returned {fault}", {"status": response.status, "bytes": len(response.body)}
    )


def new_unreadable_error(entry: str, notes: Sequence[str]) -> SourceChanged:
    return SourceChanged(f"The server returned no readable {entry}. {' '.join(notes)}".strip())


def _format_address(response: Response) -> str:
    return response.redacted_url.partition("?")[0]


def _read_valid_parts(reader: TypeAdapter[_T], body: bytes, failure: ValidationError) -> tuple[_T, Mapping[str, int]]:
    """Return the valid parts, and the number of dropped parts by path; raise ValidationError if nothing is left."""
    if failure.error_count() > _MAX_FAULTS or failure.errors(include_url=False)[0]["type"] == "json_invalid":
        raise failure
    data = from_json(body)
    blanked: set[_Loc] = set()
    error = failure
    for _ in range(_MAX_ROUNDS):
        for fault in error.errors(include_url=False, include_context=False, include_input=False):
            if not _blank(data, fault["loc"], blanked):
                raise failure
        try:
            return reader.validate_python(data), _count(blanked)
        except ValidationError as next_error:
            error = next_error
            if error.error_count() > _MAX_FAULTS:
                break
    raise failure


def _blank(data: Any, loc: _Loc, blanked: set[_Loc]) -> bool:
    """Set the innermost non-null value on a path to null; return False if there is none."""
    if _has_blank_parent(loc, blanked):
        return True
    for end in range(len(loc), 0, -1):
        try:
            parent = reduce(getitem, loc[: end - 1], data)
            if parent[loc[end - 1]] is not None:
                parent[loc[end - 1]] = None
                blanked.add(loc[:end])
                return True
        except (LookupError, TypeError):
            # The value or one of its parents is missing.
            continue
    return False


def _has_blank_parent(loc: _Loc, blanked: set[_Loc]) -> bool:
    return any(loc[:end] in blanked for end in range(1, len(loc)))


def _count(blanked: set[_Loc]) -> Mapping[str, int]:
    outermost = [loc for loc in blanked if not _has_blank_parent(loc, blanked)]
    return Counter(sorted(".".join(part for part in loc if isinstance(part, str)) for loc in outermost))


# The last valid instant, in the year 2106. A larger value is unset or in milliseconds.
LAST_INSTANT = 2**32 - 1


def _drop_nulls(entries: tuple[Any, ...] | None) -> tuple[Any, ...]:
    return tuple([entry for entry in entries if entry is not None]) if entries else ()


if TYPE_CHECKING:
    Entries = tuple[_T, ...]
    ListOrNull = tuple[_T, ...]
else:
    # Nulls are dropped after validation, so that errors give an entry's index in the response.
    Entries = Annotated[tuple[_T | None, ...], AfterValidator(_drop_nulls)]
    """A list whose null entries are dropped."""

    ListOrNull = Annotated[tuple[_T | None, ...] | None, AfterValidator(_drop_nulls)]
    """A list; null is read as empty, and null entries are dropped."""

NonBlank = Annotated[str, Field(pattern=r"\S")]
"""A string that is not blank."""

Latitude = Annotated[float, Field(ge=-90, le=90)]
Longitude = Annotated[float, Field(ge=-180, le=180)]


def nested(*path: str, default: Any = None) -> Any:
    """Return a field that reads a nested value, or ``default`` if the path does not exist."""
    return Field(default=default, validation_alias=AliasPath(*path))


class Shape(BaseModel):
    """A JSON object in a response, with names in camelCase; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, allow_inf_nan=False)


class Positioned(Shape):
    lat: Latitude
    lon: Longitude

    @property
    def coordinate(self) -> Coordinate:
        return Coordinate(self.lat, self.lon)


class MeasuredLeg(Shape):
    """A leg with the length of its street path in metres."""

    distance: Annotated[float, Field(ge=0, le=100_000_000)] | None = None

    @property
    def points(self) -> Sequence[tuple[float, float]]:
        """The leg's line as (latitude, longitude) in degrees, or fewer than two points if the server gives no line."""
        return ()


@lru_cache(maxsize=8192)
def read_wire_instant(text: str) -> int:
    """Convert an ISO 8601 instant to Unix seconds; raise ValueError if it has no offset."""
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        raise ValueError("an instant without an offset")
    return int(instant.timestamp())


def from_text(reader: Callable[[str], Any]) -> BeforeValidator:
    """Return a validator that parses strings and passes other values through unchanged."""
    return BeforeValidator(lambda value: reader(value) if isinstance(value, str) else value)


def _parse_open_instant(value: Any) -> Any:
    instant = read_wire_instant(value) if isinstance(value, str) else value
    is_known = isinstance(instant, int | float) and 0 <= instant <= LAST_INSTANT and instant == int(instant)
    return int(instant) if is_known else None


class ModeReader:
    """Determines a mode from the GTFS route type or, without one, from the server's terms in ``words`` (rule A9)."""

    def __init__(self, words: Mapping[Mode, str]) -> None:
        self._mode_by_word = {word: mode for mode, text in words.items() for word in text.split()}

    def __call__(self, word: str | None, route_type: int | None = None) -> Mode:
        if route_type is not None:
            return to_mode(route_type)
        return self._mode_by_word.get((word or "").lower(), Mode.OTHER)


UnixSecond = Annotated[int, Field(ge=0, le=LAST_INSTANT)]

Instant = Annotated[UnixSecond, from_text(read_wire_instant)]
"""A Unix second, parsed from an instant with an offset."""

OpenInstant = Annotated[int | None, BeforeValidator(_parse_open_instant)]
"""A Unix second that bounds a period; None if the period is open-ended, for example if its year is 9999."""
