"""What a sentence claims, where every word of it is understood; see ``claim_words`` for the letters.

A sentence is one clause, or several that are joined; a later clause may leave out what an earlier one said.
Each clause is one of a few forms. A sentence that can be read in two ways is not read at all.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from fingerpost.filings.claim_words import UNKNOWN, Amount, Measure, Period, Token

EQUAL, ABOUT, REACHES, RANGE = "=", "~", "L", "range"
MORE, AT_LEAST, LESS, AT_MOST = ">", "g", "<", "l"
UP, DOWN = 1, -1

_MOST_COMMAS = 5
_SUBJECT = (
    "(?:i?(?P<p0>P))?(?P<c0>C)?(?:i?(?P<p1>P))?(?P<n0>N)?V?(?P<p2>P)?{metric}"
    "(?:[oi](?P<c1>C))?(?:i?(?P<p3>P))?(?:[oi](?P<c2>C))?"
)
_TAIL = "y?(?:i?(?P<p8>P))?(?:[oi](?P<c8>C))?"
_QUANTITY = "(?:(?P<rel>[><gl~L])?(?P<a0>A)|(?:B(?P<b0>A)a|f?(?P<b1>A)[td])(?P<b2>A))"
_RATE = "(?:(?P<rel>[><gl~])?(?P<r0>R)|(?:B(?P<s0>[RA])a|(?P<s1>[RA])[dt])(?P<s2>R))"
_FORMS = {
    "level": "{subject}(?P<n1>N)?[Vo]?(?P<n2>N)?" + _QUANTITY + _TAIL,
    "rate": "{subject}(?P<n1>N)?V?(?P<n2>N)?(?P<dir>[UD])b?" + _RATE + "y?(?:f(?P<pf>P))?(?:t(?P<to>A))?" + _TAIL,
    "step": "{subject}(?P<n1>N)?V?(?P<n2>N)?(?P<dir>[UD])b?(?P<rel>[><gl~])?(?P<a0>A)y?(?:f(?P<pf>P))?(?:t(?P<to>A))?"
    + _TAIL,
    "rise_to": "{subject}(?P<n1>N)?V?(?P<n2>N)?(?P<dir>[UD])t(?P<to>A)y?(?:f(?P<pf>P))?" + _TAIL,
    "rise_from": "{subject}V?(?P<dir>[UD])f(?P<from>A)(?:i?(?P<pf>P))?t(?P<to>A)" + _TAIL,
    "rise": "{subject}(?P<n1>N)?V?(?P<n2>N)?(?P<dir>[UD])y?(?:f(?P<pf>P))?" + _TAIL,
    "versus_period": "{subject}(?P<n1>N)?V?(?P<n2>N)?(?P<rel>[><])i(?P<pf>P)",
    "versus_company": "{subject}(?P<n1>N)?V?(?P<n2>N)?(?P<rel>[><])(?P<co>C)(?P<mo>M)?(?:i?(?P<p8>P))?",
    "versus_metric": "{subject}(?P<n1>N)?V?(?P<n2>N)?(?P<rel>[><])(?P<mo>M)(?:i?(?P<p8>P))?",
    "two_metrics": "(?:i?(?P<p0>P))?(?P<c0>C)?(?P<p1>P)?(?P<m0>M)a(?P<m1>M)(?:i?(?P<p2>P))?V(?P<x0>A)a(?P<x1>A)"
    "(?:i?(?P<p3>P))?r",
    "two_periods": "(?P<c0>C)?(?P<m0>M)(?:i(?P<q0>P)a(?P<q1>P))?V(?P<x0>A)a(?P<x1>A)(?:i(?P<q2>P)a(?P<q3>P))?r",
}


_CLAUSES = {
    name: re.compile(form.replace("{subject}", _SUBJECT.format(metric="(?P<m>M)?"))) for name, form in _FORMS.items()
}


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose metric, of which period; None where the clause leaves it to another one, or to the caller."""

    ticker: str | None = None
    measure: Measure | None = None
    period: Period | None = None

    def filled(self, other: "Subject") -> "Subject":
        """Return the subject with what it lacks taken from another."""
        return Subject(self.ticker or other.ticker, self.measure or other.measure, self.period or other.period)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One thing that is said of a subject.

    ``high`` is the other end of a range. ``versus`` is what the subject is compared with: another subject, or for a
    change (``direction`` up or down) the period that it counts from, where that is named.
    ``is_rate`` where the change is a percentage. Without an ``amount`` only the direction of the change is said.
    """

    subject: Subject
    relation: str = EQUAL
    amount: Amount | None = None
    high: Amount | None = None
    direction: int = 0
    is_rate: bool = False
    versus: Subject | None = None
    is_negated: bool = False
    is_prior: bool = False


def read_statements(tokens: Sequence[Token]) -> tuple[list[Statement], list[str]]:
    """Return what a sentence states, and what of it was not understood: one of the two is empty."""
    unknown = [token.text for token in tokens if token.kind == UNKNOWN]
    if unknown:
        return [], unknown
    readings = {tuple(reading) for variant in _variants(tokens) for reading in _read_clauses(variant)}
    complete = {_completed(reading) for reading in readings}
    if len(complete) == 1:
        return list(complete.pop()), []
    return [], [" ".join(token.text for token in tokens)]


def _variants(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield the tokens with each comma either left out or read as "and"."""
    plain: list[Token] = []
    for token in tokens:
        if token.kind == "a" and plain and plain[-1].kind in (",", "a"):
            plain.pop()
        if not (token.kind == "," and plain and plain[-1].kind in (",", "a")):
            plain.append(token)
    commas = [place for place, token in enumerate(plain) if token.kind == ","]
    if len(commas) > _MOST_COMMAS:
        return
    for kinds in product(("", "a"), repeat=len(commas)):
        chosen = dict(zip(commas, kinds, strict=True))
        yield [
            replace(token, kind=chosen.get(place, token.kind))
            for place, token in enumerate(plain)
            if chosen.get(place, token.kind)
        ]


