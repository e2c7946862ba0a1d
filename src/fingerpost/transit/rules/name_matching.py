"""Normalize names, rank the matches for a text, and decide whether one of them is certain."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from itertools import takewhile
from pathlib import Path

from fingerpost.runtime.text_table import read_text_table
from fingerpost.transit.model.place import PlaceMatch, distance_m

WORDS = {kind: words.split() for kind, words in read_text_table(Path(__file__).with_name("name_words.txt"), 2)}
"""Words in the names of stops and streets, by kind."""

# Letters without a Unicode decomposition.
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\N{LATIN SMALL LETTER DOTLESS I}": "i"}
)


@lru_cache(maxsize=8192)
def plain(text: str) -> str:
    """Normalize a string: case-fold it, and remove accents and punctuation."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(character for character in folded if unicodedata.category(character) != "Mn").casefold()
    spaced = "".join(
        # Vowel signs in Indic scripts are part of the word.
        character if character.isalnum() or unicodedata.category(character) == "Mc" else " "
        for character in bare.translate(_LETTERS)
    )
    return " ".join(spaced.split())


def find_most_common(texts: Iterable[str]) -> str:
    """Return the most frequent non-empty string (on a tie, the first alphabetically), or "" if there is none."""
    counts = Counter(filter(None, texts))
    return min(counts, key=lambda text: (-counts[text], text), default="")


_PUNCTUATION = str.maketrans({"'": "", "\N{RIGHT SINGLE QUOTATION MARK}": "", "&": " and "})


def list_plain(text: str) -> list[str]:
    """Return the normalized text, and the same without apostrophes (Kings Cross) and with "and" for "&"."""
    return list(dict.fromkeys(filter(None, (plain(text), plain(text.translate(_PUNCTUATION))))))


# "Near" before a place, in English, Finnish and Swedish.
_NEAR = re.compile(r"^(?:near|close to|next to|lahella|nara|i narheten av) (?=.)")


def strip_near(words: str) -> str:
    """Strip a leading "near" from a normalized string."""
    return _NEAR.sub("", words)


FLOOR = 0.60
# A match with at least this score is certain unless it has a rival.
AUTO_RESOLVE = 0.80
# The maximum score of a match that is suggested but never resolved.
MAX_SUGGESTED_SCORE = AUTO_RESOLVE - 0.01
# A rival scores at most RIVAL_SCORE below the best match, and is more than RIVAL_DISTANCE_M away from it.
RIVAL_SCORE = 0.02
RIVAL_DISTANCE_M = 300.0


def find_certain(matches: Sequence[PlaceMatch]) -> PlaceMatch | None:
    """Return the best match, or None if its score is low or a match elsewhere scores nearly as high."""
    best = max(matches, key=lambda match: match.score, default=None)
    if best is None or best.score < AUTO_RESOLVE:
        return None
    has_rival = any(
        _is_close(match, best) and distance_m(match.place.coordinate, best.place.coordinate) > RIVAL_DISTANCE_M
        for match in matches
    )
    return None if has_rival else best


def sort_matches(matches: Iterable[PlaceMatch]) -> list[PlaceMatch]:
    """Sort matches by score, name and id, but sort matches with similar scores by distance."""
    by_score = sorted(matches, key=lambda match: (-match.score, match.place.name, match.place.token))
    if all(match.distance_m is None for match in by_score):
        return by_score
    ordered: list[PlaceMatch] = []
    while len(ordered) < len(by_score):
        rest = by_score[len(ordered) :]
        band = list(takewhile(partial(_is_close, best=rest[0]), rest))
        ordered += sorted(band, key=lambda match: 0.0 if match.distance_m is None else match.distance_m)
    return ordered


def _is_close(match: PlaceMatch, best: PlaceMatch) -> bool:
    # Subtracting floats is inexact, so the difference is rounded.
    return round(best.score - match.score, 9) <= RIVAL_SCORE
