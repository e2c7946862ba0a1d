"""Parse EDGAR's ``companyfacts``, ``submissions`` and ``company_tickers`` files.

Each parser raises FeedUnusable if a field is missing or has the wrong type.
"""

import gc
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import Any

from pydantic_core import from_json

from fingerpost.contract.wire import simplify_number
from fingerpost.errors import FeedUnusable
from fingerpost.filings.figure import ANNUAL_FORMS, PERIODIC_FORMS, Fact, Filing
from fingerpost.filings.periods import YEAR, assign_fiscal_years, classify_period, day_number, find_newest_common
from fingerpost.runtime.company_names import build_name_key

_CURRENCY_CODE_LENGTH = 3
# Faster than ``Fact._make``, which also checks the number of values.
_new_fact: Callable[[tuple[Any, ...]], Fact] = partial(tuple.__new__, Fact)
# SQLite integers are 64-bit.
_MAX_INTEGER = 2**63
_FILING_COLUMNS = (
    "accessionNumber", "form", "filingDate", "reportDate", "primaryDocument", "primaryDocDescription",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsFile:
    """One company's facts; ``fiscal_years`` maps year ends to fiscal years."""

    cik: int
    name: str
    facts: list[Fact]
    labels: dict[str, str]
    fiscal_years: dict[str, int]
    currency: str
    complete_through: str
    first_end: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionsFile:
    """A company and its recent filings; ``is_complete`` is false if EDGAR lists older filings in other files.

    ``name_changes`` lists the last day on which each former name was used.
    """

    cik: int
    name: str
    tickers: list[str]
    sic: str | None
    industry: str | None
    exchange: str | None
    filings: list[Filing]
    is_complete: bool
    name_changes: list[str]


def parse_json(content: bytes, name: str) -> dict[str, Any]:
    try:
        # Large files repeat strings, so cache them. Reject NaN, which JSON does not allow and SQLite stores as NULL.
        parsed = from_json(content, allow_inf_nan=False, cache_strings="all")
    except ValueError as error:
        actual_format = "a web page" if content.lstrip()[:1] == b"<" else "not JSON, or truncated"
        raise FeedUnusable(f"{name} is {actual_format}") from error
    if not isinstance(parsed, dict):
        raise FeedUnusable(f"{name} is not a JSON object")
    return parsed


@contextmanager
def _raising_feed_unusable(kind: str, name: str) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FeedUnusable(f"{name} is not a {kind} file: {type(error).__name__} {error}") from error


def read_facts(raw: Mapping[str, Any], name: str) -> FactsFile:
    facts: dict[Fact, None] = {}
    year_ends: dict[tuple[str, str, int | None], Counter[str]] = defaultdict(Counter)
    labels: dict[str, str] = {}
    with _raising_feed_unusable("companyfacts", name), ExitStack() as stack:
        # The garbage collector would repeatedly scan a large file's facts for cycles.
        gc.disable()
        stack.callback(gc.enable)
        for taxonomy, concepts in raw["facts"].items():
            for tag, details in concepts.items():
                concept = f"{taxonomy}:{tag}"
                labels[concept] = details.get("label") or tag
                for unit, rows in details["units"].items():
                    for row in rows:
                        start = row.get("start") or ""
                        end, form, accession, filed = row["end"], row["form"], row["accn"], row["filed"]
                        value = simplify_number(row["val"])
                        facts[_new_fact((concept, unit, start, end, value, accession, form, filed))] = None
                        if form in ANNUAL_FORMS and classify_period(start, end) == YEAR and end <= filed:
                            year_ends[accession, filed, row.get("fy")][end] += 1
        if not facts:
            raise FeedUnusable(f"{name} contains no facts")
        unique_facts = list(facts)
        _check_facts(unique_facts)
        reports = set(map(itemgetter(6, 7), unique_facts))
        has_periodic = any(form in PERIODIC_FORMS for form, _ in reports)
        return FactsFile(
            cik=int(raw["cik"]),
            name=str(raw["entityName"]),
            facts=unique_facts,
            labels=labels,
            fiscal_years=assign_fiscal_years(
                (find_newest_common(ends), filed, year) for (_, filed, year), ends in year_ends.items()
            ),
            currency=_find_main_currency(unique_facts),
            complete_through=max(filed for form, filed in reports if form in PERIODIC_FORMS or not has_periodic),
            first_end=min(map(itemgetter(3), unique_facts)),
        )


def _check_facts(facts: Sequence[Fact]) -> None:
    """Raise TypeError or ValueError for invalid dates, forms or accession numbers, or values beyond 64 bits."""
    starts, ends, values, accessions, forms, filed = (map(itemgetter(column), facts) for column in range(2, 8))
    for day in ({*starts} - {""}) | {*ends, *filed}:
        day_number(day)
    for text in {*accessions, *forms}:
        if not isinstance(text, str):
            raise TypeError(f"{text!r} is not a string")
    numbers = [*values]
    if not -_MAX_INTEGER <= min(numbers) <= max(numbers) < _MAX_INTEGER:
        raise ValueError(f"a value is not between {-_MAX_INTEGER} and {_MAX_INTEGER}")


def read_submissions(raw: Mapping[str, Any], name: str) -> SubmissionsFile:
    with _raising_feed_unusable("submissions", name):
        recent = raw["filings"]["recent"]
        rows = zip(*(recent[column] for column in _FILING_COLUMNS), strict=True)
        return SubmissionsFile(
            cik=int(raw["cik"]),
            name=str(raw["name"]),
            tickers=[str(ticker) for ticker in raw.get("tickers") or ()],
            sic=raw.get("sic") or None,
            industry=raw.get("sicDescription") or None,
            exchange=next((exchange for exchange in raw.get("exchanges") or () if exchange), None),
            filings=[Filing(*(str(cell) for cell in row)) for row in rows],
            is_complete=not raw["filings"].get("files"),
            name_changes=_find_name_changes(str(raw["name"]), raw.get("formerNames") or ()),
        )


def _find_name_changes(name: str, former_names: Iterable[Mapping[str, str]]) -> list[str]:
    """Return the dates on which the name itself changed, not just its spelling or legal form."""
    ends = sorted((str(former["to"])[:10], build_name_key(str(former["name"]))) for former in former_names)
    names = [*ends, ("", build_name_key(name))]
    return [day for (day, key), (_, next_key) in pairwise(names) if key != next_key and day_number(day)]


TickerList = list[tuple[str, int, str]]
"""Tickers, each with its CIK and company name."""


def read_tickers(raw: Mapping[str, Any], name: str) -> TickerList:
    with _raising_feed_unusable("company_tickers", name):
        if not raw:
            raise FeedUnusable(f"{name} is empty")
        return [(str(row["ticker"]), int(row["cik_str"]), str(row["title"])) for row in raw.values()]


def read_json_file(content: bytes, name: str) -> FactsFile | SubmissionsFile | TickerList:
    raw = parse_json(content, name)
    if "facts" in raw:
        return read_facts(raw, name)
    if "filings" in raw:
        return read_submissions(raw, name)
    if "accessionNumber" in raw:
        raise FeedUnusable(f"{name} is an older page of a filing list; only the newest page can be loaded")
    return read_tickers(raw, name)


def _find_main_currency(facts: Iterable[Fact]) -> str:
    counts = Counter(map(itemgetter(1), facts))
    currencies = [unit for unit in counts if len(unit) == _CURRENCY_CODE_LENGTH and unit.isupper()]
    return min(currencies, key=lambda unit: (-counts[unit], unit), default="USD")
