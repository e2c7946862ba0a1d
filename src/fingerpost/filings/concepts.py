"""Resolve metric names, aliases and XBRL tags to concepts, and suggest similar names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path

from fingerpost.runtime.text_table import read_text_table

FLOW, STOCK, PER_SHARE, RAW, RECIPE = "flow", "stock", "per_share", "raw", "recipe"
RATIO = "ratio"
REVENUE = "Revenue"

_MAX_SUGGESTIONS = 3
_CUTOFF = 0.72
TAXONOMIES = {"usgaap": "us-gaap", "us-gaap": "us-gaap", "ifrs": "ifrs-full", "ifrs-full": "ifrs-full"}

# A bank's revenue is net of interest expense.
_NET_OF_INTEREST = "us-gaap:RevenuesNetOfInterestExpense"
_EXCLUDING_TAX = "us-gaap:RevenueFromContractWithCustomerExcludingAssessedTax"
# SIC codes of tobacco and fuel companies, whose revenue excludes the excise taxes that they collect.
_EXCISE_SIC = frozenset({"2100", "2111", "2911", "2990", "5172"})


@dataclass(frozen=True)
class Metric:
    """A metric that callers can request; ``tiers`` are groups of equivalent concepts, best first.

    A recipe has an ``expression`` over other metrics instead, and optionally a ``note`` for responses.
    """

    name: str
    statement: str
    kind: str
    aliases: tuple[str, ...] = ()
    tiers: tuple[tuple[str, ...], ...] = ()
    expression: str = ""
    note: str = ""

    @cached_property
    def concepts(self) -> tuple[str, ...]:
        return tuple(self.tier_by_concept)

    @cached_property
    def tier_by_concept(self) -> dict[str, int]:
        return {concept: position for position, tier in enumerate(self.tiers) for concept in tier}


@cache
def _load_metrics() -> tuple[Metric, ...]:
    return tuple(_parse_metric(*row) for row in read_text_table(Path(__file__).with_name("metrics.txt"), 6))


@cache
def list_metrics(*, recipes: bool = False) -> tuple[Metric, ...]:
    return tuple(metric for metric in _load_metrics() if (metric.kind == RECIPE) is recipes)


@cache
def _index_by_word() -> dict[str, Metric]:
    words: dict[str, Metric] = {}
    for metric in _load_metrics():
        for word in (metric.name, *metric.aliases):
            words.setdefault(_normalize(word), metric)
    for metric in list_metrics():
        # First-tier tags are also names of the metric.
        for concept in metric.tiers[0]:
            words.setdefault(_normalize(concept.partition(":")[2]), metric)
    return words


def find_metric(text: str) -> Metric | None:
    return _index_by_word().get(_normalize(text))


def index_concepts(concepts: Iterable[str]) -> dict[tuple[str, str], Metric]:
    """Index a company's concepts by taxonomy and lower-case tag, and each tag's first concept also by the tag alone."""
    index: dict[tuple[str, str], Metric] = {}
    for concept in sorted(concepts, reverse=True):
        taxonomy, _, tag = concept.lower().partition(":")
        index[taxonomy, tag] = index["", tag] = Metric(concept, "", RAW, tiers=((concept,),))
    return index


def suggest_metrics(text: str, concepts: Iterable[str]) -> list[str]:
    words = _index_by_word()
    similar = get_close_matches(_normalize(text), words, n=_MAX_SUGGESTIONS, cutoff=_CUTOFF)
    suggestions = list(dict.fromkeys(words[word].name for word in similar))
    tags = {_normalize(concept.partition(":")[2]): concept for concept in concepts}
    suggestions += [tags[tag] for tag in get_close_matches(_normalize(text), tags, n=_MAX_SUGGESTIONS, cutoff=_CUTOFF)]
    return suggestions[:_MAX_SUGGESTIONS]


def choose_headline_concept(metric: Metric, values: dict[str, float], sic: str | None) -> str:
    """Choose the concept that covers the entire company, from one filing's values for a period and tier.

    The largest value wins, because smaller ones are components; banks, tobacco firms and fuel firms are exceptions.
    """
    chosen_value = max(values.values())
    if metric.name == REVENUE:
        if _NET_OF_INTEREST in values:
            chosen_value = values[_NET_OF_INTEREST]
        elif sic in _EXCISE_SIC and _EXCLUDING_TAX in values:
            return _EXCLUDING_TAX
    return next(concept for concept in metric.concepts if values.get(concept) == chosen_value)


def _parse_metric(name: str, statement: str, kind: str, alias_text: str, definition: str, note: str = "") -> Metric:
    aliases = tuple(alias.strip() for alias in alias_text.split(",") if alias)
    if kind == RECIPE:
        return Metric(name, statement, kind, aliases, expression=definition, note=note)
    tiers = [
        tuple(tag.replace("ifrs:", "ifrs-full:") if ":" in tag else f"us-gaap:{tag}" for tag in tier.split())
        for tier in definition.split(";")
    ]
    return Metric(name, statement, kind, aliases, tuple(tiers))


def _normalize(text: str) -> str:
    return re.sub(r"[^a-z0-9&]+", "", text.lower())
