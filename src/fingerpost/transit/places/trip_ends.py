"""Resolve the origin and destination of a trip, and the networks that can plan between them (rules A6, A13, B10)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fingerpost.errors import ParameterError, PlaceUnknown, RegionUnsupported
from fingerpost.runtime.concurrency import gather_all
from fingerpost.store.variables import Variable
from fingerpost.transit.model.place import Coordinate, Location, LocationSource, PlaceMatch, distance_m, is_same_point
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.networks.asking import ask_for_names, warn_of_left_out, warn_of_problems
from fingerpost.transit.networks.order import list_covering, uncovered
from fingerpost.transit.places.candidates import ambiguous, say_guess, unknown
from fingerpost.transit.places.labels import Label, Name, Position, ResolvedStop, StopText, TextQuery, read_label
from fingerpost.transit.places.region import has_whole_name, list_running, offer_regions
from fingerpost.transit.places.resolver import PlaceResolver, find_address, find_place_of_token, location_of_place
from fingerpost.transit.port import Network, OpenNetworks
from fingerpost.transit.rules.name_matching import Resolved, decide, in_order
from fingerpost.transit.rules.warnings import WarningCode, Warnings, add_reasons

# A network that reads a label this much better beats one that would be preferred.
BETTER_READING = 0.02

PlaceQuery = Coordinate | Location | ResolvedStop | TextQuery | str
"""One end of a trip as it was sent: a position, a place that was resolved before, or a label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TripEnds:
    network: Network
    origin: Location
    destination: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """One network's resolution of an end: a ``location`` if it is certain, and the candidates of a name.

    ``score`` is 1 for what was named exactly. ``geocoded`` is True where a name was matched; ``guess`` is a sentence
    on what of its position is guessed, None where nothing is.
    """

    score: float
    location: Location | None = None
    candidates: tuple[PlaceMatch, ...] = ()
    geocoded: bool = False
    guess: str | None = None


_ByNetwork = dict[str, _Reading]
"""How an end is read, by the name of the network."""


class TripEndResolver:
    """Resolves the origins and destinations of trips.

    Args:
        places: resolves texts.
        sides: what the two ends are called in errors and warnings.
    """

    def __init__(self, places: PlaceResolver, sides: tuple[str, str] = ("origin", "destination")) -> None:
        self._places = places
        self._sides = sides

    async def get_trip_ends(
        self,
        origin: PlaceQuery,
        destination: PlaceQuery,
        *,
        user: str | None,
        language: str,
        warnings: Warnings,
        instant: int,
        arrive_by: bool = False,
    ) -> list[TripEnds]:
        """Return the ends as each network reads them that can plan between them, the preferred first.

        The networks after the first read both ends about as well; they stand in for it where it fails.
        Names are read in networks that run at the ``instant`` (Unix seconds), where these know them.

        Raises:
            ParameterError: the ends are the same, or a label means nothing.
            PlaceAmbiguous: a label could mean several places.
            RegionUnsupported: no one network covers both ends.
            StorageUnavailable: nobody could be asked for a name.
        """
        needed = (Ability.PLANS, Ability.ARRIVE_BY) if arrive_by else (Ability.PLANS,)
        queries = dict(zip(self._sides, (origin, destination), strict=True))
        labels = {side: await self._read(query, user) for side, query in queries.items()}
        positions = [label.location for label in labels.values() if isinstance(label, Position)]
        if len(positions) == len(labels):
            _refuse_same(*positions, sides=self._sides)
        opened = await self._places.networks.open()
        warn_of_problems(opened.problems, warnings)
        texts = {side: _text_query(query) for side, query in queries.items()}
        resolution = _Resolution(opened, language, warnings, texts)
        readings = await resolution.read_ends(labels)
        able = [network for network in resolution.networks if network.profile.can(*needed)]
        chosen = _choose(able, readings, instant)
        if not chosen:
            raise await resolution.explain(labels, readings, needed)
        _refuse_regions(list_running(able, instant), readings, chosen[0][1], texts)
        for side, reading in chosen[0][1].items():
            if reading.location is None:
                raise ambiguous(texts[side].text, reading.candidates, side=side, sent_as=texts[side].sent_as)
            _refuse_far(side, texts[side], reading.location)
            if reading.geocoded:
                warnings.add(WarningCode.LABEL_GEOCODED, _say_geocoded(side, texts[side].text, reading.location))
            warnings.add(WarningCode.POSITION_GUESSED, reading.guess)
        ends = [await _ends(network, by_side, language) for network, by_side in chosen if _is_certain(by_side)]
        _refuse_same(ends[0].origin, ends[0].destination, sides=self._sides)
        return ends

    async def _read(self, query: PlaceQuery, user: str | None) -> Label:
        if isinstance(query, Coordinate):
            return Position(Location(coordinate=query, source=LocationSource.INPUT))
        if isinstance(query, Location):
            return Position(query)
        if isinstance(query, ResolvedStop):
            return StopText(query.stop_id, query.name, is_certain=True)
        return await read_label(_text_query(query).text, self._places.variables, user)


