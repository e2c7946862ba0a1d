"""Names of stops: TfL's stop search, scored as all names are here."""

import re
from collections.abc import Sequence

from fingerpost.errors import ToolError
from fingerpost.transit.model.distance import distance_m
from fingerpost.transit.model.place import Coordinate, Place, PlaceKind, PlaceMatch
from fingerpost.transit.remote.tfl.server import STOPS_FRESH_S, TflClient
from fingerpost.transit.remote.tfl.shapes import MatchedStop, SearchResult
from fingerpost.transit.remote.tfl.stop_ids import NaptanIds
from fingerpost.transit.remote.tfl.unified_api import LANGUAGE
from fingerpost.transit.rules.geocoder_matches import score_spellings
from fingerpost.transit.rules.name_matching import in_order, plain

MOST_FOUND = 50
# TfL answers with what begins or contains the text, without a score of its own.
_VOUCHED = 0.6
_KIND_OF_STATION = re.compile(
    r"\s*\b(?:Underground Station|Rail Station|DLR Station|Overground Station|Tram Stop|Bus Station|Pier|Station)$"
)


class StopPointNames:
    """Finds TfL's stops by name."""

    def __init__(self, server: TflClient, ids: NaptanIds) -> None:
        self._server = server
        self._ids = ids

    async def find_places(self, text: str, focus: Coordinate | None) -> Sequence[PlaceMatch]:
        """Return candidates, best first; a hub stands for the stations in it.

        Raises:
            StorageUnavailable, SourceChanged: TfL cannot be asked; ``details["service"]`` is ``geocoding``.
        """
        if not plain(text):
            return []
        params = {"query": text, "maxResults": str(MOST_FOUND), "includeHubs": "true"}
        try:
            told = await self._server.ask(SearchResult, "StopPoint", "Search", params=params, fresh_s=STOPS_FRESH_S)
        except ToolError as error:
            error.details["service"] = "geocoding"
            raise
        found = _without_members(told.data.matches)
        scores = score_spellings(text, [_spellings(each) for each in found], [_VOUCHED for _ in found])
        return in_order(self._match(each, score, focus) for each, score in zip(found, scores, strict=True))

    def _match(self, told: MatchedStop, score: float, focus: Coordinate | None) -> PlaceMatch:
        here = Coordinate(told.lat, told.lon)
        printed = self._ids.print(told.id)
        place = Place(
            id=printed,
            name=told.name,
            coordinate=here,
            kind=PlaceKind.STOP,
            member_ids=(printed,),
            names={LANGUAGE: told.name},
            language=LANGUAGE,
        )
        return PlaceMatch(place=place, score=score, distance_m=None if focus is None else distance_m(focus, here))


def _without_members(matches: Sequence[MatchedStop]) -> list[MatchedStop]:
    """Return matches without those whose hub or station matches too: they are one place (rule D2)."""
    ids = {each.id for each in matches}
    return [
        each for each in matches if each.top_most_parent_id in (None, each.id) or each.top_most_parent_id not in ids
    ]


def _spellings(told: MatchedStop) -> list[str]:
    """Return the plain spellings of a name: nobody says ``Underground Station``."""
    texts = (told.name, _KIND_OF_STATION.sub("", told.name))
    return list(dict.fromkeys(spelling for text in texts if (spelling := plain(text))))
