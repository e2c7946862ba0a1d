"""Normalise names for comparison: no accents, case or punctuation (rule D2)."""

import unicodedata
from functools import lru_cache

# Letters that Unicode does not take apart.
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\N{LATIN SMALL LETTER DOTLESS I}": "i"}
)


# A look-up compares the same names again and again.
@lru_cache(maxsize=8192)
def plain(text: str) -> str:
    """Return case-folded words without accents, one space between them; empty where the text has no letter or digit."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(character for character in folded if unicodedata.category(character) != "Mn").casefold()
    spaced = "".join(character if _is_spoken(character) else " " for character in bare.translate(_LETTERS))
    return " ".join(spaced.split())


def _is_spoken(character: str) -> bool:
    # Vowel signs of Indic scripts are marks, and part of the word.
    return character.isalnum() or unicodedata.category(character) == "Mc"
