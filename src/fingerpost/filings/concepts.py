"""Resolve a caller's metric words, aliases and tags to concepts, and suggest near ones."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path

FLOW, STOCK, PER_SHARE, RAW, RECIPE = "flow", "stock", "per_share", "raw", "recipe"
RATIO = "ratio"
REVENUE = "Revenue"

_SUGGESTED = 3
_LIKENESS = 0.72
_PREFIXES = {"usgaap": "us-gaap", "us-gaap": "us-gaap", "ifrs": "ifrs-full", "ifrs-full": "ifrs-full"}

# A bank's revenue is net of interest expense.
_NET_OF_INTEREST = "us-gaap:RevenuesNetOfInterestExpense"
_WITHOUT_TAX = "us-gaap:RevenueFromContractWithCustomerExcludingAssessedTax"
# SIC codes of tobacco and fuel companies, whose revenue excludes the excise taxes that they collect.
_EXCISE_SIC = frozenset({"2100", "2111", "2911", "2990", "5172"})


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure that a caller can ask for; ``tiers`` are families of its concepts, best first.

    A recipe has an ``expression`` of other metrics instead, and an optional ``note`` for answers.
    """

    name: str
    statement: str
    kind: str
    aliases: tuple[str, ...] = ()
    tiers: tuple[tuple[str, ...], ...] = ()
    expression: str = ""
    note: str = ""

    @property
    def concepts(self) -> tuple[str, ...]:
        return tuple(concept for tier in self.tiers for concept in tier)

    def tier_of(self, concept: str) -> int:
        return next(place for place, tier in enumerate(self.tiers) if concept in tier)


@cache
def _list_all() -> tuple[Metric, ...]:
    text = (Path(__file__).parent / "metrics.txt").read_text(encoding="utf-8")
    return tuple(_read(line) for line in text.splitlines() if not line.startswith("#"))


@cache
def list_metrics() -> tuple[Metric, ...]:
    return tuple(metric for metric in _list_all() if metric.kind != RECIPE)


@cache
def list_recipes() -> tuple[Metric, ...]:
    return tuple(metric for metric in _list_all() if metric.kind == RECIPE)


@cache
def _by_word() -> dict[str, Metric]:
    words: dict[str, Metric] = {}
    for metric in _list_all():
        for word in (metric.name, *metric.aliases):
            words.setdefault(_plain(word), metric)
    for metric in list_metrics():
        # A metric's first-tier tags are words for it.
        for concept in metric.tiers[0]:
            words.setdefault(_plain(concept.partition(":")[2]), metric)
    return words


def find_metric(text: str) -> Metric | None:
    return _by_word().get(_plain(text))


def find_concept(text: str, concepts: Collection[str]) -> Metric | None:
    """Return a company's concept, written as ``us-gaap:Tag`` or as the bare tag, as a metric."""
    prefix, _, tag = text.strip().rpartition(":")
    taxonomy = _PREFIXES.get(prefix.lower(), prefix.lower())
    for concept in sorted(concepts):
        of, _, name = concept.partition(":")
        if name.lower() == tag.lower() and taxonomy in ("", of):
            return raw_metric(concept)
    return None


def raw_metric(concept: str) -> Metric:
    return Metric(concept, "", RAW, tiers=((concept,),))


def suggest(text: str, concepts: Collection[str]) -> list[str]:
    words = _by_word()
    near = get_close_matches(_plain(text), words, n=_SUGGESTED, cutoff=_LIKENESS)
    found = list(dict.fromkeys(words[word].name for word in near))
    tags = {_plain(concept.partition(":")[2]): concept for concept in concepts}
    found += [tags[tag] for tag in get_close_matches(_plain(text), tags, n=_SUGGESTED, cutoff=_LIKENESS)]
    return found[:_SUGGESTED]


def headline_concept(metric: Metric, stated: dict[str, float], sic: str | None) -> str:
    """Return the concept of one family that covers the whole company, from one filing's values of one period.

    It is the largest, because a smaller value is a part; banks, tobacco and fuel companies are exceptions.
    """
    order = {concept: place for place, concept in enumerate(metric.concepts)}
    if metric.name == REVENUE:
        if _NET_OF_INTEREST in stated:
            net = stated[_NET_OF_INTEREST]
            return min((concept for concept in stated if stated[concept] == net), key=order.__getitem__)
        if sic in _EXCISE_SIC and _WITHOUT_TAX in stated:
            return _WITHOUT_TAX
    return min(stated, key=lambda concept: (-stated[concept], order[concept]))


def _read(line: str) -> Metric:
    name, statement, kind, words, source, *note = (part.strip() for part in line.split("|"))
    aliases = tuple(alias.strip() for alias in words.split(",") if alias)
    if kind == RECIPE:
        return Metric(name, statement, kind, aliases, expression=source, note="".join(note))
    return Metric(name, statement, kind, aliases, tuple(_concepts(tier.split()) for tier in source.split(";")))


def _concepts(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(tag.replace("ifrs:", "ifrs-full:") if ":" in tag else f"us-gaap:{tag}" for tag in tags)


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9&]+", "", text.lower())
