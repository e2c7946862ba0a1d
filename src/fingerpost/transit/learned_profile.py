"""Store the facts that a remote server reported about its network, in networks/learned/NAME.json.

``fingerpost network add`` and ``refresh`` fetch these facts.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, ValidationError

from fingerpost.contract.wire import get_adapter
from fingerpost.errors import SettingsInvalid, new_unwritable_error
from fingerpost.store.atomic_file import locked, replace_file, stamp_files
from fingerpost.store.network_records import NetworkRecord, Zone
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.model.profile import Ability, NetworkProfile
from fingerpost.transit.model.provenance import FeedVersion


def _check_bounds(bounds: Bounds) -> Bounds:
    if not (-90 <= bounds.south <= bounds.north <= 90 and -180 <= bounds.west <= bounds.east < 540):
        raise ValueError("not a box")
    return bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedProfile:
    """The facts that a server reported about its network.

    If ``abilities`` is None, the network has all the abilities that its kind of source supports.
    """

    bounds: Annotated[Bounds, AfterValidator(_check_bounds)] | None = None
    zone: Zone | None = None
    languages: tuple[str, ...] = ()
    feeds: tuple[FeedVersion, ...] = ()
    modes: frozenset[Mode] = frozenset()
    attribution: tuple[str, ...] = ()
    first_day: date | None = None
    last_day: date | None = None
    abilities: frozenset[Ability] | None = None
    learned_at: datetime


def new_remote_profile(
    record: NetworkRecord, learned: LearnedProfile | None, abilities: Iterable[Ability]
) -> NetworkProfile:
    """Build a profile from a record and the reported facts; raise SettingsInvalid if bounds or zone are missing."""
    reported = learned or LearnedProfile(learned_at=datetime.min.replace(tzinfo=UTC))
    bounds = reported.bounds if record.bounds is None else Bounds(*record.bounds)
    zone = record.zone or reported.zone
    if bounds is None or zone is None:
        setting = "bounds" if bounds is None else "zone"
        raise SettingsInvalid(
            f"{record.name} has no known {setting}. Run `fingerpost network refresh {record.name}`, "
            f"or add it again with --{setting}"
        )
    return NetworkProfile(
        name=record.name,
        source=record.source,
        bounds=bounds,
        zone=zone,
        abilities=frozenset(abilities) if reported.abilities is None else reported.abilities.intersection(abilities),
        feed_names=frozenset(feed.name.upper() for feed in reported.feeds) or frozenset({record.name}),
        modes=reported.modes,
        attribution=tuple(dict.fromkeys((*record.attribution, *reported.attribution))),
        priority=record.priority,
        first_day=reported.first_day,
        last_day=reported.last_day,
        feeds=reported.feeds,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredProfile:
    """A learned profile; increase the format when the meaning of the stored facts changes."""

    format: Literal[2]
    source: str
    url: str | None
    learned: LearnedProfile


class LearnedProfiles:
    def __init__(self, home: Path) -> None:
        self._folder = home / "networks" / "learned"

    def find(self, record: NetworkRecord) -> LearnedProfile | None:
        path = self._get_path(record.name)
        try:
            stored: _StoredProfile = get_adapter(_StoredProfile).validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            raise SettingsInvalid(
                f"{path} is damaged or from another version. "
                f"Run `fingerpost network refresh {record.name}` to recreate it"
            ) from error
        return stored.learned if (stored.source, stored.url) == (record.source, record.url) else None

    def put(self, record: NetworkRecord, learned: LearnedProfile) -> None:
        stored = _StoredProfile(format=2, source=record.source, url=record.url, learned=learned)
        text = get_adapter(_StoredProfile).dump_json(stored, indent=1)
        with locked(self._folder / ".lock", self._folder):
            replace_file(self._get_path(record.name), text)

    def remove(self, name: str) -> None:
        try:
            self._get_path(name).unlink(missing_ok=True)
        except OSError as error:
            raise new_unwritable_error(self._folder, error) from error

    def stamp(self) -> object:
        return stamp_files(self._folder, lambda name: name.endswith(".json"))

    def _get_path(self, name: str) -> Path:
        return self._folder / f"{name}.json"
