"""Find stops and stations on the server: by id, around a point, and as the whole place that an id stands for."""

from collections.abc import Iterable, Sequence

from fingerpost.runtime.concurrency import gather_all
from fingerpost.transit.model.bounding_box import box_around
from fingerpost.transit.model.distance import distance_m
from fingerpost.transit.model.itinerary import NearbyStop, StopPoint
from fingerpost.transit.model.place import Bounds, Coordinate, Place
from fingerpost.transit.remote.motis.endpoints import MotisEndpoint
from fingerpost.transit.remote.motis.modes import read_mode
from fingerpost.transit.remote.motis.server import STOPS_FRESH_S, MotisAnswer, MotisServer, UnknownThere
from fingerpost.transit.remote.motis.shapes import MotisStopTimes, OwnPlace, StopList
from fingerpost.transit.remote.motis.stop_ids import MotisStopIds
from fingerpost.transit.rules.language import spoken
from fingerpost.transit.rules.place_groups import ONE_PLACE_M, place_of_stop
from fingerpost.transit.rules.place_index import NamedStop, PlaceIndex

# Stops that are one place may be linked by others between them.
_AROUND_M = 2 * ONE_PLACE_M
# Stations around a stop that are asked for where they lie; the stops of others stand by themselves.
_MOST_STATIONS = 5


class MotisStopLookup:
    """Looks stops up on one server."""

    def __init__(self, server: MotisServer, ids: MotisStopIds) -> None:
        self._server = server
        self._ids = ids

    async def find(self, printed_id: str, language: str | None = None) -> OwnPlace | None:
        """Return what the server says of a printed id, case ignored; None where it knows none.

        Raises:
            StorageUnavailable, SourceChanged: the server cannot be asked.
        """
        for own_id in self._ids.list_own(printed_id):
            found = await self.find_own(own_id, language)
            if found is not None and self._ids.print(own_id) == printed_id.strip().upper():
                return found
        return None

    async def find_own(self, own_id: str, language: str | None = None) -> OwnPlace | None:
        """Return what the server says of its own id; None where it knows none."""
        # Of all versions, this question alone knows stops by their ids.
        params = {"stopId": own_id, "n": "1", "exactRadius": "true", "radius": "0"}
        try:
            answered = await self._server.ask(
                MotisEndpoint.STOP_TIMES, MotisStopTimes, params, language=language, fresh_s=STOPS_FRESH_S
            )
        except UnknownThere:
            return None
        place = answered.data.place
        return place if place is not None and place.stop_id == own_id else None

    async def find_stop(self, printed_id: str, language: str | None) -> Place | None:
        """Return exactly that stop or station; see the port."""
        found = await self.find(printed_id, language)
        if found is None:
            return None
        if found.parent_id is not None:
            return spoken(self.place_of(found), language)
        around = (await self._ask_box(box_around(_position(found), _AROUND_M), language)).data
        children = [each for each in around if each.parent_id == found.stop_id]
        return spoken(self.place_of(found, children), language)

    async def find_stop_place(self, printed_id: str, language: str | None) -> Place | None:
        """Return the whole place that an id stands for as a token; see the port (rule D2)."""
        exact = await self.find_stop(printed_id, language)
        if exact is None or exact.id is None or exact.member_ids != (exact.id,):
            return exact
        around = await self._index_around(exact.coordinate, language)
        place = around.find_place_of(exact.id)
        return exact if place is None else spoken(place, language)

    async def get_group(self, stop: OwnPlace, language: str | None) -> Place:
        """Return the place that a stop belongs to: its station, or the stops of its name around it (rule D2)."""
        alone = self.place_of(stop)
        around = await self._index_around(alone.coordinate, language)
        place = None if alone.id is None else around.find_place_of(alone.id)
        return spoken(place or alone, language)

    def place_of(self, stop: OwnPlace, children: Sequence[OwnPlace] = ()) -> Place:
        """Return a stop by itself, or a station with its stops."""
        named = self._named(stop, kind="station" if children else "stop")
        return place_of_stop(named, [self._named(each) for each in children])

    async def list_near(
        self, coordinate: Coordinate, radius_m: float, language: str | None
    ) -> MotisAnswer[list[NearbyStop]]:
        """Return boardable stops within a straight-line radius, nearest first; see the port."""
        answered = await self._ask_box(box_around(coordinate, radius_m), language)
        near = (self._near(stop, coordinate) for stop in answered.data)
        stops = sorted(
            (each for each in near if each.distance_m <= radius_m),
            key=lambda each: (each.distance_m, each.stop.id or ""),
        )
        return MotisAnswer(data=stops, retrieved_at=answered.retrieved_at)

    async def _index_around(self, centre: Coordinate, language: str | None) -> PlaceIndex:
        """Return the places around a point, as far as stops of one place may lie apart."""
        stops = (await self._ask_box(box_around(centre, _AROUND_M), language)).data
        nearest = sorted(stops, key=lambda each: distance_m(centre, _position(each)))
        parents = list(dict.fromkeys(each.parent_id for each in nearest if each.parent_id is not None))
        known = await gather_all(self.find_own(each, language) for each in parents[:_MOST_STATIONS])
        return PlaceIndex(self._list_named(stops, [each for each in known if each is not None]))

    def _list_named(self, stops: Iterable[OwnPlace], stations: Sequence[OwnPlace]) -> list[NamedStop]:
        """Return stops and stations for an index, each once."""
        parents = {each.stop_id for each in stations}
        named = {each.stop_id: self._named(each, kind="station") for each in stations}
        for stop in stops:
            if stop.stop_id not in named:
                named[stop.stop_id] = self._named(stop, parent_id=stop.parent_id if stop.parent_id in parents else None)
        return list(named.values())

    async def _ask_box(self, box: Bounds, language: str | None) -> MotisAnswer[tuple[OwnPlace, ...]]:
        return await ask_stops(self._server, box, language, fresh_s=STOPS_FRESH_S)

    def _near(self, stop: OwnPlace, centre: Coordinate) -> NearbyStop:
        here = _position(stop)
        return NearbyStop(
            stop=StopPoint(
                name=stop.name, coordinate=here, id=self._ids.print(stop.stop_id or ""), platform=stop.track or None
            ),
            distance_m=distance_m(centre, here),
            modes=tuple(sorted({read_mode(mode) for mode in stop.modes})),
        )

    def _named(self, stop: OwnPlace, *, parent_id: str | None = None, kind: str = "stop") -> NamedStop:
        return NamedStop(
            id=self._ids.print(stop.stop_id or ""),
            name=stop.name,
            lat=stop.lat,
            lon=stop.lon,
            parent_id=None if parent_id is None else self._ids.print(parent_id),
            kind="station" if kind == "station" else "stop",
        )


async def ask_stops(
    server: MotisServer, box: Bounds, language: str | None = None, *, fresh_s: float
) -> MotisAnswer[tuple[OwnPlace, ...]]:
    """Return the stops of a box.

    Raises:
        TooMuchAsked: there are more than the server lists at once.
        StorageUnavailable, SourceChanged: the server cannot be asked.
    """
    params = {"min": f"{box.south:.6f},{box.west:.6f}", "max": f"{box.north:.6f},{box.east:.6f}"}
    answered = await server.ask(MotisEndpoint.STOPS, StopList, params, language=language, fresh_s=fresh_s)
    stops = tuple(each for each in answered.data.root if each.stop_id is not None)
    return MotisAnswer(data=stops, retrieved_at=answered.retrieved_at)


def _position(place: OwnPlace) -> Coordinate:
    return Coordinate(place.lat, place.lon)
