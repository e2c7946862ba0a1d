"""Names on a server: its geocoder, whose scores do not compare with anybody's, so that names are scored here."""

from collections.abc import Sequence

from fingerpost.errors import ToolError
from fingerpost.net.request import RequestLimits
from fingerpost.runtime.concurrency import gather_all
from fingerpost.transit.model.place import Bounds, Coordinate, Place, PlaceKind, PlaceMatch
from fingerpost.transit.model.profile import NAMES_DEADLINE_S
from fingerpost.transit.remote.motis.endpoints import MotisEndpoint
from fingerpost.transit.remote.motis.server import STOPS_FRESH_S, MotisServer
from fingerpost.transit.remote.motis.shapes import Match, Matches, OwnPlace
from fingerpost.transit.remote.motis.stop_lookup import MotisStopLookup
from fingerpost.transit.rules.geocoder_matches import NearName, find_position_name, match_places, score_spellings
from fingerpost.transit.rules.language import spoken
from fingerpost.transit.rules.name_matching import plain

SIZE = 20
MOST_NEAR = 5
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

    async def find_address(self, position: Coordinate, attribution: Sequence[str]) -> Place | None:
        """Return a position under the name that the server has for it, None where it knows nothing near.

        Raises:
            StorageUnavailable, SourceChanged: the server cannot be asked; ``details["service"]`` is ``geocoding``.
        """
        params = {"place": print_position(position), "numResults": str(MOST_NEAR)}
        try:
            told = await self._server.ask(
                MotisEndpoint.REVERSE_GEOCODE, Matches, params, fresh_s=STOPS_FRESH_S, limits=self._limits
            )
        except ToolError as error:
            error.details["service"] = "geocoding"
            raise
        near = [
            NearName(
                name=_title(each),
                coordinate=Coordinate(each.lat, each.lon),
                is_address=bool(each.house_number),
                locality=_locality(each),
            )
            for each in told.data.root
        ]
        return find_position_name(position, near, attribution)

    async def _search(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[Match]:
        params = {"text": text, "numResults": str(SIZE)}
        if focus is not None:
            params["place"] = print_position(focus)
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
        groups = await gather_all(self._stops.get_group(_stop(found[number]), language) for number in best)
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


def print_position(position: Coordinate) -> str:
    """Return a position as the server reads it, to a metre, so that equal questions are asked once."""
    return f"{position.lat:.5f},{position.lon:.5f}"


def _title(found: Match) -> str:
    """Return a name with the house number, which some versions tell apart."""
    number = found.house_number or ""
    return found.name if number in found.name.split() else f"{found.name} {number}".strip()


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
