"""Finds the spellings in an index that resemble a text: by their words, then by their trigrams, then by likeness."""

import heapq
import sqlite3
from collections import Counter
from collections.abc import Sequence

from fingerpost.transit.rules.inflection import INFLECTED, base_forms
from fingerpost.transit.rules.name_matching import NameSearch

# As many spellings are compared with a text letter by letter, the shortest first.
_MOST_BY_WORDS = 100
_MOST_BY_TRIGRAMS = 60
# A wrong letter spoils three trigrams at most; the rarest of the others find a name. The commonest (-kat-, -atu-) are
# left out once three others have been looked up and together they are in more spellings than this.
_FEWEST_TRIGRAMS = 3
_MOST_LOOKED_AT = 400


class SpellingSearch:
    """Looks up spellings over one open index; one caller at a time."""

    def __init__(self, connection: sqlite3.Connection, *, is_finnish: bool) -> None:
        self._connection = connection
        self._is_finnish = is_finnish

    def score(self, words: str, *, with_trigrams: bool = True) -> dict[int, float]:
        """Return {spelling: score} of what resembles plain words, scores as stops have them (``NameSearch``).

        Where they are a known name, or an inflected form of one, nothing is looked for by trigrams.
        """
        rows = self._find_by_words(words)
        best: dict[int, float] = {}
        is_known = rows.get(words) is not None
        if self._is_finnish and not is_known:
            for row in self._find_exact(base_forms(words)):
                best[row] = INFLECTED
        if with_trigrams and not (is_known or best):
            rows |= self._find_by_trigrams(words)
        texts = list(rows)
        for place, score in NameSearch(texts).score(words).items() if texts else ():
            row = rows[texts[place]]
            best[row] = max(score, best.get(row, 0.0))
        return best

    def _find_exact(self, texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        marks = ", ".join("?" * len(texts))
        found = self._connection.execute(f"SELECT id FROM spelling WHERE text IN ({marks})", texts)  # noqa: S608
        return [row for (row,) in found]

    def _find_by_words(self, words: str) -> dict[str, int]:
        """Return spellings that have all the words, the last one perhaps not typed to its end."""
        query = " ".join(f'"{word}"' for word in words.split()) + "*"
        found = self._connection.execute(
            f"SELECT rowid, text FROM words WHERE words MATCH ? ORDER BY rowid LIMIT {_MOST_BY_WORDS}",  # noqa: S608
            (query,),
        )
        return {text: row for row, text in found}

    def _find_by_trigrams(self, words: str) -> dict[str, int]:
        grams = list(dict.fromkeys(words[at : at + 3] for at in range(len(words) - 2)))
        if not grams:
            return {}
        marks = ", ".join("?" * len(grams))
        counts = self._connection.execute(
            f"SELECT term, doc FROM trigram_counts WHERE term IN ({marks}) ORDER BY doc, term",  # noqa: S608
            grams,
        ).fetchall()
        shared = Counter[int]()
        looked_at = 0
        for at, (term, count) in enumerate(counts):
            looked_at += count
            if at >= _FEWEST_TRIGRAMS and looked_at > _MOST_LOOKED_AT:
                break
            rows = self._connection.execute("SELECT rowid FROM trigrams WHERE trigrams MATCH ?", (f'"{term}"',))
            shared.update(row for (row,) in rows)
        # Of spellings that share as many trigrams the shorter go first.
        best = heapq.nsmallest(_MOST_BY_TRIGRAMS, shared, key=lambda row: (-shared[row], row))
        marks = ", ".join("?" * len(best))
        found = self._connection.execute(f"SELECT id, text FROM spelling WHERE id IN ({marks})", best)  # noqa: S608
        return {text: row for row, text in found}
