"""Reads a text as people write addresses: ``Hämeenkatu 10 B 24, 33100 Tampere``."""

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass

from fingerpost.transit.osm.addresses.house_number import HouseNumber
from fingerpost.transit.rules.inflection import base_forms
from fingerpost.transit.rules.name_matching import plain

# Finnish endings of numbers stand behind a colon: 10:ssä, 10:stä.
_NUMBER_ENDING = re.compile(r"(\d)\s*:\s*[a-zåäö]+", re.IGNORECASE)
_HOUSE = re.compile(r"(\d{1,4})([a-z]?)")
_POSTCODE = re.compile(r"\d{5}")
_FLAT_WORDS = frozenset({"as", "asunto", "apt", "flat", "krs", "lgh", "bost"})
_LONGEST_CITY_WORDS = 3
# 14-16 is a range of house numbers, 14 160 a flat.
_WIDEST_RANGE = 20


@dataclass(frozen=True, slots=True)
class AddressText:
    """A text read as an address: the plain words of the street or place, and the number and the city if it has any."""

    words: str
    number: HouseNumber | None = None
    city: str | None = None


def read_address_text(text: str, cities: Collection[str]) -> AddressText:
    """Return a text read as an address; ``cities`` are plain names of cities.

    A text that is the name of a city and nothing else is no address in it.
    """
    parts = [part for each in _NUMBER_ENDING.sub(r"\1", text).split(",") if (part := plain(each).split())]
    city: str | None = None
    kept: list[list[str]] = []
    for part in parts:
        bare = [word for word in part if not _POSTCODE.fullmatch(word)]
        named = find_city(" ".join(bare), cities) if bare and len(parts) > 1 else None
        if named is not None and (kept or len(parts) > 1):
            city = city or named
        elif bare:
            kept.append(bare)
    words = [word for part in kept for word in part]
    if city is None:
        words, city = _split_city(words, cities)
    words, number = _split_number(words)
    return AddressText(" ".join(words), number, city if words else None)


def find_city(words: str, cities: Collection[str]) -> str | None:
    """Return the city that plain words name, inflected or not."""
    return next((form for form in (words, *base_forms(words)) if form in cities), None)


def _split_city(words: list[str], cities: Collection[str]) -> tuple[list[str], str | None]:
    for count in range(min(_LONGEST_CITY_WORDS, len(words) - 1), 0, -1):
        city = find_city(" ".join(words[-count:]), cities)
        if city is not None:
            return words[:-count], city
    return words, None


def _split_number(words: list[str]) -> tuple[list[str], HouseNumber | None]:
    """Return the words before the first number, or behind it where the number stands first."""
    for at, word in enumerate(words):
        match = _HOUSE.fullmatch(word)
        if match is None:
            continue
        if at == 0:
            # 10 Downing Street
            behind = words[1:]
            return (behind, _number_of(match[1], match[2])) if behind and not _is_number(behind[0]) else (words, None)
        rest = words[at + 1 :]
        if not all(_is_number(each) or len(each) == 1 or each in _FLAT_WORDS for each in rest):
            return words, None
        last = int(rest[0]) if rest and rest[0].isdecimal() and not match[2] else 0
        if int(match[1]) < last <= int(match[1]) + _WIDEST_RANGE:
            return words[:at], HouseNumber(int(match[1]), last)
        letter = match[2] or (rest[0] if rest and len(rest[0]) == 1 and rest[0].isalpha() else "")
        return words[:at], _number_of(match[1], letter)
    return words, None


def _is_number(word: str) -> bool:
    return _HOUSE.fullmatch(word) is not None


def _number_of(digits: str, letter: str) -> HouseNumber:
    return HouseNumber(int(digits), int(digits), letter)


def contradicts_accents(text: str, name: str) -> bool:
    """Whether a text has accents that a name of the same plain spelling has not.

    Who types no accents may mean any; who types Särkänkatu does not mean Sarkankatu.
    """
    typed = _composed(text)
    return not typed.isascii() and typed != _composed(name)


def _composed(text: str) -> str:
    spaced = "".join(each if each.isalnum() else " " for each in unicodedata.normalize("NFC", text.casefold()))
    return " ".join(spaced.split())
