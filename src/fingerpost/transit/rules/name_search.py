"""Search an index of names by text; only an equal name, without words such as "station", resolves (rule D2)."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np
from rapidfuzz import fuzz, process

from fingerpost.transit.rules.inflection import INFLECTED, base_forms
from fingerpost.transit.rules.name_matching import FLOOR, list_plain, plain, strip_near

_SAME = 1.0
# Names that differ only in such words are within ``RIVAL_SCORE`` of each other, and more than that below an equal name.
_WHOLE = (0.92, 0.94)
# Shorter texts resolve only to an equal name.
_DISTINCTIVE_LETTERS = 3
# Scores below the threshold at which a text resolves (rule D2).
_BEGINS = (0.74, 0.79)
_HAS_ALL = (0.66, 0.78)
_SPELT_LIKE = (0.24, 0.79)
_OTHER_NUMBER = 0.70
_OFFERED = (0.62, 0.78)
_WORD_SPELT_LIKE_PERCENT = 75.0
# Words after the name of a stop, in English, Finnish, Swedish and German, and brands of railways.
_KINDS = frozenset({
    "amtrak", "bart", "bhf", "bus", "caltrain", "coach", "dlr", "ferry", "halt", "m", "metro", "metrorail",
    "overground", "pier", "rail", "railway", "station", "stop", "subway", "terminal", "train", "tram", "tube",
    "underground", "as", "asema", "autoasema", "laituri", "linja", "metroasema", "pysakki", "rautatieasema",
    "hallplats", "jarnvagsstation", "metrostation", "stn", "tunnelbana", "bahnhof", "haltestelle", "hbf",
    "hauptbahnhof",
})  # fmt: skip


class NameSearch:
    """An index over distinct plain names, not empty (``name_matching.plain``).

    A text may leave out one of the ``cities`` at a name's end. With ``is_finnish`` it may be an inflected form.
    """

    def __init__(self, names: Sequence[str], cities: Collection[str] = (), *, is_finnish: bool = False) -> None:
        left_out = _KINDS.union(cities)
        self._names = list(names)
        self._row_of_name = {name: row for row, name in enumerate(names)} if is_finnish else {}
        self._words = [name.split() for name in self._names]
        self._stems = [_without_end(words, left_out) for words in self._words]
        self._rows_of_word: dict[str, list[int]] = {}
        for row, words in enumerate(self._words):
            for word in dict.fromkeys(words):
                self._rows_of_word.setdefault(word, []).append(row)
        self._vocabulary = sorted(self._rows_of_word)

    def score(self, text: str) -> dict[int, float]:
        forms = dict.fromkeys(list_plain(text))
        best = self._score_forms(forms)
        # "Near North" may be a name; where it is none, it means North.
        if not any(score >= _WHOLE[0] for score in best.values()):
            without_near = dict.fromkeys(strip_near(form) for form in forms)
            for row, score in self._score_forms(form for form in without_near if form not in forms).items():
                best[row] = max(score, best.get(row, 0.0))
        if self._row_of_name and (wanted := plain(text)) not in self._row_of_name:
            known = [self._row_of_name[form] for form in base_forms(wanted) if form in self._row_of_name]
            best |= {row: max(INFLECTED, best.get(row, 0.0)) for row in known}
        return best

    def _score_forms(self, forms: Iterable[str]) -> dict[int, float]:
        best: dict[int, float] = {}
        for wanted in forms:
            words = list(dict.fromkeys(wanted.split()))
            for readings in (self._spelt_like(wanted), self._having_all(wanted, words), self._offered(wanted, words)):
                for row, score in readings:
                    if score >= FLOOR and score > best.get(row, 0.0):
                        best[row] = round(score, 4)
        return best

    def _spelt_like(self, wanted: str) -> Iterator[tuple[int, float]]:
        lowest, highest = _SPELT_LIKE
        cutoff = 100 * (FLOOR - lowest) / (highest - lowest)
        similar = process.cdist([wanted], self._names, scorer=fuzz.ratio, score_cutoff=cutoff, dtype=np.float32)[0]
        numbers = _numbers(wanted.split())
        for row in np.flatnonzero(similar).tolist():
            if self._names[row] == wanted:
                yield row, _SAME
            else:
                score = _between(_SPELT_LIKE, float(similar[row]) / 100)
                yield row, score if numbers == _numbers(self._words[row]) else min(score, _OTHER_NUMBER)

    def _having_all(self, wanted: str, words: list[str]) -> Iterator[tuple[int, float]]:
        rows = set(self._rows_of_word.get(words[0], ()))
        for word in words[1:]:
            rows.intersection_update(self._rows_of_word.get(word, ()))
        bounds_by_row = {row: self._having_all_within(wanted, row) for row in rows}
        # Prisma is not Prisma Pirkkala, which has a city behind its name, where Prisma Kaleva is another one.
        is_chain = _BEGINS in bounds_by_row.values()
        for row, bounds in bounds_by_row.items():
            is_without_city = bounds == _WHOLE and not _KINDS.issuperset(self._names[row].removeprefix(wanted).split())
            yield row, _between(_BEGINS if is_chain and is_without_city else bounds, self._share_given(wanted, row))

    def _having_all_within(self, wanted: str, row: int) -> tuple[float, float]:
        stem = self._stems[row]
        if len(wanted) < _DISTINCTIVE_LETTERS:
            return _HAS_ALL
        if stem and f"{wanted} ".startswith(f"{stem} "):
            return _WHOLE
        return _BEGINS if self._names[row].startswith(f"{wanted} ") else _HAS_ALL

    def _offered(self, wanted: str, words: list[str]) -> Iterator[tuple[int, float]]:
        letters = sum(map(len, words))
        likeness_by_row: dict[int, float] | None = None
        for word in sorted(words, key=len, reverse=True):
            near = self._near_word(word)
            weight = len(word) / letters
            if likeness_by_row is None:
                likeness_by_row = {row: weight * likeness for row, likeness in near.items()}
            else:
                likeness_by_row = {
                    row: likeness_by_row[row] + weight * likeness
                    for row, likeness in near.items()
                    if row in likeness_by_row
                }
            if not likeness_by_row:
                break
        for row, likeness in (likeness_by_row or {}).items():
            yield row, _between(_OFFERED, likeness * self._share_given(wanted, row))
        matched_words = Counter(row for word in words for row in self._rows_of_word.get(word, ()))
        for row, count in matched_words.items():
            if count == len(set(self._words[row])):
                yield row, _between(_OFFERED, min(1.0, len(self._names[row]) / len(wanted)))

    def _near_word(self, word: str) -> dict[int, float]:
        likenesses: dict[str, float] = {}
        if not _has_digit(word):
            alike = process.extract(
                word, self._vocabulary, scorer=fuzz.ratio, score_cutoff=_WORD_SPELT_LIKE_PERCENT, limit=None
            )
            likenesses = {other: percent / 100 for other, percent, _ in alike if not _has_digit(other)}
        for index in range(bisect_left(self._vocabulary, word), len(self._vocabulary)):
            longer = self._vocabulary[index]
            if not longer.startswith(word):
                break
            likenesses[longer] = max(likenesses.get(longer, 0.0), len(word) / len(longer))
        rows: dict[int, float] = {}
        for other, likeness in likenesses.items():
            for row in self._rows_of_word[other]:
                rows[row] = max(rows.get(row, 0.0), likeness)
        return rows

    def _share_given(self, wanted: str, row: int) -> float:
        return min(1.0, len(wanted) / len(self._names[row]))


def _without_end(words: Sequence[str], left_out: Collection[str]) -> str:
    count = len(words)
    while count and words[count - 1] in left_out:
        count -= 1
    return " ".join(words[:count])


def _between(bounds: tuple[float, float], share: float) -> float:
    lowest, highest = bounds
    return lowest + (highest - lowest) * share


def _numbers(words: Iterable[str]) -> set[str]:
    return {word for word in words if _has_digit(word)}


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))
