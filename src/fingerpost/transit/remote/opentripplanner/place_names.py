"""Names on a server that has no geocoder: an index of all its stops and stations, built here."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from fingerpost import clock
from fingerpost.transit.model.place import Coordinate, PlaceMatch
from fingerpost.transit.remote.opentripplanner.documents import ALL_STOPS
from fingerpost.transit.remote.opentripplanner.server import STOPS_FRESH_S, Server, refuse_unreadable
from fingerpost.transit.remote.opentripplanner.shapes import AllStops
from fingerpost.transit.remote.opentripplanner.stop_ids import StopIdBook
from fingerpost.transit.rules.language import spoken
from fingerpost.transit.rules.place_index import NamedStop, PlaceIndex

# The server's own search knows only how names begin, so all of them are fetched, and again after this long.
FRESH_FOR = timedelta(hours=6)


class StopNames:
    """Finds places among the stops of one server, in each language that is asked for."""

    def __init__(self, server: Server, ids: StopIdBook) -> None:
        self._server = server
        self._ids = ids
        self._indexes: dict[str | None, tuple[datetime, PlaceIndex]] = {}

    async def find_places(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[PlaceMatch]:
        """Return candidates, best first; see the port.

        Raises:
            StorageUnavailable, SourceChanged: the server cannot be asked.
        """
        known = self._indexes.get(language)
        if known is None or clock.now() - known[0] > FRESH_FOR:
            answered = await self._server.ask(ALL_STOPS, AllStops, language=language, fresh_s=STOPS_FRESH_S)
            if answered.has_lost("stops") and not answered.data.stops:
                raise refuse_unreadable("stop", answered.notes)
            index = await asyncio.to_thread(self._build, answered.data)
            known = self._indexes[language] = (answered.retrieved_at, index)
        found = known[1].search(text, focus=focus)
        return [replace(match, place=spoken(match.place, language)) for match in found]

    def _build(self, told: AllStops) -> PlaceIndex:
        stations = [
            NamedStop(id=self._ids.print(each.gtfs_id), name=each.name, lat=each.lat, lon=each.lon, kind="station")
            for each in told.stations
        ]
        stops = [
            NamedStop(
                id=self._ids.print(each.gtfs_id),
                name=each.name,
                lat=each.lat,
                lon=each.lon,
                parent_id=None if each.parent_station is None else self._ids.print(each.parent_station.gtfs_id),
            )
            for each in told.stops
        ]
        return PlaceIndex({each.id: each for each in (*stops, *stations)}.values())