class _Resolution:
    """One resolution of an origin and a destination over a fixed set of networks."""

    def __init__(self, opened: OpenNetworks, language: str, warnings: Warnings, texts: Mapping[str, TextQuery]) -> None:
        self.networks: Sequence[Network] = opened.answering
        self._texts = texts
        self._opened = opened
        self._language = language
        self._warnings = warnings
        self._silent: list[str] = []

    async def read_ends(self, labels: Mapping[str, Label]) -> dict[str, _ByNetwork]:
        """Resolve positions and tokens first, because they tell in which region to look for names."""
        readings: dict[str, _ByNetwork] = {}
        named: dict[str, str] = {}
        # A demo network covers a position only once its own id has let it in.
        bare = [side for side, label in labels.items() if isinstance(label, Position) and not label.location.stop_ids]
        for side, label in sorted(labels.items(), key=lambda item: item[0] in bare):
            if isinstance(label, Position):
                readings[side] = self._read_position(label.location)
            elif isinstance(label, StopText):
                found = await self._find_token(side, label)
                if found is None:
                    named[side] = label.label
                else:
                    readings[side] = found
            else:
                named[side] = label.text
        region = [
            network for network in self.networks if all(network.profile.name in read for read in readings.values())
        ]
        focuses = [focus for side in named if (focus := self._texts[side].focus) is not None]
        readings |= await self._read_names(list_covering(region, *focuses) or region, named)
        return {side: readings[side] for side in labels}

    def _read_position(self, location: Location) -> _ByNetwork:
        for stop_id in location.stop_ids:
            self._let_in(self._opened.list_owners(stop_id))
        covering = list_covering(self.networks, location.coordinate)
        return {network.profile.name: _Reading(score=1.0, location=location) for network in covering}

    async def _find_token(self, side: str, label: StopText) -> _ByNetwork | None:
        """Return a token's place in the networks of its FEED, None for what is no token and so a name."""
        found = await find_place_of_token(self._opened, label.stop_id, self._language, self._warnings)
        if found is None:
            if label.variable is not None:
                raise self._lost_stop(label, label.variable)
            if label.is_certain:
                left_out = self._warnings.find(WarningCode.NETWORK_LEFT_OUT)
                raise PlaceUnknown(
                    add_reasons(f"{side}: no stop has the id '{label.stop_id}'", left_out),
                    {"field": side, "side": side},
                    hint="Look the place up again with findAddressOrStop",
                )
            return None
        self._let_in(found.networks)
        # Two networks may use one id for different stops, so each plans from its own.
        return {
            network.profile.name: _Reading(score=1.0, location=location_of_place(place, label.label, label.variable))
            for network, place in zip(found.networks, found.places, strict=True)
        }

    def _lost_stop(self, label: StopText, variable: Variable) -> PlaceUnknown:
        """Return the error of a variable that keeps nothing but a stop's id, which no network knows now."""
        silent = [*self._warnings.find(WarningCode.NETWORK_LEFT_OUT)]
        message = f"the variable '{variable.key}' keeps the stop '{label.stop_id}', which no network knows"
        if silent:
            return PlaceUnknown(f"{message}. {' '.join(silent)}", hint="Ask again when the network answers")
        return PlaceUnknown(message, hint="Look the place up with findAddressOrStop, and save what is found")

    def _let_in(self, owners: Sequence[Network]) -> None:
        self.networks = (*self.networks, *(each for each in owners if each not in self.networks))

    async def _read_names(self, networks: Sequence[Network], named: Mapping[str, str]) -> dict[str, _ByNetwork]:
        able = [network for network in networks if network.profile.can(Ability.NAMES)]
        if not able:
            return {side: {} for side in named}
        found = await gather_all((self._read_name(able, side, text) for side, text in named.items()))
        return dict(zip(named, found, strict=True))

    async def _read_name(self, networks: Sequence[Network], side: str, text: str) -> _ByNetwork:
        asked = self._texts[side]
        language = asked.language or self._language
        answers = await ask_for_names(
            networks, lambda network: network.find_places(text, language=language, focus=asked.focus)
        )
        warn_of_left_out(answers.left_out, self._warnings)
        self._silent += [each.sentence for each in answers.left_out]
        near = (
            (network.profile.name, [match for match in matches if _is_near(match.place.coordinate, asked)])
            for network, matches in answers.by_network
        )
        return {
            name: _read_matches([replace(match, network=name) for match in matches], text)
            for name, matches in near
            if matches
        }

    async def explain(
        self, labels: Mapping[str, Label], readings: Mapping[str, _ByNetwork], needed: Sequence[Ability]
    ) -> ParameterError | RegionUnsupported:
        """Return why no network can plan: a label that means nothing, or ends that lie apart."""
        everywhere = dict(readings)
        for side, label in labels.items():
            if isinstance(label, Position) or readings[side]:
                continue
            # It was looked for in the other end's region only; elsewhere it may well be known.
            text = label.text if isinstance(label, Name) else label.label
            everywhere |= await self._read_names(self.networks, {side: text})
            if not everywhere[side]:
                limit_m = self._texts[side].max_distance_m
                near = "" if limit_m is None else f" within {limit_m:g} m of focusPoint"
                return unknown(text, side=side, near=near, left_out=[*self._silent, *self._opened.problems.values()])
        # A name that one network has lies there, and not where others have something like it.
        where = {side: _list_certain(read) or list(read) for side, read in everywhere.items()}
        lacking = needed if set.intersection(*map(set, where.values())) else ()
        positions = {side: label.location.coordinate for side, label in labels.items() if isinstance(label, Position)}
        return uncovered(self.networks, where, lacking=lacking, problems=self._opened.problems, positions=positions)


