"""Resolve the origin and destination of a trip, and choose networks that cover both (rules A6, A13, B10)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from fingerpost.errors import ParameterError, PlaceUnknown, Remedy, RemedyKind, TextUnknown, ToolError
from fingerpost.runtime.concurrency import gather_all
from fingerpost.runtime.grouping import group_by_key
from fingerpost.transit.model.place import Location, LocationSource, PlaceMatch, distance_m, is_same_point
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.networks.order import list_covering, new_uncovered
from fingerpost.transit.places.candidates import list_guess_warnings, new_ambiguous, new_unknown
from fingerpost.transit.places.region import is_likely, list_running, matches_full_name, suggest_regions
from fingerpost.transit.places.resolver import (
    FoundStop,
    Label,
    PlaceLookup,
    PlaceResolver,
    StopLabel,
    TextQuery,
    find_address,
    read_label,
    to_location,
)
from fingerpost.transit.port import JourneyParameters, JourneyQuery, Network, OpenNetworks
from fingerpost.transit.rules.name_matching import find_certain, sort_matches
from fingerpost.transit.rules.warnings import Warning, WarningCode, add_reasons, merge_by_code  # noqa: A004

# A network whose score is better by more than this wins over one with a higher priority.
SCORE_MARGIN = 0.02


class NetworkJourney(NamedTuple):
    """A network, and a query with the origin and destination as that network resolved them."""

    network: Network
    query: JourneyQuery

    def at_time_of(self, parameters: JourneyParameters) -> "NetworkJourney":
        return self._replace(query=parameters.between(self.query.origin, self.query.destination))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Resolution:
    score: float = 1.0
    location: Location | None = None
    candidates: tuple[PlaceMatch, ...] = ()

    @property
    def is_matched_name(self) -> bool:
        return self.location is not None and bool(self.candidates)


@dataclass(slots=True, kw_only=True, eq=False)
class _End:
    side: str
    query: TextQuery
    label: Label
    resolutions: dict[str, _Resolution] = field(default_factory=dict)

    def get_resolution(self, network: Network) -> _Resolution:
        return self.resolutions.get(network.profile.name, _Resolution(score=0.0))

    def list_certain(self) -> list[str]:
        return [name for name, resolution in self.resolutions.items() if resolution.location is not None]


async def resolve_journey(
    places: PlaceResolver,
    origin: Label | TextQuery,
    destination: Label | TextQuery,
    parameters: JourneyParameters,
    *,
    user: str | None,
    sides: tuple[str, str] = ("origin", "destination"),
) -> tuple[list[NetworkJourney], Sequence[Warning]]:
    """Return the queries for the networks that can plan the journey, preferred network first, and the warnings.

    Raises:
        ParameterError: the origin and destination are the same, or a label matches nothing.
        PlaceAmbiguous: a label matches several places.
        RegionUnsupported: no network covers both the origin and the destination.
    """
    needed = (Ability.PLANS, Ability.ARRIVE_BY) if parameters.arrive_by else (Ability.PLANS,)
    ends = []
    for side, place in zip(sides, (origin, destination), strict=True):
        query = place if isinstance(place, TextQuery) else TextQuery(text="")
        label = await read_label(place.text, places.variables, user) if isinstance(place, TextQuery) else place
        ends.append(_End(side=side, query=query, label=label))
    lookup = _EndLookup(await places.networks.open(), parameters.language)
    await lookup.read(ends, parameters.instant)
    capable = [network for network in lookup.networks if network.profile.can(*needed)]
    chosen = _choose(capable, ends, parameters.instant)
    if not chosen:
        raise await lookup.build_error(ends, needed, parameters.instant)
    await _check_regions(capable, ends, chosen[0], parameters.instant)
    warnings = lookup.list_warnings()
    for end, other in (tuple(ends), tuple(reversed(ends))):
        resolution = end.get_resolution(chosen[0])
        if resolution.location is None:
            matches = await lookup.list_candidates(end, other, chosen[0], parameters.instant)
            raise await new_ambiguous(end.query.text, matches, side=end.side, sent_as=end.query.sent_as)
        _check_distance(end, resolution.location)
        if resolution.is_matched_name:
            warnings.append(Warning(WarningCode.LABEL_GEOCODED, _format_geocoded(end, resolution.location)))
            warnings += list_guess_warnings(resolution.candidates[0].place, end.query.text)
    journeys = [
        NetworkJourney(network, parameters.between(*locations))
        for network in chosen
        if (locations := _find_locations(network, ends))
    ]
    _check_ends_differ(journeys[0].query.origin, journeys[0].query.destination, sides=sides)
    return journeys, merge_by_code(warnings)


class _EndLookup(PlaceLookup):
    def __init__(self, opened: OpenNetworks, language: str) -> None:
        super().__init__(opened, language)
        self.networks: Sequence[Network] = opened.answering

    async def read(self, ends: Sequence[_End], instant: int) -> None:
        """Resolve ids and coordinates first, because they determine the region in which to search for names."""
        named = []
        labels = {end.side: end.label for end in ends if isinstance(end.label, StopLabel)}
        found_by_side = dict(zip(labels, await self._find_tokens(labels.values()), strict=True))
        # Resolve coordinates last, because ids may add a demo network.
        for end in sorted(ends, key=lambda end: isinstance(end.label, Location) and not end.label.stop_ids):
            if isinstance(end.label, Location):
                await self._resolve_position(end, end.label)
            elif not self._resolve_token(end, end.label, found_by_side[end.side]):
                named.append(end)
        if not named:
            return
        others = [end for end in ends if end not in named]
        region = [
            network for network in self.networks if all(network.profile.name in end.resolutions for end in others)
        ]
        focuses = [end.query.focus for end in named if end.query.focus is not None]
        networks = list_covering(region, *focuses) or region
        await gather_all(self._resolve_name(networks, end) for end in named)
        running = {network.profile.name for network in list_running(networks, instant)}
        for end in named:
            if running.intersection(end.list_certain()):
                # If a network in service has a certain match, ignore merely similar names, even in other regions.
                end.resolutions = {
                    name: found
                    for name, found in end.resolutions.items()
                    if any(is_likely(match, end.query.text) for match in found.candidates)
                }

    async def _resolve_position(self, end: _End, location: Location) -> None:
        for stop_id in location.stop_ids:
            self._add_networks(self.opened.list_owners(stop_id))
        for network in list_covering(self.networks, location.coordinate):
            place = None
            if location.name is None and location.source is LocationSource.INPUT:
                place = await find_address([network], location.coordinate, self.language)
            named = location if place is None else replace(location, name=place.name)
            end.resolutions[network.profile.name] = _Resolution(location=named)

    async def _find_tokens(self, labels: Collection[StopLabel]) -> list[FoundStop | None]:
        owners = [owner for label in labels for owner in self.opened.list_owners(label.stop_id)]
        if all(owner.profile.answer_deadline_s is None for owner in owners):
            return [await self._find_token(label) for label in labels]
        return await gather_all(map(self._find_token, labels))

    async def _find_token(self, label: StopLabel) -> FoundStop | None:
        if label.is_certain and label.name is None:
            return await self.find_owned(label.stop_id, lambda network: self.find_stop(network, label.stop_id))
        return await self.find_token(label.stop_id, label.name)

    def _resolve_token(self, end: _End, label: StopLabel, found: FoundStop | None) -> bool:
        if found is None:
            if label.variable is not None or label.is_certain:
                raise self._new_stop_unknown(end.side, label)
            return False
        self._add_networks(found.networks)
        # Two networks may use the same id for different stops.
        end.resolutions = {
            network.profile.name: _Resolution(location=to_location(place, label.text, label.variable))
            for network, place in found.places_by_network
        }
        return True

    def _new_stop_unknown(self, side: str, label: StopLabel) -> PlaceUnknown:
        message, remedy = f"{side}: no stop has the id '{label.stop_id}'", RemedyKind.LOOK_UP_PLACE
        if label.variable is not None:
            key = label.variable.key
            message = f"the variable '{key}' refers to the stop '{label.stop_id}', which is not in any network"
            remedy = RemedyKind.SAVE_PLACE
        details = {"field": side, "side": side}
        return PlaceUnknown(add_reasons(message, self.list_reasons()), details, hint=Remedy(remedy))

    def _add_networks(self, owners: Sequence[Network]) -> None:
        self.networks = (*self.networks, *(owner for owner in owners if owner not in self.networks))

    async def _resolve_name(self, networks: Sequence[Network], end: _End) -> None:
        query = end.query
        found = await self.query_names(networks, end.query.text, query.language or self.language, query.focus)
        for network, matches in found:
            name = network.profile.name
            near = [match._replace(network=name) for match in matches if query.is_near(match.place.coordinate)]
            if near:
                end.resolutions[name] = _resolve_matches(near, end.query.text)

    async def list_candidates(self, end: _End, other: _End, network: Network, instant: int) -> Sequence[PlaceMatch]:
        """Return the network's candidates, and distant places whose full name matches."""
        candidates = end.get_resolution(network).candidates
        if len(self.networks) == 1:
            return candidates
        matches = await self._find_everywhere(end, other, instant)
        return sort_matches([*candidates, *(match for match in matches if match.is_apart)])

    async def _find_everywhere(self, end: _End, other: _End, instant: int) -> list[PlaceMatch]:
        locations = (known.location for known in other.resolutions.values())
        focus = end.query.focus or next((location.coordinate for location in locations if location), None)
        matches = await self.find_by_name(end.query.text, focus=focus, instant=instant)
        return [match for match in matches if end.query.is_near(match.place.coordinate)]

    async def build_error(self, ends: Sequence[_End], needed: Sequence[Ability], instant: int) -> ToolError:
        for end, other in (tuple(ends), tuple(reversed(ends))):
            if not isinstance(end.label, StopLabel) or end.resolutions:
                continue
            # So far, only the region of the other place has been searched.
            query = end.query
            matches = await self._find_everywhere(end, other, instant)
            if not matches:
                near = "" if query.max_distance_m is None else f" within {query.max_distance_m:g} m of focusPoint"
                return new_unknown(query.text, side=end.side, near=near, left_out=self.list_reasons())
            if other.resolutions and find_certain(matches) is None:
                return await new_ambiguous(query.text, matches, side=end.side, sent_as=query.sent_as)
            by_network = group_by_key((match.network, match) for match in matches)
            end.resolutions = {name: _resolve_matches(near, query.text) for name, near in by_network.items()}
        for end in ends if all(end.resolutions for end in ends) else ():
            if not end.list_certain():
                similar = sort_matches([match for found in end.resolutions.values() for match in found.candidates])
                return await new_ambiguous(end.query.text, similar, side=end.side, sent_as=end.query.sent_as)
        # If some networks have a certain match, ignore those with only similar names.
        found = {end.side: end.list_certain() or list(end.resolutions) for end in ends}
        missing = needed if set.intersection(*map(set, found.values())) else ()
        positions = {end.side: end.label.coordinate for end in ends if isinstance(end.label, Location)}
        return new_uncovered(self.networks, found, missing=missing, problems=self.opened.problems, positions=positions)


