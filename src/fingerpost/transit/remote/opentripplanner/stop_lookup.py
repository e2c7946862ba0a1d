"""Find stops and stations on the server: by id, around a point, and as the whole place that an id stands for."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from fingerpost.transit.model.bounding_box import box_around
from fingerpost.transit.model.distance import distance_m
from fingerpost.transit.model.itinerary import NearbyStop, StopPoint
from fingerpost.transit.model.place import Coordinate, Place
from fingerpost.transit.remote.opentripplanner.documents import STOPS_BY_ID, STOPS_IN_BOX
from fingerpost.transit.remote.opentripplanner.modes import read_access, read_mode
from fingerpost.transit.remote.opentripplanner.server import STOPS_FRESH_S, Answered, Server, refuse_unreadable
from fingerpost.transit.remote.opentripplanner.shapes import (
    OwnStop,
    Station,
    StopInBox,
    StopOfStation,
    StopsById,
    StopsInBox,
)
from fingerpost.transit.remote.opentripplanner.stop_ids import StopIdBook
from fingerpost.transit.rules.language import spoken
from fingerpost.transit.rules.place_groups import ONE_PLACE_M, place_of_stop
from fingerpost.transit.rules.place_index import NamedStop, PlaceIndex

# Stops that are one place may be linked by others between them.
_AROUND_M = 2 * ONE_PLACE_M


class StopLookup:
    """Looks stops up on one server."""

    def __init__(self, server: Server, ids: StopIdBook) -> None:
        self._server = server
        self._ids = ids

    async def find(self, printed_ids: Sequence[str], language: str | None = None) -> StopsById:
        """Return what the server knows of some printed ids, case ignored."""
        own = list(dict.fromkeys(own_id for printed in printed_ids for own_id in self._ids.list_own(printed)))
        if not own:
            return StopsById()
        answered = await self._server.ask(
            STOPS_BY_ID, StopsById, {"ids": own}, language=language, fresh_s=STOPS_FRESH_S
        )
        if answered.has_lost("stops") and not answered.data.stops and not answered.data.stations:
            raise refuse_unreadable("stop", answered.notes)
        return answered.data

    async def find_stop(self, printed_id: str, language: str | None) -> Place | None:
        """Return exactly that stop or station; see the port."""
        wanted = printed_id.strip().upper()
        found = await self.find([printed_id], language)
        for station in found.stations:
            if self._ids.print(station.gtfs_id) == wanted:
                return spoken(self.place_of_station(station), language)
        stop = next((each for each in found.stops if self._ids.print(each.gtfs_id) == wanted), None)
        return None if stop is None else spoken(self.place_of(stop), language)

    async def find_stop_place(self, printed_id: str, language: str | None) -> Place | None:
        """Return the whole place that an id stands for as a token; see the port (rule D2)."""
        exact = await self.find_stop(printed_id, language)
        if exact is None or exact.id is None or exact.member_ids != (exact.id,):
            return exact
        around = await self._index_around(exact.coordinate, language)
        place = around.find_place_of(exact.id)
        return exact if place is None else spoken(place, language)

    async def get_group(self, stop: OwnStop, language: str | None) -> Place:
        """Return the place that a stop belongs to: itself, and the stops of its name around it (rule D2)."""
        alone = self.place_of(stop)
        around = await self._index_around(alone.coordinate, language)
        matches = around.search(stop.name)
        place = next((match.place for match in matches if alone.id in match.place.member_ids), alone)
        return spoken(place, language)

    def place_of(self, stop: OwnStop) -> Place:
        """Return a stop by itself."""
        return place_of_stop(self._named(stop))

    def place_of_station(self, station: Station) -> Place:
        """Return a station with its stops."""
        return place_of_stop(self._named(station, kind="station"), [self._named(each) for each in station.stops])

    async def list_near(
        self, coordinate: Coordinate, radius_m: float, language: str | None
    ) -> Answered[list[NearbyStop]]:
        """Return boardable stops within a straight-line radius, nearest first; see the port."""
        answered = await self._ask_box(coordinate, radius_m, language)
        near = (self._near(stop, coordinate) for stop in answered.data.stops_by_bbox)
        stops = sorted(
            (each for each in near if each.distance_m <= radius_m),
            key=lambda each: (each.distance_m, each.stop.id or ""),
        )
        return Answered(data=stops, retrieved_at=answered.retrieved_at, notes=answered.notes)

    async def _index_around(self, coordinate: Coordinate, language: str | None) -> PlaceIndex:
        """Return the places around a point, as far as stops of one place may lie apart."""
        answered = await self._ask_box(coordinate, _AROUND_M, language)
        return PlaceIndex(self._list_named(answered.data.stops_by_bbox))

    def _list_named(self, stops: Iterable[StopOfStation]) -> list[NamedStop]:
        """Return stops for an index, with their stations and all stops of these, each once."""
        named: dict[str, NamedStop] = {}
        for stop in stops:
            station = stop.parent_station
            if station is not None:
                for each in station.stops:
                    named.setdefault(each.gtfs_id, self._named(each, parent=station))
                named.setdefault(station.gtfs_id, self._named(station, kind="station"))
            named.setdefault(stop.gtfs_id, self._named(stop, parent=station))
        return list(named.values())

    async def _ask_box(self, centre: Coordinate, radius_m: float, language: str | None) -> Answered[StopsInBox]:
        box = asdict(box_around(centre, radius_m))
        answered = await self._server.ask(STOPS_IN_BOX, StopsInBox, box, language=language, fresh_s=STOPS_FRESH_S)
        if answered.has_lost("stopsByBbox") and not answered.data.stops_by_bbox:
            raise refuse_unreadable("stop", answered.notes)
        return answered

    def _near(self, stop: StopInBox, centre: Coordinate) -> NearbyStop:
        here = Coordinate(stop.lat, stop.lon)
        return NearbyStop(
            stop=StopPoint(
                name=stop.name,
                coordinate=here,
                id=self._ids.print(stop.gtfs_id),
                platform=stop.platform_code or None,
                wheelchair=read_access(stop.wheelchair_boarding),
            ),
            distance_m=distance_m(centre, here),
            modes=tuple(sorted({read_mode(None, route.type) for route in stop.routes})),
        )

    def _named(self, stop: OwnStop, *, parent: Station | None = None, kind: str = "stop") -> NamedStop:
        return NamedStop(
            id=self._ids.print(stop.gtfs_id),
            name=stop.name,
            lat=stop.lat,
            lon=stop.lon,
            parent_id=None if parent is None else self._ids.print(parent.gtfs_id),
            kind="station" if kind == "station" else "stop",
        )
