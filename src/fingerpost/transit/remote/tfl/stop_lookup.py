"""Stops by id and around a point."""

from collections.abc import Iterable, Iterator

from fingerpost.transit.model.distance import distance_m
from fingerpost.transit.model.itinerary import NearbyStop, StopPoint
from fingerpost.transit.model.place import Coordinate, Place, PlaceKind
from fingerpost.transit.remote.tfl.modes import read_mode
from fingerpost.transit.remote.tfl.server import STOPS_FRESH_S, TflAnswer, TflClient
from fingerpost.transit.remote.tfl.shapes import StopPointsNear, TflStopPoint
from fingerpost.transit.remote.tfl.stop_ids import NaptanIds
from fingerpost.transit.remote.tfl.unified_api import LANGUAGE

# Where riders board: stations as a whole, single poles and piers; not entrances and platforms inside stations.
BOARDED_TYPES = (
    "NaptanMetroStation",
    "NaptanRailStation",
    "NaptanPublicBusCoachTram",
    "NaptanBusCoachStation",
    "NaptanFerryPort",
    "NaptanFerryBerth",
)
_GROUPS = frozenset(
    {"TransportInterchange", "NaptanOnstreetBusCoachStopPair", "NaptanOnstreetBusCoachStopCluster", "StopGroup"}
)


class StopPointLookup:
    """Looks up TfL's stops."""

    def __init__(self, server: TflClient, ids: NaptanIds) -> None:
        self._server = server
        self._ids = ids

    async def find_place(self, printed: str, *, whole: bool) -> Place | None:
        """Return the stop of a printed id, or where ``whole`` the station or hub that it belongs to; None for none.

        Raises:
            StorageUnavailable, SourceChanged: TfL cannot be asked.
        """
        own_id = self._ids.find_own(printed)
        stop = None if own_id is None else await self._find(own_id)
        if stop is None or own_id is None:
            return None
        if whole:
            above = stop.hub_naptan_code or stop.station_naptan
            if above and above.upper() != stop.own_id.upper():
                stop = await self._find(above) or stop
        elif stop.own_id.upper() != own_id:
            # TfL answers with the top of the hierarchy for some ids.
            stop = next((each for each in _walk(stop) if each.own_id.upper() == own_id), stop)
        return self.new_place(stop)

    async def list_member_ids(self, own_id: str) -> list[str]:
        """Return TfL's ids of the stops that are boarded at a hub or a group; the id itself for any other stop."""
        stop = await self._find(own_id)
        return [own_id] if stop is None else [each.own_id for each in _list_boarded(stop)]

    async def find_with_lines(self, own_id: str) -> TflStopPoint | None:
        """Return a stop with the lines that call there; None where TfL does not know it."""
        stop = await self._find(own_id)
        if stop is None or stop.own_id.upper() == own_id.upper():
            return stop
        # For some ids TfL answers with the top of the hierarchy, which has the lines of all below it.
        return next((each for each in _walk(stop) if each.own_id.upper() == own_id.upper() and each.lines), stop)

    async def list_near(self, centre: Coordinate, radius_m: float) -> TflAnswer[list[NearbyStop]]:
        """Return the stops within a straight line of a position, nearest first.

        Raises:
            StorageUnavailable, SourceChanged: TfL cannot be asked.
        """
        params = {
            "lat": f"{centre.lat:.6f}",
            "lon": f"{centre.lon:.6f}",
            "radius": str(round(radius_m) + 1),
            "stopTypes": ",".join(BOARDED_TYPES),
            "useStopPointHierarchy": "false",
            "returnLines": "true",
        }
        told = await self._server.ask(StopPointsNear, "StopPoint", params=params, fresh_s=STOPS_FRESH_S)
        near = [self._near(stop, centre) for stop in told.data.stop_points]
        kept = sorted(
            (each for each in near if each.distance_m <= radius_m), key=lambda each: (each.distance_m, each.stop.id)
        )
        return TflAnswer(data=kept, retrieved_at=told.retrieved_at)

    def new_place(self, stop: TflStopPoint) -> Place:
        """Return a stop with all that is boarded below it."""
        printed = self._ids.print(stop.own_id)
        members = tuple(self._ids.print(each.own_id) for each in _list_boarded(stop))
        return Place(
            id=printed,
            name=name_of(stop),
            coordinate=Coordinate(stop.lat, stop.lon),
            kind=PlaceKind.STOP,
            member_ids=members or (printed,),
            names={LANGUAGE: name_of(stop)},
            language=LANGUAGE,
        )

    async def _find(self, own_id: str) -> TflStopPoint | None:
        found = await self._server.find(TflStopPoint, "StopPoint", own_id, fresh_s=STOPS_FRESH_S)
        return None if found is None else found.data

    def _near(self, stop: TflStopPoint, centre: Coordinate) -> NearbyStop:
        here = Coordinate(stop.lat, stop.lon)
        return NearbyStop(
            stop=StopPoint(
                name=name_of(stop), coordinate=here, id=self._ids.print(stop.own_id), platform=stop.stop_letter or None
            ),
            distance_m=distance_m(centre, here),
            modes=tuple(sorted({read_mode(mode) for mode in stop.modes})),
        )


def name_of(stop: TflStopPoint) -> str:
    """Return a stop's name as TfL writes it."""
    return stop.common_name


def _list_boarded(stop: TflStopPoint) -> list[TflStopPoint]:
    """Return the stops that are boarded: of a hub or a group those below it, else the stop itself."""
    if stop.stop_type not in _GROUPS:
        return [stop]
    found = {each.own_id: each for each in _descend(stop.children)}
    return list(found.values())


def _descend(children: Iterable[TflStopPoint]) -> Iterator[TflStopPoint]:
    for child in children:
        if child.stop_type in _GROUPS:
            yield from _descend(child.children)
        elif child.stop_type in BOARDED_TYPES:
            yield child


def _walk(stop: TflStopPoint) -> Iterator[TflStopPoint]:
    yield stop
    for child in stop.children:
        yield from _walk(child)
