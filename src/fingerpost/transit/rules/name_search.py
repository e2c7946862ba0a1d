"""Fuzzy search in an index of place names; only full or inflected names score high enough to resolve (rule D2)."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, product

import numpy as np
from rapidfuzz import fuzz, process

from fingerpost.runtime.grouping import group_by_key
from fingerpost.transit.rules.name_matching import FLOOR, WORDS, list_plain, plain, strip_near

_EQUAL_SCORE = 1.0
# Scores if only optional words such as "station" are missing; an exact match beats these by more than ``RIVAL_SCORE``.
_FULL_RANGE = (0.92, 0.94)
# Shorter text resolves only to an exact match.
_MIN_DISTINCTIVE_LETTERS = 3
# These scores are too low for a text to resolve (rule D2).
_PREFIX_RANGE = (0.74, 0.79)
_ALL_WORDS_RANGE = (0.66, 0.78)
_SPELLING_RANGE = (0.24, 0.79)
_OTHER_NUMBER_SCORE = 0.70
_WORDS_RANGE = (0.62, 0.78)
_MIN_WORD_PERCENT = 75.0
_GENERIC_WORDS = frozenset(WORDS["generic"])


class NameSearch:
    """An index of distinct normalized names; queries may omit ``cities`` and, if ``is_finnish``, inflect names."""

    def __init__(self, names: Sequence[str], cities: Collection[str] = (), *, is_finnish: bool = False) -> None:
        self._optional_words = _GENERIC_WORDS.union(cities)
        self._names = list(names)
        self._row_by_name = {name: row for row, name in enumerate(names)} if is_finnish else {}
        self._words = [name.split() for name in self._names]
        self._rows_by_word = group_by_key(
            (word, row) for row, words in enumerate(self._words) for word in dict.fromkeys(words)
        )
        self._vocabulary = sorted(self._rows_by_word)

    def score(self, text: str) -> dict[int, float]:
        forms = dict.fromkeys(list_plain(text))
        best = self._score_forms(forms)
        # "Near North" may be a name; if it is not, search for "North".
        if not any(score >= _FULL_RANGE[0] for score in best.values()):
            without_near = dict.fromkeys(strip_near(form) for form in forms)
            for row, score in self._score_forms(form for form in without_near if form not in forms).items():
                best[row] = max(score, best.get(row, 0.0))
        if self._row_by_name and (wanted := plain(text)) not in self._row_by_name:
            known = [self._row_by_name[form] for form in list_base_forms(wanted) if form in self._row_by_name]
            best |= {row: max(INFLECTED, best.get(row, 0.0)) for row in known}
        return best

    def _score_forms(self, forms: Iterable[str]) -> dict[int, float]:
        best: dict[int, float] = {}
        for wanted in forms:
            words = list(dict.fromkeys(wanted.split()))
            for scores in (
                self._score_spelling(wanted),
                self._score_all_words(wanted, words),
                self._score_words(wanted, words),
            ):
                for row, score in scores:
                    if score >= FLOOR and score > best.get(row, 0.0):
                        best[row] = round(score, 4)
        return best

    def _score_spelling(self, wanted: str) -> Iterator[tuple[int, float]]:
        lowest, highest = _SPELLING_RANGE
        cutoff = 100 * (FLOOR - lowest) / (highest - lowest)
        similar = process.cdist([wanted], self._names, scorer=fuzz.ratio, score_cutoff=cutoff, dtype=np.float32)[0]
        numbers = _list_numbers(wanted.split())
        for row in np.flatnonzero(similar).tolist():
            if self._names[row] == wanted:
                yield row, _EQUAL_SCORE
            else:
                score = _interpolate(_SPELLING_RANGE, float(similar[row]) / 100)
                yield row, score if numbers == _list_numbers(self._words[row]) else min(score, _OTHER_NUMBER_SCORE)

    def _score_all_words(self, wanted: str, words: list[str]) -> Iterator[tuple[int, float]]:
        rows = set(self._rows_by_word.get(words[0], ()))
        for word in words[1:]:
            rows.intersection_update(self._rows_by_word.get(word, ()))
        bounds_by_row = {row: self._find_score_range(wanted, row) for row in rows}
        # "Prisma" must not resolve to Prisma Pirkkala (Pirkkala is a city) if there is also a Prisma Kaleva.
        is_chain = _PREFIX_RANGE in bounds_by_row.values()
        for row, bounds in bounds_by_row.items():
            is_without_city = bounds == _FULL_RANGE and not _GENERIC_WORDS.issuperset(
                self._names[row].removeprefix(wanted).split()
            )
            chosen = _PREFIX_RANGE if is_chain and is_without_city else bounds
            yield row, _interpolate(chosen, self._compute_length_ratio(wanted, row))

    def _find_score_range(self, wanted: str, row: int) -> tuple[float, float]:
        if len(wanted) < _MIN_DISTINCTIVE_LETTERS:
            return _ALL_WORDS_RANGE
        words = list(self._words[row])
        while words and words[-1] in self._optional_words:
            words.pop()
        if words and f"{wanted} ".startswith(f"{' '.join(words)} "):
            return _FULL_RANGE
        return _PREFIX_RANGE if self._names[row].startswith(f"{wanted} ") else _ALL_WORDS_RANGE

    def _score_words(self, wanted: str, words: list[str]) -> Iterator[tuple[int, float]]:
        letters = sum(map(len, words))
        similar_words: dict[str, dict[str, float]] = {}
        for word in words:
            similar_words[word] = self._find_similar_words(word)
            if not similar_words[word]:
                break
        rarest, *others = sorted(
            similar_words, key=lambda word: sum(len(self._rows_by_word[each]) for each in similar_words[word])
        )
        totals: dict[int, float] = {}
        for other, similarity in similar_words[rarest].items():
            for row in self._rows_by_word[other]:
                totals[row] = max(similarity * len(rarest) / letters, totals.get(row, 0.0))
        for word in others:
            weight, similarities = len(word) / letters, similar_words[word]
            best = {row: max(similarities.get(each, 0.0) for each in self._words[row]) for row in totals}
            totals = {row: total + weight * best[row] for row, total in totals.items() if best[row]}
        for row, total in totals.items():
            yield row, _interpolate(_WORDS_RANGE, total * self._compute_length_ratio(wanted, row))
        matched_words = Counter(row for word in words for row in self._rows_by_word.get(word, ()))
        for row, count in matched_words.items():
            if count == len(set(self._words[row])):
                yield row, _interpolate(_WORDS_RANGE, min(1.0, len(self._names[row]) / len(wanted)))

    def _find_similar_words(self, word: str) -> dict[str, float]:
        similarities: dict[str, float] = {}
        if not _has_digit(word):
            similar = process.extract(
                word, self._vocabulary, scorer=fuzz.ratio, score_cutoff=_MIN_WORD_PERCENT, limit=None
            )
            similarities = {other: percent / 100 for other, percent, _ in similar if not _has_digit(other)}
        for index in range(bisect_left(self._vocabulary, word), len(self._vocabulary)):
            longer = self._vocabulary[index]
            if not longer.startswith(word):
                break
            similarities[longer] = max(similarities.get(longer, 0.0), len(word) / len(longer))
        return similarities

    def _compute_length_ratio(self, wanted: str, row: int) -> float:
        return min(1.0, len(wanted) / len(self._names[row]))


def _interpolate(bounds: tuple[float, float], fraction: float) -> float:
    lowest, highest = bounds
    return lowest + (highest - lowest) * fraction


def _list_numbers(words: Iterable[str]) -> set[str]:
    return {word for word in words if _has_digit(word)}


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


# The score of a name if the text is one of its inflected forms.
INFLECTED = 0.97

_CASES = ("ssa", "sta", "lla", "lta", "lle", "ksi", "na", "tta", "ta", "a", "n")
_VOWELS = "aeiouy"
# Weak consonants before the last vowel, and their strong grades in the nominative.
_STRONG = {
    "d": "t", "v": "p", "k": "kk", "t": "tt", "p": "pp", "nn": "nt", "ng": "nk", "mm": "mp", "ll": "lt", "rr": "rt",
    "j": "k", "l": "lk", "r": "rk", "h": "hk",
}  # fmt: skip
_MIN_STEM_CHARS = 3
_MAX_FORMS = 96


# Cached, because searches for stops, streets and cities look up the same words.
@lru_cache(maxsize=256)
def list_base_forms(text: str) -> tuple[str, ...]:
    """Return possible base forms of a normalized text, such as hameenkatu for hameenkadulta.

    The last word or all words may be inflected (vanhalla kirkolla). Most forms are not real words.
    """
    words = text.split()
    if not words:
        return ()
    *before, last = words
    forms = dict.fromkeys(" ".join([*before, form]) for form in _list_word_forms(last))
    if before and len(before) <= 2:
        choices = [list(dict.fromkeys([word, *_list_word_forms(word)])) for word in words]
        forms |= dict.fromkeys(" ".join(choice) for choice in islice(product(*choices), _MAX_FORMS))
    forms.pop(text, None)
    return tuple(forms)


def _list_word_forms(word: str) -> Iterator[str]:
    for stem in dict.fromkeys(_list_stems(word)):
        if len(stem) >= _MIN_STEM_CHARS:
            yield from _list_nominatives(stem)


def _list_stems(word: str) -> Iterator[str]:
    for case in _CASES:
        if word.endswith(case):
            yield word[: -len(case)]
    # Illative: katuun, tiehen, huoneeseen.
    if len(word) > 3 and word[-1] == "n" and word[-2] in _VOWELS:
        if word[-3] == word[-2]:
            yield word[:-2]
        if word[-3] == "h":
            yield word[:-3]
        if word.endswith("seen"):
            yield word[:-4]


def _list_nominatives(stem: str) -> Iterator[str]:
    yield stem
    yield from _strengthen(stem)
    if stem.endswith("kse"):
        yield f"{stem[:-3]}s"
    elif stem.endswith("se"):
        yield f"{stem[:-2]}nen"
        yield f"{stem[:-2]}s"
    elif stem.endswith("ee"):
        yield stem[:-1]
    elif stem.endswith("e"):
        yield f"{stem[:-1]}i"
        yield from _strengthen(f"{stem[:-1]}i")
        yield stem[:-1]
    elif stem.endswith("i"):
        # Foreign names take an i before the ending: Stockmannilla.
        yield stem[:-1]
    elif stem.endswith("aa"):
        # The nominative has the weak grade: kankaa becomes kangas.
        yield from (f"{form[:-1]}s" for form in (stem, *_weaken(stem)))


def _strengthen(stem: str) -> Iterator[str]:
    end = len(stem.rstrip(_VOWELS))
    vowels = stem[end:]
    for weak, strong in _STRONG.items():
        if stem[:end].endswith(weak):
            yield f"{stem[: end - len(weak)]}{strong}{vowels}"
    if len(vowels) >= 2:
        # Restore a k between two vowels: mae becomes maki, joe becomes joki.
        yield f"{stem[:end]}{vowels[:-1]}k{vowels[-1]}"


def _weaken(stem: str) -> Iterator[str]:
    end = len(stem.rstrip(_VOWELS))
    for weak, strong in _STRONG.items():
        if stem[:end].endswith(strong):
            yield f"{stem[: end - len(strong)]}{weak}{stem[end:]}"
