"""Networks behind servers: the source that opens them, and what they have in common."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar

from fingerpost import clock
from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.net.request import Fetch, RequestLimits
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile
from fingerpost.transit.model.place import Coordinate, Place
from fingerpost.transit.model.profile import NetworkProfile
from fingerpost.transit.model.provenance import FeedVersion, Provenance, RealtimeHealth
from fingerpost.transit.port import NearbyStops, Network
from fingerpost.transit.remote.kit.places import StopLookup
from fingerpost.transit.rules.language import DEFAULT, choose
from fingerpost.transit.rules.times import is_zone, print_instant

# Whoever adds a network waits for it, and the list of all stops is long.
_PATIENT = RequestLimits(read_s=40.0, total_s=60.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerKind:
    """One kind of server.

    Attributes:
        name: the word in a record's ``source``.
        new_server: makes the client of a record's server, with limits of one request.
        learn: asks a server for its profile.
        open_network: makes the network of a record without asking anything.
        url_option: the option that names the server; None where its address is known.
    """

    name: str
    new_server: Callable[[Fetch, NetworkRecord, RequestLimits], Any]
    learn: Callable[[Any, NetworkRecord], Awaitable[LearnedProfile]]
    open_network: Callable[[NetworkRecord, LearnedProfile | None, Fetch, RequestLimits | None], Network]
    url_option: str | None = None


class ServerSource:
    """Opens the networks behind one kind of server; see ``port.RemoteSource``.

    Args:
        fetch: asks an address.
        limits: of one request; by default the deadline of each network's answers.
    """

    def __init__(self, server_kind: ServerKind, fetch: Fetch, limits: RequestLimits | None = None) -> None:
        self._server_kind = server_kind
        self._fetch = fetch
        self._limits = limits

    @property
    def kind(self) -> str:
        return self._server_kind.name

    async def learn(self, record: NetworkRecord) -> LearnedProfile:
        option = self._server_kind.url_option
        if record.url is None and option is not None:
            raise ParameterError(f"{record.name} has no url", {"field": "url"}, hint=f"Name the server: --{option} URL")
        server = self._server_kind.new_server(self._fetch, record, self._limits or _PATIENT)
        return await self._server_kind.learn(server, record)

    def open(self, record: NetworkRecord, learned: LearnedProfile | None = None) -> Network:
        try:
            return self._server_kind.open_network(record, learned, self._fetch, self._limits)
        except ParameterError as error:
            raise SettingsInvalid(
                f"The url of {record.name} cannot be used: {error.message}", hint=error.hint
            ) from error

    def stamp(self) -> Hashable:
        """Return a constant: these networks have no background work."""
        return None

    def retire(self, name: str) -> None:
        """Do nothing: these networks have no background work."""

    async def close(self) -> None:
        """Do nothing: the caller closes what ``fetch`` uses."""


class ServerNetwork(ABC):
    """A network behind one server; see the port. Threads may share it.

    Attributes:
        walking: where the lengths of walks come from.
    """

    walking: ClassVar[str] = "streets, as the server knows them"

    def __init__(
        self, profile: NetworkProfile, stops: StopLookup, record: NetworkRecord, learned: LearnedProfile | None
    ) -> None:
        self._profile = profile
        self._stops = stops
        self._languages = record.languages or (() if learned is None else learned.languages)

    @property
    def profile(self) -> NetworkProfile:
        return self._profile

    async def find_stop(self, stop_id: str, *, language: str | None = None) -> Place | None:
        return await self._stops.find_stop(stop_id, self._choose_language(language))

    async def find_stop_place(self, stop_id: str, *, language: str | None = None) -> Place | None:
        return await self._stops.find_stop_place(stop_id, self._choose_language(language))

    async def list_stops_near(self, coordinate: Coordinate, radius_m: float, *, language: str = "en") -> NearbyStops:
        near = await self._stops.list_near(coordinate, radius_m, self._choose_language(language))
        return NearbyStops(stops=near.data, provenance=self._provenance(near.retrieved_at, language, near.notes))

    async def find_realtime_health(self) -> RealtimeHealth | None:
        """Return None: these servers follow real time, and report nothing about its sources."""
        return None

    def _choose_language(self, language: str | None) -> str | None:
        """Return the language to ask names in; None leaves it to the server."""
        chosen = choose(language, self._languages)
        return None if chosen == DEFAULT else chosen

    @abstractmethod
    def _attribute(self, retrieved: str) -> tuple[str, ...]:
        """Return what the terms want beside the attribution; ``retrieved`` is a date and time."""

    def _provenance(
        self, retrieved_at: datetime | None, language: str, notes: Sequence[str] = (), *, zone: str | None = None
    ) -> Provenance:
        """Return where an answer comes from; ``zone`` is that of its places, by default the network's."""
        profile = self._profile
        instant = int((retrieved_at or clock.now()).timestamp())
        where = zone if zone is not None and is_zone(zone) else profile.zone
        feeds = profile.feeds or (FeedVersion(name=profile.name),)
        return Provenance(
            network=profile.name,
            source=profile.source,
            zone=where,
            retrieved_at=instant,
            feeds=tuple(replace(feed, name=feed.name.upper()) for feed in feeds),
            attribution=(*profile.attribution, *self._attribute(print_instant(instant, where))),
            language=self._choose_language(language) or DEFAULT,
            notes=tuple(notes),
            walking=self.walking,
            first_day=profile.first_day,
            last_day=profile.last_day,
        )


def find_common_zone(names: Iterable[str | None]) -> str | None:
    """Return the valid time zone that is named most often; None without one."""
    zones = Counter(name for name in names if is_zone(name))
    return zones.most_common(1)[0][0] if zones else None