def _check_distance(end: _End, location: Location) -> None:
    if end.query.focus is None or end.query.is_near(location.coordinate):
        return
    metres = round(distance_m(end.query.focus, location.coordinate))
    raise TextUnknown(
        f"{end.side} '{end.query.text}' is {metres} m from focusPoint, which is farther than maxDistanceMeters",
        {"field": end.side, "side": end.side},
        hint=Remedy(RemedyKind.SEARCH_FARTHER),
    )


def _resolve_matches(matches: Sequence[PlaceMatch], text: str) -> _Resolution:
    found = find_certain(matches)
    if found is not None:
        return _Resolution(score=found.score, location=to_location(found.place, text), candidates=(found,))
    return _Resolution(score=matches[0].score, candidates=tuple(matches))


def _choose(networks: Sequence[Network], ends: Sequence[_End], instant: int) -> list[Network]:
    """Return the networks whose scores for both places are close to the best, preferring networks in service."""
    resolving_both = [network for network in networks if all(network.profile.name in end.resolutions for end in ends)]
    running = list_running(networks, instant)
    eligible = [network for network in resolving_both if network in running]
    is_certain = any(network.profile.name in end.list_certain() for end in ends for network in running)
    if not eligible:
        eligible = [network for network in resolving_both if not is_certain or _find_locations(network, ends)]
    elif not is_certain:
        # Similar names in a network in service must not hide exact names in a network out of service.
        resting = [
            network
            for network in resolving_both
            if (locations := _find_locations(network, ends))
            and not any(list_covering(running, each.coordinate) for each in locations)
        ]
        eligible = resting or eligible
    scores = [min(end.get_resolution(network).score for end in ends) for network in eligible]
    best = max(scores, default=0.0)
    return [network for network, score in zip(eligible, scores, strict=True) if score >= best - SCORE_MARGIN]


