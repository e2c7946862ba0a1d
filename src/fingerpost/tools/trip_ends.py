"""Both ends of a trip, and the one network that covers them (rulings A6, A13, B10)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fingerpost.errors import ParameterError, RegionUnsupported
from fingerpost.store.variables import Variable, VariableStore
from fingerpost.tools.labels import (
    Reading,
    ambiguous,
    find_position,
    find_reading,
    find_stop_id,
    find_variable,
    location_of_place,
    location_of_variable,
    unknown,
)
from fingerpost.tools.shapes import CoordsEnd, LabelEnd
from fingerpost.transit.model import Location, LocationSource
from fingerpost.transit.port import Network, Networks
from fingerpost.transit.rules.distance import is_same_point
from fingerpost.transit.rules.networks import get_network_between
from fingerpost.transit.rules.warnings import WarningCode, Warnings

# A network that reads a label this much better beats one that would be preferred.
BETTER_READING = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class TripEnds:
    """A trip's ends, resolved in one network."""

    network: Network
    origin: Location
    destination: Location


class TripEndFinder:
    """Resolves the ends of trips."""

    def __init__(self, networks: Networks, variables: VariableStore) -> None:
        self._networks = networks
        self._variables = variables

    async def get_ends(
        self,
        origin: CoordsEnd | LabelEnd,
        destination: CoordsEnd | LabelEnd,
        *,
        user: str | None,
        language: str,
        warnings: Warnings,
    ) -> TripEnds:
        """Resolve both ends in the network that reads them best.

        Raises:
            ParameterError: the ends are the same, or a label means nothing.
            PlaceAmbiguous: a label could mean several places.
            RegionUnsupported: no one network covers both ends.
        """
        fixed = {
            "origin": await self._find_fixed(origin, user),
            "destination": await self._find_fixed(destination, user),
        }
        labels: dict[str, object] = {"origin": origin.value, "destination": destination.value}
        networks = await self._networks.list_networks()
        if fixed["origin"] is not None and fixed["destination"] is not None:
            _refuse_same(fixed["origin"], fixed["destination"])
            network = get_network_between(networks, fixed["origin"].coordinate, fixed["destination"].coordinate)
            return TripEnds(network=network, origin=fixed["origin"], destination=fixed["destination"])
        exact = {side: await _is_token(networks, labels[side]) for side, end in fixed.items() if end is None}
        by_network = [
            (
                network,
                {
                    side: await _read(network, end, labels[side], language, is_token=exact.get(side, False))
                    for side, end in fixed.items()
                },
            )
            for network in networks
        ]
        network, readings = _choose(by_network, fixed, labels)
        added = [other.name for other in networks if not other.is_demo]
        if network.is_demo and added:
            passed = f"{', '.join(added)} does not know both ends"
            warnings.add(WarningCode.DEMO_NETWORK, f"The demo network {network.name} answers, because {passed}.")
        ends = {side: _get_location(side, reading, labels[side]) for side, reading in readings.items()}
        for side, reading in readings.items():
            if reading.geocoded:
                warnings.add(WarningCode.LABEL_GEOCODED, _geocoded(side, labels[side], ends[side]))
        _refuse_same(ends["origin"], ends["destination"])
        return TripEnds(network=network, **ends)

    async def _find_fixed(self, end: CoordsEnd | LabelEnd, user: str | None) -> Location | None:
        """Return an end that needs no network to be understood."""
        if isinstance(end, CoordsEnd):
            return Location(coordinate=end.value.inner(), source=LocationSource.INPUT)
        variable = await find_variable(self._variables, user, end.value)
        if variable is not None and not (variable.type == "preference" and find_stop_id(variable) is None):
            return await self._get_kept(variable)
        position = find_position(end.value)
        return None if position is None else Location(coordinate=position, source=LocationSource.INPUT)

    async def _get_kept(self, variable: Variable) -> Location:
        """Return the place that a variable keeps, or the place of the stop whose id is all that it keeps."""
        stop_id = find_stop_id(variable)
        if stop_id is not None and not (isinstance(variable.value, dict) and "lat" in variable.value):
            for network in await self._networks.list_networks():
                place = await network.find_stop_place(stop_id)
                if place is not None:
                    return replace(location_of_place(place, variable.key), source=LocationSource.USER_VARIABLE)
        return location_of_variable(variable)


async def _is_token(networks: Sequence[Network], label: object) -> bool:
    """Whether a label is a stop's id in any network: then it is nowhere a name."""
    return any([await network.find_stop(str(label)) is not None for network in networks])


async def _read(
    network: Network, fixed: Location | None, label: object, language: str, *, is_token: bool
) -> Reading | None:
    if fixed is None:
        return await find_reading(network, str(label), language, is_token=is_token)
    return Reading(score=1.0, location=fixed) if network.bounds.covers(fixed.coordinate) else None


_Readings = dict[str, Reading | None]


def _choose(
    by_network: Sequence[tuple[Network, _Readings]], fixed: dict[str, Location | None], labels: dict[str, object]
) -> tuple[Network, dict[str, Reading]]:
    """Return the first network that reads both ends about as well as any."""
    able = [
        (network, {side: reading for side, reading in readings.items() if reading is not None})
        for network, readings in by_network
    ]
    whole = [(network, readings) for network, readings in able if len(readings) == len(fixed)]
    if not whole:
        raise _explain_none(able, fixed, labels)
    best = max(min(reading.score for reading in readings.values()) for _, readings in whole)
    return next(
        (network, readings)
        for network, readings in whole
        if min(reading.score for reading in readings.values()) >= best - BETTER_READING
    )


def _explain_none(
    able: Sequence[tuple[Network, dict[str, Reading]]], fixed: dict[str, Location | None], labels: dict[str, object]
) -> ParameterError | RegionUnsupported:
    where = {side: [network.name for network, readings in able if side in readings] for side in fixed}
    for side, names in where.items():
        if not names and fixed[side] is None:
            return unknown(str(labels[side]), side=side)
    told = " and ".join(
        f"{side} lies in {', '.join(names)}" if names else f"{side} lies outside every network"
        for side, names in where.items()
    )
    return RegionUnsupported(
        f"{told}; no one network covers both",
        where,
        hint="Networks: " + ", ".join(network.name for network, _ in able),
    )


def _get_location(side: str, reading: Reading, label: object) -> Location:
    if reading.location is None:
        raise ambiguous(str(label), reading.candidates, side=side)
    return reading.location


def _refuse_same(origin: Location, destination: Location) -> None:
    if is_same_point(origin.coordinate, destination.coordinate):
        raise ParameterError("origin and destination must differ", {"field": "destination"})


def _geocoded(side: str, label: object, location: Location) -> str:
    where = f"{location.coordinate.lat:.5f},{location.coordinate.lon:.5f}"
    address = f", {location.address}" if location.address else ""
    return f"{side} '{label}' was taken as {location.name}{address} ({where})."
