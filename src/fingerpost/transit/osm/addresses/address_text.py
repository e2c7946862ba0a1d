"""Parse typed addresses into street, house number and city."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from fingerpost.runtime.text_table import read_text_table
from fingerpost.transit.rules.name_matching import plain, strip_near
from fingerpost.transit.rules.name_search import list_base_forms

_NUMBER = re.compile(r"\s*(\d{1,5})\s*(?:([a-zåäö])(?![a-zåäö]))?(?:\s*[-\u2013/]\s*(\d{1,5}))?", re.IGNORECASE)
# Wider ranges are treated as mapping errors.
_MAX_MAPPED_RANGE = 200


@dataclass(frozen=True, slots=True)
class HouseNumber:
    first: int
    last: int
    letter: str = ""

    @property
    def text(self) -> str:
        numbers = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        return f"{numbers}{self.letter}"

    def covers(self, number: int) -> bool:
        """Whether a number is in the range; a range with two odd ends has only odd numbers (likewise for even)."""
        if not self.first <= number <= self.last:
            return False
        return (self.last - self.first) % 2 == 1 or (number - self.first) % 2 == 0


def read_house_number(text: str) -> HouseNumber | None:
    match = _NUMBER.match(text)
    if match is None:
        return None
    first = int(match[1])
    last = int(match[3]) if match[3] else first
    if not first <= last <= first + _MAX_MAPPED_RANGE:
        last = first
    return HouseNumber(first, last, (match[2] or "").lower())


# A number joined to a word of at least four letters: hameenkatu10.
_JOINED_NUMBER = re.compile(r"([^\W\d_]{4})(\d{1,4}[a-z]?)\b", re.IGNORECASE)
# Finnish case endings on numbers: 10:ssä, 10:stä.
_NUMBER_ENDING = re.compile(r"(\d)\s*:\s*[a-zåäö]+", re.IGNORECASE)
_HOUSE = re.compile(r"(\d{1,4})([a-z]?)")
# Five digits, also at the beginning of longer postcodes, such as 01310-100.
POSTCODE = re.compile(r"\b\d{5}\b")


def _read_words(table: str) -> dict[str, list[str]]:
    """Return the plain words for each key in one of the tables in ``words.txt``."""
    rows = read_text_table(Path(__file__).with_name("words.txt"), 3)
    return {key: words.split(", ") for name, key, words in rows if name == table}


SWEDISH_NAMES = {finnish: swedish for finnish, (swedish,) in _read_words("swedish").items()}
KIND_BY_WORD = {word: kind for kind, words in _read_words("kind").items() for word in words}
_ABBREVIATIONS = _read_words("abbreviation")
# Two streets: A / B, A & B, A and B.
_BETWEEN_STREETS = re.compile(r"\s*[/&]\s*|\s+(?:and|ja|och|und|y|e)\s+", re.IGNORECASE)
_CORNER_WORDS = re.compile(
    r"^(?:(?:the )?corner of|hörnet(?: av)?)\s+|\s+(?:corner|risteys|kulma|hörnet)$", re.IGNORECASE
)
# Names of Finland that may follow a comma, as plain words.
_FINLAND = frozenset({"finland", "suomi"})
_FLAT_WORDS = frozenset({"as", "asunto", "apt", "flat", "krs", "lgh", "bost"})
_MAX_CITY_WORDS = 3
# 14-16 is a range of house numbers, but 14 160 is a house number and a flat number.
_MAX_TYPED_RANGE = 20


@dataclass(frozen=True, slots=True)
class AddressText:
    words: str
    number: HouseNumber | None = None
    city: str | None = None


def strip_country(text: str) -> str:
    head, _, country = text.rpartition(",")
    return head if plain(head) and plain(country) in _FINLAND else text


def read_address_text(text: str, cities: Collection[str]) -> AddressText:
    """Parse text as an address; ``cities`` are normalized names. A city name alone is not an address."""
    spaced = _JOINED_NUMBER.sub(r"\1 \2", _NUMBER_ENDING.sub(r"\1", text))
    parts = [part.split() for part in map(plain, strip_country(spaced).split(",")) if part]
    city: str | None = None
    words: list[str] = []
    for part in parts:
        without_postcode = [word for word in part if not POSTCODE.fullmatch(word)]
        part_city = find_city(" ".join(without_postcode), cities) if without_postcode and len(parts) > 1 else None
        if part_city is None:
            words += without_postcode
        else:
            city = city or part_city
    words = strip_near(" ".join(words)).split()
    if city is None:
        words, city = _split_city(words, cities)
    words, number = _split_number(words)
    return AddressText(" ".join(words), number, city if words else None)


def expand_abbreviations(words: str) -> list[str]:
    """Return variants of the words with one abbreviation expanded: avenida ipiranga for av ipiranga."""
    expanded = []
    parts = words.split()
    for index, word in enumerate(parts):
        forms = _ABBREVIATIONS.get(word) or ([f"{word}asse"] if word.endswith("str") else [])
        expanded += [" ".join([*parts[:index], form, *parts[index + 1 :]]) for form in forms]
    return expanded


def split_corner(text: str) -> tuple[str, str] | None:
    """Return the two streets in ``A / B`` or ``corner of A and B``, or None for other text."""
    streets = _BETWEEN_STREETS.split(_CORNER_WORDS.sub("", text.strip()))
    return (streets[0], streets[1]) if len(streets) == 2 and all(map(plain, streets)) else None


def find_city(words: str, cities: Collection[str]) -> str | None:
    return next((form for form in (words, *list_base_forms(words)) if form in cities), None)


def _split_city(words: list[str], cities: Collection[str]) -> tuple[list[str], str | None]:
    for count in range(min(_MAX_CITY_WORDS, len(words) - 1), 0, -1):
        city = find_city(" ".join(words[-count:]), cities)
        if city is not None:
            return words[:-count], city
    return words, None


def _split_number(words: list[str]) -> tuple[list[str], HouseNumber | None]:
    for index, word in enumerate(words):
        match = _HOUSE.fullmatch(word)
        if match is None:
            continue
        number = int(match[1])
        if index == 0:
            # The number may come first: 10 Downing Street.
            if words[1:] and not _is_number(words[1]):
                return words[1:], HouseNumber(number, number, match[2])
            return words, None
        rest = words[index + 1 :]
        if not all(_is_number(word) or len(word) == 1 or word in _FLAT_WORDS for word in rest):
            return words, None
        last = int(rest[0]) if rest and rest[0].isdecimal() and not match[2] else 0
        if number < last <= number + _MAX_TYPED_RANGE:
            return words[:index], HouseNumber(number, last)
        letter = match[2] or (rest[0] if rest and len(rest[0]) == 1 and rest[0].isalpha() else "")
        return words[:index], HouseNumber(number, number, letter)
    return words, None


def _is_number(word: str) -> bool:
    return _HOUSE.fullmatch(word) is not None
