"""Names on a server: its geocoder, whose scores do not compare with anybody's, so that names are scored here."""

import asyncio
from collections.abc import Sequence

from fingerpost.errors import ToolError
from fingerpost.net.request import RequestLimits
from fingerpost.transit.model import Bounds, Coordinate, Place, PlaceKind, PlaceMatch
from fingerpost.transit.profile import NAMES_DEADLINE_S
from fingerpost.transit.providers.motis.endpoints import MotisEndpoint
from fingerpost.transit.providers.motis.server import STOPS_FRESH_S, MotisServer
from fingerpost.transit.providers.motis.shapes import Match, Matches, OwnPlace
from fingerpost.transit.providers.motis.stop_lookup import MotisStopLookup
from fingerpost.transit.rules.geocoder_matches import match_places, score_spellings
from fingerpost.transit.rules.spelling import plain
from fingerpost.transit.rules.spoken import spoken

SIZE = 20
# Stops whose neighbours are looked up; what stands behind them in the list is offered by itself.
_MOST_GROUPED = 3
_STOP = "STOP"


class MotisGeocoder:
    """Finds places by name on one server, within the network's bounds."""

    def __init__(
        self, server: MotisServer, stops: MotisStopLookup, bounds: Bounds, limits: RequestLimits | None = None
    ) -> None:
        self._server = server
        self._stops = stops
        self._bounds = bounds
        self._limits = limits or RequestLimits(read_s=NAMES_DEADLINE_S, total_s=NAMES_DEADLINE_S)

    async def find_places(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[PlaceMatch]:
        """Return candidates, best first; see the port.

        Raises:
            StorageUnavailable, SourceChanged: the server cannot be asked; ``details["service"]`` is ``geocoding``.
        """
        if not plain(text):
            return []
        try:
            found = await self._search(text, language, focus)
            scores = score_spellings(text, [_spellings(each) for each in found], [0.0] * len(found))
            places = await self._find_places(found, scores, language)
        except ToolError as error:
            error.details["service"] = "geocoding"
            raise
        return match_places(places, scores, focus)

    async def _search(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[Match]:
        params = {"text": text, "numResults": str(SIZE)}
        if focus is not None:
            params["place"] = f"{focus.lat:.5f},{focus.lon:.5f}"
        answered = await self._server.ask(
            MotisEndpoint.GEOCODE,
            Matches,
            params,
            language=language,
            fresh_s=STOPS_FRESH_S,
            limits=self._limits,
        )
        # The server may know more of the world than this network is to answer for.
        return [each for each in answered.data.root if self._bounds.covers(Coordinate(each.lat, each.lon))]

    async def _find_places(self, found: Sequence[Match], scores: Sequence[float], language: str | None) -> list[Place]:
        """Return the place of each candidate: of the best stops the whole place (rule D2)."""
        stops = [number for number, each in enumerate(found) if each.type == _STOP and each.id]
        best = sorted(stops, key=lambda number: -scores[number])[:_MOST_GROUPED]
        groups = await asyncio.gather(*(self._stops.get_group(_stop(found[number]), language) for number in best))
        whole = dict(zip(best, groups, strict=True))
        places = []
        for number, each in enumerate(found):
            if number in whole:
                places.append(whole[number])
            elif number in stops:
                places.append(spoken(self._stops.place_of(_stop(each)), language))
            else:
                places.append(_address(each))
        return places


def _stop(found: Match) -> OwnPlace:
    return OwnPlace.model_construct(name=found.name, lat=found.lat, lon=found.lon, stop_id=found.id, parent_id=None)


def _address(found: Match) -> Place:
    here = Coordinate(found.lat, found.lon)
    return Place(name=found.name, coordinate=here, kind=PlaceKind.ADDRESS, locality=_locality(found))


def _spellings(found: Match) -> list[str]:
    texts = (found.name, f"{found.name} {_locality(found) or ''}")
    return list(dict.fromkeys(spelling for text in texts if (spelling := plain(text))))


def _locality(found: Match) -> str | None:
    return next((area.name for area in found.areas if area.default and area.name), None)