def _text_query(query: PlaceQuery) -> TextQuery:
    """Return the label that was sent, with what is said of where it lies; an empty one where a place was sent."""
    if isinstance(query, TextQuery):
        return query
    return TextQuery(text=query if isinstance(query, str) else "")


def _is_near(place: Coordinate, asked: TextQuery) -> bool:
    """Whether a place keeps the distance that was asked for (rule D2: a hard limit)."""
    if asked.focus is None or asked.max_distance_m is None:
        return True
    return distance_m(asked.focus, place) <= asked.max_distance_m


def _refuse_far(side: str, asked: TextQuery, location: Location) -> None:
    """Refuse a position, a token or a saved place that lies too far from the focus point; names are left out before."""
    if _is_near(location.coordinate, asked) or asked.focus is None:
        return
    metres = round(distance_m(asked.focus, location.coordinate))
    raise PlaceUnknown(
        f"{side} '{asked.text}' lies {metres} m from focusPoint, further away than maxDistanceMeters",
        {"field": side, "side": side},
        hint="Raise maxDistanceMeters, or leave it out",
    )


def _read_matches(matches: Sequence[PlaceMatch], text: str) -> _Reading:
    decision = decide(matches)
    if isinstance(decision, Resolved):
        found = decision.match
        guess = say_guess(found.place, text) if found.place.guess else None
        location = location_of_place(found.place, text)
        return _Reading(score=found.score, location=location, candidates=(found,), geocoded=True, guess=guess)
    return _Reading(score=matches[0].score, candidates=tuple(matches))