async def _check_regions(networks: Sequence[Network], ends: Sequence[_End], chosen: Network, instant: int) -> None:
    if not all(end.get_resolution(chosen).is_matched_name for end in ends):
        return
    running = list_running(networks, instant)
    both_named = [
        network
        for network in running
        if all(any(map(matches_full_name, end.get_resolution(network).candidates)) for end in ends)
    ]
    for end in ends:
        matches = [match for network in both_named for match in end.get_resolution(network).candidates]
        suggested = sort_matches(suggest_regions(matches, running))
        if any(match.is_apart for match in suggested):
            raise await new_ambiguous(end.query.text, suggested, side=end.side, sent_as=end.query.sent_as)


def _find_locations(network: Network, ends: Sequence[_End]) -> tuple[Location, Location] | None:
    origin, destination = (end.get_resolution(network).location for end in ends)
    return None if origin is None or destination is None else (origin, destination)


def _check_ends_differ(origin: Location, destination: Location, *, sides: tuple[str, str]) -> None:
    if is_same_point(origin.coordinate, destination.coordinate):
        names = list(dict.fromkeys(end.name for end in (origin, destination) if end.name))
        hint = f"Both are {names[0]}" if names else None
        if len(names) > 1:
            hint = f"{' and '.join(names)} are at the same position"
        raise ParameterError(f"{sides[0]} and {sides[1]} must differ", {"field": sides[1]}, hint=hint)


def _format_geocoded(end: _End, location: Location) -> str:
    position = f"{location.coordinate.lat:.5f},{location.coordinate.lon:.5f}"
    address = f", {location.address}" if location.address else ""
    return f"{end.side} '{end.query.text}' was resolved to {location.name}{address} ({position})."
