"""Read an answer of which a part cannot be read: the rest is still an answer.

What cannot be read is taken as GraphQL takes a field that failed: it is null, and where null may not stand, so is what
holds it. A value that nobody needs is unknown then, and an entry of a list is left out.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import RootModel, TypeAdapter, ValidationError
from pydantic_core import from_json

_T = TypeVar("_T")

# Beyond this an answer is none that we know, and not worth the time.
MOST_FAULTS = 2000
# A fault moves outwards by one object a round, and no shape is deeper.
_MOST_ROUNDS = 24
# Kinds of unreadable parts that a note names.
_MOST_PATHS = 4
_Loc = tuple[str | int, ...]


def read_in_part(reader: TypeAdapter[_T], body: bytes, failed: ValidationError) -> tuple[_T, Mapping[str, int]]:
    """Return an answer that ``failed`` to be read without what is wrong, and how often what was left out, by name.

    A name is the path without the numbers of entries: ``stops.lat``.

    Raises:
        ValidationError: it is no JSON, too much is wrong, or nothing is left.
    """
    if failed.error_count() > MOST_FAULTS or failed.errors(include_url=False)[0]["type"] == "json_invalid":
        raise failed
    told = from_json(body)
    blanked: set[_Loc] = set()
    error = failed
    for _ in range(_MOST_ROUNDS):
        for problem in error.errors(include_url=False, include_context=False, include_input=False):
            blank = _blank(told, problem["loc"])
            if blank == ():
                raise failed
            if blank is not None:
                blanked.add(blank)
        try:
            return reader.validate_python(told), _count(blanked)
        except ValidationError as still:
            error = still
            if error.error_count() > MOST_FAULTS:
                break
    raise failed


def say_lost(lost: Mapping[str, int]) -> list[str]:
    """Return the note on what was left out, none where nothing was."""
    if not lost:
        return []
    paths = [f"{path.removeprefix('data.')} ({number})" for path, number in lost.items()]
    more = f" and {len(paths) - _MOST_PATHS} more" if len(paths) > _MOST_PATHS else ""
    return [f"The server said what cannot be read, and it is left out: {', '.join(paths[:_MOST_PATHS])}{more}."]


def holds_any(answer: object, lost: Mapping[str, int]) -> bool:
    """Whether an answer still has one of the entries that it was asked for, where some were lost.

    A shape with several lists says by ``rows`` which of them that is; else any of its lists will do.
    """
    told = answer.root if isinstance(answer, RootModel) else answer
    rows = getattr(told, "rows", None)
    if isinstance(rows, str):
        return bool(getattr(told, rows)) or all(path.partition(".")[0] != rows for path in lost)
    lists = [told] if isinstance(told, tuple) else [each for each in vars(told).values() if isinstance(each, tuple)]
    return any(lists) or not lists


def _blank(told: Any, loc: _Loc) -> _Loc | None:
    """Make null what stands at a place, or what holds it where it is null or missing; return which.

    None where it is gone already with what held it, empty where nothing is left to make null.
    """
    holders: list[Any] = []
    here = told
    for part in loc:
        if not _has(here, part):
            break
        holders.append(here)
        here = here[part]
    if here is None:
        if len(holders) < len(loc):
            return None
        holders = holders[:-1]
    if not holders:
        return ()
    at = loc[: len(holders)]
    holders[-1][at[-1]] = None
    return at


def _has(here: Any, part: str | int) -> bool:
    if isinstance(here, dict):
        return part in here
    return isinstance(here, list) and isinstance(part, int) and part < len(here)


def _count(blanked: set[_Loc]) -> Mapping[str, int]:
    whole = [each for each in blanked if not any(each[:end] in blanked for end in range(1, len(each)))]
    return Counter(sorted(".".join(part for part in each if isinstance(part, str)) for each in whole))
