"""Undo the endings of Finnish place names: Hameenkadulta is a form of Hämeenkatu.

The rules strip endings and undo consonant gradation, so most of the returned forms are not words; callers look them up
among existing names. All texts are plain (``name_matching.plain``): a for ä, o for ö.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product

# The score of a name if the text is one of its inflected forms.
INFLECTED = 0.97

_CASES = ("ssa", "sta", "lla", "lta", "lle", "ksi", "na", "tta", "ta", "a", "n")
_VOWELS = "aeiouy"
# Weak consonants before the last vowel, and their strong grades in the nominative.
_STRONG = {
    "d": "t", "v": "p", "k": "kk", "t": "tt", "p": "pp", "nn": "nt", "ng": "nk", "mm": "mp", "ll": "lt", "rr": "rt",
    "j": "k", "l": "lk", "r": "rk", "h": "hk",
}  # fmt: skip
_MIN_STEM = 3
_MAX_FORMS = 96


# A look-up reads the same words among stops, among streets and among cities.
@lru_cache(maxsize=256)
def base_forms(text: str) -> tuple[str, ...]:
    """Return possible base forms of a plain text, in which the last word or all are inflected (Vanhalla kirkolla)."""
    words = text.split()
    if not words:
        return ()
    *before, last = words
    forms = dict.fromkeys(" ".join([*before, form]) for form in _forms_of_word(last))
    if before and len(before) <= 2:
        choices = [list(dict.fromkeys([word, *_forms_of_word(word)])) for word in words]
        forms |= dict.fromkeys(" ".join(choice) for choice in islice(product(*choices), _MAX_FORMS))
    forms.pop(text, None)
    return tuple(forms)


def _forms_of_word(word: str) -> Iterator[str]:
    for stem in dict.fromkeys(_stems(word)):
        if len(stem) >= _MIN_STEM:
            yield from _nominatives(stem)


def _stems(word: str) -> Iterator[str]:
    for case in _CASES:
        if word.endswith(case):
            yield word[: -len(case)]
    # Into: katuun, tiehen, huoneeseen.
    if len(word) > 3 and word[-1] == "n" and word[-2] in _VOWELS:
        if word[-3] == word[-2]:
            yield word[:-2]
        if word[-3] == "h":
            yield word[:-3]
        if word.endswith("seen"):
            yield word[:-4]


def _nominatives(stem: str) -> Iterator[str]:
    yield stem
    yield from _strengthened(stem)
    if stem.endswith("kse"):
        yield f"{stem[:-3]}s"
    elif stem.endswith("se"):
        yield f"{stem[:-2]}nen"
        yield f"{stem[:-2]}s"
    elif stem.endswith("ee"):
        yield stem[:-1]
    elif stem.endswith("e"):
        yield f"{stem[:-1]}i"
        yield from _strengthened(f"{stem[:-1]}i")
        yield stem[:-1]
    elif stem.endswith("i"):
        # Names from abroad are given an i to carry the ending: Stockmannilla.
        yield stem[:-1]
    elif stem.endswith("aa"):
        # Here the nominative has the weak grade: kankaa is of kangas.
        yield from (f"{form[:-1]}s" for form in (stem, *_weakened(stem)))


def _strengthened(stem: str) -> Iterator[str]:
    end = len(stem.rstrip(_VOWELS))
    vowels = stem[end:]
    for weak, strong in _STRONG.items():
        if stem[:end].endswith(weak):
            yield f"{stem[: end - len(weak)]}{strong}{vowels}"
    if len(vowels) >= 2:
        # A k that fell out between two vowels: mae is of maki, joe of joki.
        yield f"{stem[:end]}{vowels[:-1]}k{vowels[-1]}"


def _weakened(stem: str) -> Iterator[str]:
    end = len(stem.rstrip(_VOWELS))
    for weak, strong in _STRONG.items():
        if stem[:end].endswith(strong):
            yield f"{stem[: end - len(strong)]}{weak}{stem[end:]}"
