"""Candidates for a text from what a geocoder offers, whose own scores do not compare with ours (rules B10 and D2)."""

from collections.abc import Sequence

from fingerpost.transit.model.distance import distance_m
from fingerpost.transit.model.place import Coordinate, Place, PlaceKind, PlaceMatch
from fingerpost.transit.rules.matching import AUTO_RESOLVE, in_order
from fingerpost.transit.rules.name_search import FLOOR, NameSearch
from fingerpost.transit.rules.place_groups import ONE_PLACE_M
from fingerpost.transit.rules.spelling import plain

# What only the geocoder vouches for is offered, and never decides.
OFFERED_AT_MOST = AUTO_RESOLVE - 0.01


def score_spellings(text: str, spellings: Sequence[Sequence[str]], vouched: Sequence[float]) -> list[float]:
    """Return how well each candidate fits a text, 0 to 1.

    ``spellings`` are the plain names of each, of which the best counts; where none resembles the text, ``vouched``
    (0 to 1) is what the geocoder thinks of it.
    """
    names = list(dict.fromkeys(spelling for each in spellings for spelling in each))
    if not names:
        return [0.0 for _ in spellings]
    by_row = NameSearch(names).score(text)
    score_of = {names[row]: score for row, score in by_row.items()}
    scores = []
    for each, confidence in zip(spellings, vouched, strict=True):
        own = max((score_of.get(spelling, 0.0) for spelling in each), default=0.0)
        offered = min(confidence, OFFERED_AT_MOST)
        scores.append(own if own >= FLOOR else round(max(0.0, offered), 4))
    return scores


def match_places(places: Sequence[Place], scores: Sequence[float], focus: Coordinate | None) -> list[PlaceMatch]:
    """Return places with their scores, in the order of rule D2, each once with its best score.

    An address of a stop's name beside that stop is left out: the map's station and the timetable's are one place.
    """
    stops = [place for place in places if place.kind is PlaceKind.STOP]
    matches: dict[str, PlaceMatch] = {}
    for place, score in zip(places, scores, strict=True):
        if place.kind is PlaceKind.ADDRESS and _is_a_stops_name(place, stops):
            continue
        best = matches.get(place.token)
        if best is None or best.score < score:
            away_m = None if focus is None else distance_m(focus, place.coordinate)
            matches[place.token] = PlaceMatch(place=place, score=score, distance_m=away_m)
    return in_order(matches.values())


def _is_a_stops_name(place: Place, stops: Sequence[Place]) -> bool:
    return any(
        plain(stop.name) == plain(place.name) and distance_m(stop.coordinate, place.coordinate) <= ONE_PLACE_M
        for stop in stops
    )