def _read_clauses(tokens: Sequence[Token]) -> Iterator[list[Statement]]:
    """Yield every way to read the tokens as clauses joined by "and"."""
    whole = _read_clause(tokens)
    if whole:
        yield whole
    for place, token in enumerate(tokens):
        if token.kind == "a":
            head = _read_clause(tokens[:place])
            if head:
                for rest in _read_clauses(tokens[place + 1 :]):
                    yield [*head, *rest]


def _read_clause(tokens: Sequence[Token]) -> list[Statement]:
    kinds = "".join(token.kind for token in tokens)
    for name, form in _CLAUSES.items():
        if matched := form.fullmatch(kinds):
            said = {
                group: tokens[matched.start(group)].value if matched.start(group) >= 0 else None
                for group in form.groupindex
            }
            marks = {group: matched[group] or "" for group in form.groupindex}
            return _state(name, said, marks)
    return []


def _state(form: str, said: dict[str, Any], marks: dict[str, str]) -> list[Statement]:
    """Return the statements of a clause of one form; none where it says one thing twice."""
    companies = [said[group] for group in ("c0", "c1", "c2", "c8") if said.get(group)]
    periods = [said[group] for group in ("p0", "p1", "p2", "p3", "p8") if said.get(group)]
    negations = [group for group in ("n0", "n1", "n2") if marks.get(group)]
    if len(companies) > 1 or len(periods) > 1 or len(negations) > 1:
        return []
    subject = Subject(companies[0] if companies else None, said.get("m"), periods[0] if periods else None)
    if form in ("two_metrics", "two_periods"):
        return _state_two(form, subject, said)
    relation = marks.get("rel") or EQUAL
    base = Statement(subject=subject, relation=relation, is_negated=bool(negations))
    if form.startswith("versus"):
        other = Subject(said.get("co"), said.get("mo"), said.get("pf"))
        return [replace(base, versus=other)]
    if form == "level":
        if said["a0"]:
            return [replace(base, amount=said["a0"])]
        low, high = _range(said["b0"] or said["b1"], said["b2"])
        return [replace(base, relation=RANGE, amount=low, high=high)]
    return _state_change(form, base, said, marks)


def _state_change(form: str, base: Statement, said: dict[str, Any], marks: dict[str, str]) -> list[Statement]:
    since = Subject(period=said["pf"]) if said.get("pf") else None
    change = replace(base, direction=UP if marks["dir"] == "U" else DOWN, versus=since)
    level = Statement(subject=base.subject, amount=said["to"]) if said.get("to") else None
    if base.is_negated and level is not None:
        # "Did not grow 8 % to 100": either half may be what is denied.
        return []
    if form == "rate":
        if said["r0"]:
            change = replace(change, amount=said["r0"], is_rate=True)
        else:
            low, high = said["s0"] or said["s1"], said["s2"]
            if low.currencies is not None or low.scale or low.is_shares or low.is_per_share:
                return []
            change = replace(change, amount=low, high=high, relation=RANGE, is_rate=True)
    elif form == "step":
        change = replace(change, amount=said["a0"])
    elif form == "rise_from":
        assert level is not None
        first, last = _range(said["from"], said["to"])
        level = replace(level, amount=last)
        start = Statement(subject=base.subject, amount=first, is_prior=True)
        if since is not None:
            start = Statement(subject=replace(base.subject, period=since.period), amount=first)
        return [start, level, change]
    return [change] if level is None else [change, level]


def _state_two(form: str, subject: Subject, said: dict[str, Any]) -> list[Statement]:
    if form == "two_metrics":
        subjects = [replace(subject, measure=said[group]) for group in ("m0", "m1")]
    else:
        periods = [said[group] for group in ("q0", "q1", "q2", "q3") if said[group]]
        if len(periods) != 2:
            return []
        subjects = [replace(subject, measure=said["m0"], period=period) for period in periods]
    first, last = _range(said["x0"], said["x1"])
    return [Statement(subject=each, amount=amount) for each, amount in zip(subjects, (first, last), strict=True)]


def _range(low: Amount, high: Amount) -> tuple[Amount, Amount]:
    """Return two amounts of which the first may leave its scale and currency to the second."""
    if not low.scale and high.scale:
        low = low._replace(value=low.value.scaleb(high.scale), step=low.step.scaleb(high.scale), scale=high.scale)
    if low.currencies is None:
        low = low._replace(currencies=high.currencies)
    elif high.currencies is None:
        high = high._replace(currencies=low.currencies)
    return low, high


def _completed(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return statements whose subjects have what they left out: from the one before, else from the only one after."""
    filled: list[Statement] = []
    before = Subject()
    for place, statement in enumerate(statements):
        later = [other.subject for other in statements[place + 1 :]]
        only = Subject(_only(subject.ticker for subject in later), None, _only(subject.period for subject in later))
        subject = statement.subject.filled(before).filled(only)
        versus = statement.versus
        if versus is not None and (versus.ticker or versus.measure):
            versus = versus.filled(subject)
        filled.append(replace(statement, subject=subject, versus=versus))
        before = subject
    return tuple(filled)


def _only(values: Iterable[Any]) -> Any:
    found = {value for value in values if value is not None}
    return found.pop() if len(found) == 1 else None