_BySide = dict[str, _Reading]


def _choose(
    networks: Sequence[Network], readings: Mapping[str, _ByNetwork], instant: int
) -> list[tuple[Network, _BySide]]:
    """Return the networks that read both ends about as well as any, in order of preference.

    A network without service at the instant is left out where a running one reads both ends, or is certain of one.
    """
    running = list_running(networks, instant)
    every = [
        (network, {side: read[network.profile.name] for side, read in readings.items()})
        for network in networks
        if all(network.profile.name in read for read in readings.values())
    ]
    whole = [each for each in every if each[0] in running]
    if not whole:
        is_elsewhere = any(
            network.profile.name in _list_certain(read) for read in readings.values() for network in running
        )
        whole = [each for each in every if not is_elsewhere or _is_certain(each[1])]
    best = max((_score(by_side) for _, by_side in whole), default=0.0)
    return [(network, by_side) for network, by_side in whole if _score(by_side) >= best - BETTER_READING]


def _refuse_regions(
    networks: Sequence[Network], readings: Mapping[str, _ByNetwork], chosen: _BySide, texts: Mapping[str, TextQuery]
) -> None:
    """Refuse names that networks of two regions have whole, where no end says which is meant (rule A13)."""
    if not all(reading.geocoded for reading in chosen.values()):
        return
    having = [
        network.profile.name
        for network in networks
        if all(_has_whole(read.get(network.profile.name)) for read in readings.values())
    ]
    for side, asked in texts.items():
        matches = [match for name in having for match in readings[side][name].candidates]
        offered = in_order(offer_regions(matches, networks))
        if any(match.is_apart for match in offered):
            raise ambiguous(asked.text, offered, side=side, sent_as=asked.sent_as)


def _has_whole(reading: _Reading | None) -> bool:
    return reading is not None and any(has_whole_name(match) for match in reading.candidates)


def _list_certain(read: _ByNetwork) -> list[str]:
    return [name for name, reading in read.items() if reading.location is not None]


def _is_certain(by_side: _BySide) -> bool:
    return all(reading.location is not None for reading in by_side.values())


def _score(by_side: _BySide) -> float:
    return min(reading.score for reading in by_side.values())


async def _ends(network: Network, by_side: _BySide, language: str) -> TripEnds:
    """Return the ends of a trip; bare positions under the names of what is there, where the network knows."""
    origin, destination = (reading.location for reading in by_side.values())
    assert origin is not None
    assert destination is not None
    return TripEnds(
        network=network,
        origin=await _named(origin, network, language),
        destination=await _named(destination, network, language),
    )


async def _named(location: Location, network: Network, language: str) -> Location:
    if location.name is not None or location.source is not LocationSource.INPUT:
        return location
    place = await find_address([network], location.coordinate, language)
    return location if place is None else replace(location, name=place.name)


def _refuse_same(origin: Location, destination: Location, *, sides: tuple[str, str]) -> None:
    if is_same_point(origin.coordinate, destination.coordinate):
        hint = f"Both are {destination.name}" if destination.name else None
        raise ParameterError(f"{sides[0]} and {sides[1]} must differ", {"field": sides[1]}, hint=hint)


def _say_geocoded(side: str, label: str, location: Location) -> str:
    where = f"{location.coordinate.lat:.5f},{location.coordinate.lon:.5f}"
    address = f", {location.address}" if location.address else ""
    return f"{side} '{label}' was taken as {location.name}{address} ({where})."
