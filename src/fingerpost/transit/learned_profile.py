"""Learned profiles: the facts that a remote server reported about its network, stored in networks/learned/NAME.json.

They are fetched by ``fingerpost network add`` and ``refresh``.
"""

import os
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from fingerpost.errors import SettingsInvalid, new_unwritable
from fingerpost.store.atomic_file import locked, replace_file
from fingerpost.store.network_record import NetworkRecord
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.model.profile import Ability, NetworkProfile
from fingerpost.transit.model.provenance import FeedVersion

_SUFFIX = ".json"


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedProfile:
    """A server's report on its network.

    ``abilities`` are those of this server, None for all of its kind. Only profiles that an older fingerpost stored have
    ``traits``.
    """

    bounds: Bounds | None = None
    zone: str | None = None
    languages: tuple[str, ...] = ()
    feeds: tuple[FeedVersion, ...] = ()
    modes: frozenset[Mode] = frozenset()
    attribution: tuple[str, ...] = ()
    first_day: date | None = None
    last_day: date | None = None
    abilities: frozenset[Ability] | None = None
    traits: Mapping[str, str] = field(default_factory=dict)
    learned_at: datetime


def new_remote_profile(
    record: NetworkRecord, learned: LearnedProfile | None, abilities: Iterable[Ability]
) -> NetworkProfile:
    """Return the profile of a network by its record, else the report; raise SettingsInvalid if a fact is missing."""
    known = learned or LearnedProfile(learned_at=datetime.min.replace(tzinfo=UTC))
    bounds, zone = known.bounds, record.zone or known.zone
    if record.bounds is not None:
        south, west, north, east = record.bounds
        bounds = Bounds(south=south, west=west, north=north, east=east)
    if bounds is None or zone is None:
        what = "bounds" if bounds is None else "zone"
        raise SettingsInvalid(
            f"It is not known which {what} {record.name} has. Run `fingerpost network refresh {record.name}`, "
            f"or state it: `fingerpost network set {record.name} {what} ...`"
        )
    return NetworkProfile(
        name=record.name,
        source=record.source,
        bounds=bounds,
        zone=zone,
        abilities=frozenset(abilities) if known.abilities is None else known.abilities.intersection(abilities),
        feed_names=frozenset(feed.name.upper() for feed in known.feeds) or frozenset({record.name}),
        modes=known.modes,
        attribution=tuple(dict.fromkeys((*record.attribution, *known.attribution))),
        priority=record.priority,
        first_day=known.first_day,
        last_day=known.last_day,
        feeds=known.feeds,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredProfile:
    source: str
    url: str | None
    learned: LearnedProfile


@cache
def _file() -> TypeAdapter[_StoredProfile]:
    return TypeAdapter(_StoredProfile)


class LearnedProfiles:
    def __init__(self, home: Path) -> None:
        self._folder = home / "networks" / "learned"

    def find(self, record: NetworkRecord) -> LearnedProfile | None:
        path = self._path(record.name)
        try:
            stored = _file().validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            raise SettingsInvalid(
                f"{path} cannot be read. Run `fingerpost network refresh {record.name}` to write it again"
            ) from error
        return stored.learned if (stored.source, stored.url) == (record.source, record.url) else None

    def put(self, record: NetworkRecord, learned: LearnedProfile) -> None:
        stored = _file().dump_json(_StoredProfile(source=record.source, url=record.url, learned=learned), indent=1)
        try:
            with locked(self._folder / ".lock"):
                replace_file(self._path(record.name), stored)
        except OSError as error:
            raise new_unwritable(self._folder, error) from error

    def remove(self, name: str) -> None:
        try:
            self._path(name).unlink(missing_ok=True)
        except OSError as error:
            raise new_unwritable(self._folder, error) from error

    def stamp(self) -> Hashable:
        try:
            with os.scandir(self._folder) as files:
                stamps = [(file.name, file.stat()) for file in files if file.name.endswith(_SUFFIX)]
        except OSError:
            # Nothing was ever learned, or a file has gone meanwhile; the next call sees that.
            return ()
        return tuple(sorted((name, status.st_mtime_ns, status.st_size) for name, status in stamps))

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{_SUFFIX}"
