"""Addresses and places of a city as people type them, drawn from its extract by seeded rules.

An address is drawn from the houses of the extract, a street among those without a number, a place from its points of
interest. Each is typed by one rule after the other: another case, without accents, with a Finnish ending, with one
letter wrong, without its number, in another language. The endings are made by rules of their own, which know the
last parts of street names (katu, kadun) and nothing of the code that takes them off.
"""

import random
import unicodedata
from typing import NamedTuple

from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.osm.addresses.extract import FeatureKind
from fingerpost.transit.osm.extract_file import apart_m

# Where the nominative ends like this, people go there like that: from, to, of.
_ENDINGS = {
    "katu": ("kadulta", "kadulle", "kadun"), "tie": ("tieltä", "tielle", "tien"),
    "kuja": ("kujalta", "kujalle", "kujan"),
    "polku": ("polulta", "polulle", "polun"), "tori": ("torilta", "torille", "torin"),
    "kaari": ("kaarelta", "kaarelle", "kaaren"), "raitti": ("raitilta", "raitille", "raitin"),
    "puisto": ("puistosta", "puistoon", "puiston"), "ranta": ("rannasta", "rantaan", "rannan"),
    "koulu": ("koululta", "koululle", "koulun"), "kirkko": ("kirkolta", "kirkolle", "kirkon"),
    "talo": ("talolta", "talolle", "talon"), "asema": ("asemalta", "asemalle", "aseman"),
    "aukio": ("aukiolta", "aukiolle", "aukion"), "portti": ("portilta", "portille", "portin"),
    "museo": ("museosta", "museoon", "museon"), "koti": ("kodista", "kotiin", "kodin"),
    "keskus": ("keskuksesta", "keskukseen", "keskuksen"), "halli": ("hallista", "halliin", "hallin"),
    "kirjasto": ("kirjastosta", "kirjastoon", "kirjaston"), "silta": ("sillalta", "sillalle", "sillan"),
    "mäki": ("mäeltä", "mäelle", "mäen"), "apteekki": ("apteekista", "apteekkiin", "apteekin"),
    "lukio": ("lukiolta", "lukiolle", "lukion"), "teatteri": ("teatterista", "teatteriin", "teatterin"),
    "ravintola": ("ravintolasta", "ravintolaan", "ravintolan"), "kanta": ("kannasta", "kantaan", "kannan"),
}  # fmt: skip
RULES = ("another case", "no accents", "inflected", "one letter wrong", "no number", "another language")
# What was found is what was drawn where it lies no further away; of a street drawn as such, its middle counts.
FOUND_WITHIN_M = 150.0


class Asked(NamedTuple):
    """A text, the rule by which it was typed, and what must be found: a name in any language, at a place.

    ``reach_m`` is how far from there it may be found: a street is found where its middle, or a stop on it, is.
    ``focus`` is given where others of the same name exist, as a phone gives it: 300 m from what is meant.
    """

    text: str
    rule: str
    names: frozenset[str]
    at: tuple[float, float]
    reach_m: float
    focus: Coordinate | None = None

    def is_found(self, matches):
        return any(
            apart_m((match.place.coordinate.lat, match.place.coordinate.lon), self.at) <= self.reach_m
            and self.names & {match.place.name, *match.place.names.values()}
            for match in matches[:3]
        )


def draw_questions(things, *, addresses, places, seed=20261122):
    """Return questions on addresses and on places of an extract, each drawn once per rule at most."""
    source = random.Random(seed)
    streets = [each for each in things if each.feature.kind is FeatureKind.STREET]
    houses = [(each, house) for each in streets for house in each.houses]
    drawn = [("house", street, house) for street, house in houses]
    # Where hardly any houses are mapped, streets are asked for instead.
    drawn += [("street", street, None) for street in streets if not street.houses] * (len(houses) < addresses)
    points = [each for each in things if each.feature.kind is FeatureKind.PLACE and each.feature.what != "station"]
    counts = {}
    for each in things:
        counts[each.feature.names.name.casefold()] = counts.get(each.feature.names.name.casefold(), 0) + 1
    asked = _draw(source, drawn, addresses, counts)
    return asked + _draw(source, [("place", each, None) for each in points], places, counts)


def _draw(source, drawn, wanted, counts):
    asked, seen = [], set()
    # Houses go round first, so that as many as there are are asked for.
    for kinds in (("house", "place"), ("street",)):
        pool = [each for each in drawn if each[0] in kinds]
        for rule in RULES * 4:
            if not pool:
                break
            for kind, thing, house in source.sample(pool, min(len(pool), -(-wanted // len(RULES)))):
                question = _ask(source, rule, kind, thing, house, counts)
                if question is not None and (question.text, question.at) not in seen:
                    seen.add((question.text, question.at))
                    asked.append(question)
    source.shuffle(asked)
    by_rule = {rule: [each for each in asked if each.rule == rule] for rule in RULES}
    # Of each rule as many, as far as there are any.
    chosen = [each for row in range(len(asked)) for rule in RULES for each in by_rule[rule][row : row + 1]]
    return chosen[:wanted]


def _ask(source, rule, kind, thing, house, counts):
    names = thing.feature.names
    typed = _type(source, rule, names)
    if typed is None or (rule == "no number" and kind == "place"):
        return None
    number = f" {house.number.text}" if house is not None and rule != "no number" else ""
    at = thing.at if house is None or rule == "no number" else house.at
    every = {names.name, *names.by_language.values()}
    is_common = counts[names.name.casefold()] > 1
    return Asked(
        text=f"{typed}{number}",
        rule=rule,
        names=frozenset(f"{name}{number}" for name in every),
        at=at,
        reach_m=FOUND_WITHIN_M if kind == "place" or number else thing.reach_m + FOUND_WITHIN_M,
        focus=Coordinate(at[0] + 0.0027, at[1]) if is_common else None,
    )


def _type(source, rule, names):
    name = names.name
    if rule == "another case":
        return source.choice([name.upper(), name.lower()])
    if rule == "no number":
        return name
    if rule == "no accents":
        bare = "".join(each for each in unicodedata.normalize("NFD", name) if not unicodedata.combining(each))
        return bare if bare != name else None
    if rule == "another language":
        others = sorted(set(names.by_language.values()) - {name})
        return source.choice(others) if others else None
    if rule == "inflected":
        for end, forms in _ENDINGS.items():
            if name.lower().endswith(end) and len(name) > len(end):
                return name[: -len(end)] + source.choice(forms)
        return None
    return _misspell(source, name)


def _misspell(source, name):
    """Change, drop, double or swap one letter of a name, never the first one; names of four letters are left alone."""
    letters = [at for at in range(1, len(name)) if name[at].isalpha()]
    if len(letters) < 4:
        return None
    at = source.choice(letters[:-1])
    how = source.randrange(4)
    if how == 0:
        other = source.choice([each for each in "aeiouklmnrst" if each != name[at].lower()])
        return f"{name[:at]}{other}{name[at + 1 :]}"
    if how == 1:
        return name[:at] + name[at + 1 :]
    if how == 2:
        return name[: at + 1] + name[at:]
    return f"{name[:at]}{name[at + 1]}{name[at]}{name[at + 2 :]}"
