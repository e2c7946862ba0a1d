"""Score what a geocoder offers, whose own scores do not compare with ours (rules B10 and D2)."""

from collections.abc import Sequence

from fingerpost.transit.rules.matching import AUTO_RESOLVE
from fingerpost.transit.rules.name_search import FLOOR, NameSearch

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
