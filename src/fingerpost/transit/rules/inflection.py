"""List possible base forms of inflected Finnish place names, such as Hämeenkatu for Hämeenkadulta.

Most forms are not real words, so callers must look them up. All strings are normalized (``name_matching.plain``).
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
_MIN_STEM_CHARS = 3
_MAX_FORMS = 96


# Cached, because searches for stops, streets and cities look up the same words.
@lru_cache(maxsize=256)
def list_base_forms(text: str) -> tuple[str, ...]:
    """Return possible base forms if the last word or all words are inflected (Vanhalla kirkolla)."""
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
