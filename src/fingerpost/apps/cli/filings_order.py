"""The order of the words of ``fingerpost filings``: what to type where they were typed in another one."""

import shlex
from collections.abc import Callable, Iterator, Sequence

from fingerpost.apps.cli.filings_words import read_period

_FILLERS = frozenset({"of", "for", "in", "the", "from", "at"})
_MOST_WORDS = 8
_ORDER = "A company comes first, then its figures, then the period"
_EXAMPLE = "fingerpost filings AAPL revenue 2022"


def say_order(words: Sequence[str], answers: Callable[[str, Sequence[str]], bool], *, is_unknown: bool) -> str | None:
    """Return what to type instead of some words that found nothing.

    Args:
        words: as they were typed.
        answers: whether a company and the words behind it are answered.
        is_unknown: whether the first word names no company.
    """
    for company, rest in _list_orders(words):
        if answers(company, rest):
            return f"{_ORDER}: {shlex.join(['fingerpost', 'filings', company, *rest])}"
    # Capitals are a ticker, which may only not have been loaded.
    return f"{_ORDER}: {_EXAMPLE}" if is_unknown and len(words) > 2 and not words[0].isupper() else None


def _list_orders(words: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the other ways to understand some words: each word, and each two, as the company."""
    if len(words) > _MOST_WORDS:
        return
    told = [word for word in words if word.lower() not in _FILLERS]
    periods = [word for word in told if read_period(word)]
    if len(periods) > 1:
        return
    others = [word for word in told if word not in periods]
    for length in (1, 2):
        for at in range(len(others) - length + 1):
            company = " ".join(others[at : at + length]).rstrip(",")
            rest = [*others[:at], *others[at + length :]]
            line = [*rest, *periods]
            if rest and [company, *line] != list(words):
                yield company, line
