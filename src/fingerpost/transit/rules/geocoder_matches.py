"""Score a geocoder's candidates against text."""

from collections.abc import Sequence
from itertools import chain

from fingerpost.transit.model.place import Coordinate, Place, PlaceKind, PlaceMatch, distance_m, match_place
from fingerpost.transit.rules.name_matching import MAX_SUGGESTED_SCORE, plain, sort_matches
from fingerpost.transit.rules.name_search import NameSearch
from fingerpost.transit.rules.place_groups import ONE_PLACE_M


def score_spellings(text: str, spellings: Sequence[Sequence[str]], confidences: Sequence[float]) -> list[float]:
    """Return each candidate's best score across its normalized spellings, or else the geocoder's confidence."""
    names = list(dict.fromkeys(chain.from_iterable(spellings)))
    if not names:
        return [0.0 for _ in spellings]
    score_by_name = {names[row]: score for row, score in NameSearch(names).score(text).items()}
    return [
        max((score_by_name.get(spelling, 0.0) for spelling in candidate), default=0.0)
        or round(max(0.0, min(confidence, MAX_SUGGESTED_SCORE)), 4)
        for candidate, confidence in zip(spellings, confidences, strict=True)
    ]


def match_places(places: Sequence[Place], scores: Sequence[float], focus: Coordinate | None) -> list[PlaceMatch]:
    stops = [place for place in places if place.kind is PlaceKind.STOP]
    matches: dict[str, PlaceMatch] = {}
    for place, score in zip(places, scores, strict=True):
        if place.kind is PlaceKind.ADDRESS and any(
            plain(stop.name) == plain(place.name) and distance_m(stop.coordinate, place.coordinate) <= ONE_PLACE_M
            for stop in stops
        ):
            continue
        best = matches.get(place.token)
        if best is None or best.score < score:
            matches[place.token] = match_place(place, score, focus)
    return sort_matches(matches.values())
