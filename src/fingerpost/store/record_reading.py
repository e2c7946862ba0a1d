"""From the text of ``fingerpost.toml`` to records that can be used, and a sentence on each that cannot."""

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from fingerpost.errors import ParameterError
from fingerpost.store.network_names import is_network_name
from fingerpost.store.network_record import EXPECTED, KEYS, NetworkRecord
from fingerpost.store.record_text import NETWORKS, Document, find_line, read_document

FILE_NAME = "fingerpost.toml"

CORRECT = "correct the line"

RecordCheck = Callable[[NetworkRecord], None]
"""Raises ParameterError, ``details["field"]`` being the key, where a record cannot be used."""


@dataclass(frozen=True, slots=True)
class NetworkRecords:
    """All records that can be used, by name, and by name a sentence on each that cannot.

    What is wrong outside the records is told under the file's own name.
    """

    records: Mapping[str, NetworkRecord] = field(default_factory=lambda: MappingProxyType({}))
    problems: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class RecordProblem:
    """Why a record cannot be used: the key that is at fault, the words, what to do about it, and the line if known."""

    key: str
    what: str
    remedy: str
    line: int | None = None

    def to_error(self, whose: str = "") -> ParameterError:
        """Return the problem as an error of whoever wants to write such a record."""
        hint = None if self.remedy == CORRECT else self.remedy
        return ParameterError(f"{whose}{self.what}", {"field": self.key or "name"}, hint=hint)


class RecordReader:
    """Reads records.

    Args:
        kinds: the words that ``source`` may hold; None allows any.
        checks: what else must hold for a record.
    """

    def __init__(self, kinds: Collection[str] | None = None, checks: Collection[RecordCheck] = ()) -> None:
        self._kinds = kinds
        self._checks = checks

    def read(self, text: str, where: str) -> NetworkRecords:
        """Return the records of a text; ``where`` is the file that sentences name."""
        document = read_document(text)
        records, problems = self.judge(document)
        told = {}
        for name, problem in problems.items():
            line = problem.line or find_line(text, NETWORKS, name, *([problem.key] if problem.key else []))
            told[name] = f"{where}, line {line}: {problem.what}; {problem.remedy}"
        for rest in document.rest:
            # One is enough to say that the file wants attention.
            told.setdefault(FILE_NAME, f"{where}, line {rest.line}: {rest.what}; correct the line or remove it")
        return NetworkRecords(MappingProxyType(records), MappingProxyType(told))

    def judge(self, document: Document) -> tuple[dict[str, NetworkRecord], dict[str, RecordProblem]]:
        """Return what can be used, and what is wrong with the rest."""
        records: dict[str, NetworkRecord] = {}
        problems: dict[str, RecordProblem] = {
            name: RecordProblem("", broken.what, CORRECT, broken.line) for name, broken in document.broken.items()
        }
        for name, table in document.tables.items():
            try:
                records[name] = self._build(name, table)
            except _Unusable as unusable:
                problems[name] = unusable.problem
        problems |= dict(_find_wrong_fallbacks(records, {*records, *problems}))
        for name in problems:
            records.pop(name, None)
        return records, problems

    def build(self, name: str, table: Mapping[str, Any]) -> NetworkRecord:
        """Return one record; its fallback is not looked at.

        Raises:
            ParameterError: it cannot be used; ``details["field"]`` is the key.
        """
        try:
            return self._build(name, table)
        except _Unusable as unusable:
            problem = unusable.problem
            raise problem.to_error() from unusable

    def _build(self, name: str, table: Mapping[str, Any]) -> NetworkRecord:
        _refuse_wrong_name(name)
        for key in table:
            if key not in KEYS:
                raise _Unusable(describe_unknown_key(key))
        try:
            record = NetworkRecord(name=name, **table)
        except ValidationError as error:
            raise _Unusable(_describe(error)) from error
        if self._kinds is not None and record.source not in self._kinds:
            raise _Unusable(
                RecordProblem(
                    "source",
                    f"there is no kind of source {record.source!r}",
                    _closest(record.source, self._kinds) or f"the kinds are {', '.join(sorted(self._kinds))}",
                )
            )
        for check in self._checks:
            try:
                check(record)
            except ParameterError as error:
                remedy = error.hint or CORRECT
                key = str(error.details.get("field", ""))
                raise _Unusable(RecordProblem(key, _uncapital(error.message), _uncapital(remedy))) from error
        return record


class _Unusable(Exception):
    def __init__(self, problem: RecordProblem) -> None:
        super().__init__(problem.what)
        self.problem = problem


def _refuse_wrong_name(name: str) -> None:
    if is_network_name(name):
        return
    if is_network_name(name.upper()):
        remedy = f"write [networks.{name.upper()}]"
    else:
        remedy = "take up to 40 letters A-Z, digits, _ and -, not beginning with DEMO-"
    raise _Unusable(RecordProblem("", f"a network cannot be called {name!r}", remedy))


def describe_unknown_key(key: str) -> RecordProblem:
    """Return what is wrong with a key that no record has."""
    remedy = _closest(key, KEYS) or f"a record has {', '.join(KEYS)}"
    return RecordProblem(key, f"a record has no key {key!r}", remedy)


def _closest(word: str, words: Collection[str]) -> str | None:
    found = difflib.get_close_matches(word, words, n=1)
    return f"did you mean {found[0]}?" if found else None


def _describe(error: ValidationError) -> RecordProblem:
    # Values are not repeated, where the words are ours: an address may hold a key.
    first = error.errors(include_url=False)[0]
    key = str(first["loc"][0])
    if first["type"] == "value_error":
        return RecordProblem(key, str(first["ctx"]["error"]), CORRECT)
    return RecordProblem(key, f"{key} must be {EXPECTED.get(key, 'a text in quotes')}", CORRECT)


def _find_wrong_fallbacks(
    records: Mapping[str, NetworkRecord], names: Collection[str]
) -> Iterator[tuple[str, RecordProblem]]:
    for name, record in records.items():
        fallback = record.fallback
        if fallback is None:
            continue
        if fallback not in names:
            remedy = _closest(fallback, names) or "name another network of this file, or remove the line"
            yield name, RecordProblem("fallback", f"its fallback {fallback!r} is no network of this file", remedy)
        elif name in (circle := _follow(records, fallback)):
            way = " → ".join([name, *circle[: circle.index(name) + 1]])
            yield (
                name,
                RecordProblem("fallback", f"its fallback goes in a circle ({way})", "remove one of these fallbacks"),
            )


def _follow(records: Mapping[str, NetworkRecord], name: str) -> list[str]:
    """Return a network and its fallbacks, one after the other, until one comes again or there is none."""
    way: list[str] = []
    at: str | None = name
    while at is not None and at not in way:
        way.append(at)
        at = records[at].fallback if at in records else None
    return way


def _uncapital(text: str) -> str:
    text = text.rstrip(".")
    return text[:1].lower() + text[1:] if text[:1].isupper() and text[1:2].islower() else text
