"""Addresses and places of a city as people type them, drawn from its extract by rules with a seed."""

import random
import unicodedata
from collections import Counter
from itertools import islice
from typing import NamedTuple

from fingerpost.transit.osm.addresses.extract import FeatureKind
from fingerpost.transit.osm.addresses.index_file import find_middle
from fingerpost.transit.osm.extract_file import distance_m

# Inflected forms of common last parts of names, written by hand and not by the code that removes endings.
_ENDINGS = {
    "katu": ("kadulta", "kadulle", "kadun"), "tie": ("tieltä", "tielle", "tien"),
    "kuja": ("kujalta", "kujalle", "kujan"), "polku": ("polulta", "polulle", "polun"),
    "puisto": ("puistosta", "puistoon", "puiston"), "ranta": ("rannasta", "rantaan", "rannan"),
    "koulu": ("koululta", "koululle", "koulun"), "kirkko": ("kirkolta", "kirkolle", "kirkon"),
    "museo": ("museosta", "museoon", "museon"), "silta": ("sillalta", "sillalle", "sillan"),
    "ravintola": ("ravintolasta", "ravintolaan", "ravintolan"), "apteekki": ("apteekista", "apteekkiin", "apteekin"),
}  # fmt: skip
# A result within this distance is the drawn place; a street without a number counts by its middle.
_FOUND_WITHIN_M = 150.0


class Asked(NamedTuple):
    """A text, the rule by which it was typed, and the names, position and distance that a result must match."""

    text: str
    rule: str
    names: frozenset[str]
    at: tuple[float, float]
    reach_m: float

    def is_found(self, matches):
        return any(
            distance_m((match.place.coordinate.lat, match.place.coordinate.lon), self.at) <= self.reach_m
            and self.names & {match.place.name, *match.place.names.values()}
            for match in matches[:3]
        )


def draw_questions(things, kind, count, seed=20261122):
    """Return questions about features with unique names; each rule gives an equal share, or fewer if it fits fewer."""
    dice = random.Random(seed)
    counts = Counter(each.names.name.casefold() for each in things)
    drawn = [
        (each, house)
        for each in things
        if each.kind is kind and each.category != "station"
        if counts[each.names.name.casefold()] == 1
        for house in (each.houses if kind is FeatureKind.STREET else ()) or [None]
    ]
    asked = []
    for rule in RULES:
        questions = (_ask(dice, rule, *each) for each in dice.sample(drawn, len(drawn)))
        asked += islice(filter(None, questions), count // len(RULES))
    return asked


def _ask(dice, rule, thing, house):
    names = thing.names
    typed = RULES[rule](dice, names)
    if typed is None or (rule == "no number" and thing.kind is FeatureKind.PLACE):
        return None
    number = f" {house.number.text}" if house is not None and rule != "no number" else ""
    every = {names.name, *names.by_language.values()}
    at, reach_m = (house.point, 0.0) if number else find_middle(thing.points)
    found_as = frozenset(f"{name}{number}" for name in every)
    return Asked(f"{typed}{number}", rule, found_as, at, _FOUND_WITHIN_M + reach_m)


def _inflect(dice, names):
    end = next((end for end in _ENDINGS if names.name.lower().endswith(end) and len(names.name) > len(end)), None)
    return end and names.name[: -len(end)] + dice.choice(_ENDINGS[end])


def _leave_out_accents(_dice, names):
    bare = "".join(each for each in unicodedata.normalize("NFD", names.name) if not unicodedata.combining(each))
    return bare if bare != names.name else None


def _translate(dice, names):
    others = sorted(set(names.by_language.values()) - {names.name})
    return dice.choice(others) if others else None


def _misspell(dice, names):
    """Change, drop, double or swap one letter, never the first; names of up to four letters are skipped."""
    name = names.name
    letters = [at for at in range(1, len(name)) if name[at].isalpha()]
    if len(letters) < 4:
        return None
    at = dice.choice(letters[:-1])
    here, behind = name[at], name[at + 1]
    typed = dice.choice([dice.choice("aeiouklmnrst") + behind, behind, here + here + behind, behind + here])
    return f"{name[:at]}{typed}{name[at + 2 :]}"


RULES = {
    "another case": lambda dice, names: dice.choice([names.name.upper(), names.name.lower()]),
    "no accents": _leave_out_accents,
    "inflected": _inflect,
    "one letter wrong": _misspell,
    "no number": lambda _dice, names: names.name,
    "another language": _translate,
}
