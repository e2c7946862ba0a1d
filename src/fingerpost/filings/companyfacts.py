"""Parse EDGAR's ``companyfacts``, ``submissions`` and ``company_tickers`` files.

Each parser raises FeedUnusable if a part is missing or has another type.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from fingerpost.errors import FeedUnusable
from fingerpost.filings.figure import ANNUAL_FORMS, PERIODIC_FORMS, Fact, plain_number
from fingerpost.filings.periods import YEAR, class_of, day_number, name_years

# A year end that few of a filing's annual figures have is an error, or a joint venture's.
_COMMON_SHARE = 0.2
_MONEY_LETTERS = 3
# SQLite has no larger integer.
_MAX_VALUE = 2**63
_FILING_COLUMNS = (
    "accessionNumber", "form", "filingDate", "reportDate", "primaryDocument", "primaryDocDescription",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsFile:
    """One company's figures; ``fiscal_years`` has the name of each fiscal year by its end."""

    cik: int
    name: str
    facts: list[Fact]
    labels: dict[str, str]
    fiscal_years: dict[str, int]
    currency: str
    complete_through: str
    first_end: str


@dataclass(frozen=True, slots=True)
class Filing:
    accession: str
    form: str
    filed: str
    report_date: str
    document: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionsFile:
    """A company and its recent filings; ``is_complete`` is false if EDGAR has older pages."""

    cik: int
    name: str
    tickers: list[str]
    sic: str | None
    industry: str | None
    exchange: str | None
    filings: list[Filing]
    is_complete: bool


def parse_json(content: bytes, name: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        what = "a web page" if content.lstrip()[:1] == b"<" else "not JSON, or cut short"
        raise FeedUnusable(f"{name} is {what}") from error
    if not isinstance(found, dict):
        raise FeedUnusable(f"{name} is not a JSON object")
    return found


@contextmanager
def _expecting(kind: str, name: str) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FeedUnusable(f"{name} is not a {kind} file: {type(error).__name__} {error}") from error


def read_facts(raw: Mapping[str, Any], name: str) -> FactsFile:
    facts: dict[Fact, None] = {}
    years: list[tuple[str, int | None, str, str]] = []
    labels: dict[str, str] = {}
    with _expecting("companyfacts", name):
        for taxonomy, concepts in raw["facts"].items():
            for tag, described in concepts.items():
                concept = f"{taxonomy}:{tag}"
                labels[concept] = described.get("label") or tag
                for unit, rows in described["units"].items():
                    for row in rows:
                        start, end, form = row.get("start") or "", row["end"], row["form"]
                        accession, filed = row["accn"], row["filed"]
                        value = plain_number(row["val"])
                        facts[Fact._make((concept, unit, start, end, value, accession, form, filed))] = None
                        if form in ANNUAL_FORMS and class_of(start, end) == YEAR:
                            years.append((accession, row.get("fy"), filed, end))
        if not facts:
            raise FeedUnusable(f"{name} holds no facts")
        rows_ = list(facts)
        _check_facts(rows_)
        reports = set(map(itemgetter(6, 7), rows_))
        has_periodic = any(form in PERIODIC_FORMS for form, _ in reports)
        return FactsFile(
            cik=int(raw["cik"]),
            name=str(raw["entityName"]),
            facts=rows_,
            labels=labels,
            fiscal_years=_fiscal_years(years),
            currency=_currency(rows_),
            complete_through=max(filed for form, filed in reports if form in PERIODIC_FORMS or not has_periodic),
            first_end=min(map(itemgetter(3), rows_)),
        )


def _check_facts(facts: Sequence[Fact]) -> None:
    """Raise TypeError or ValueError if a day is no ISO day, a form or number no text, or a value no 64-bit number."""
    starts, ends, values, accessions, forms, filed = (map(itemgetter(column), facts) for column in range(2, 8))
    for day in ({*starts} - {""}) | {*ends, *filed}:
        day_number(day)
    for text in {*accessions, *forms}:
        if not isinstance(text, str):
            raise TypeError(f"{text!r} is no text")
    numbers = [*values]
    if not -_MAX_VALUE <= min(numbers) <= max(numbers) < _MAX_VALUE:
        raise ValueError(f"a value is not between {-_MAX_VALUE} and {_MAX_VALUE}")


def read_submissions(raw: Mapping[str, Any], name: str) -> SubmissionsFile:
    with _expecting("submissions", name):
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
        )


def read_tickers(raw: Mapping[str, Any], name: str) -> list[tuple[str, int, str]]:
    """Return (ticker, CIK, company name) of a ``company_tickers`` file."""
    with _expecting("company_tickers", name):
        return [(str(row["ticker"]), int(row["cik_str"]), str(row["title"])) for row in raw.values()]


def _fiscal_years(years: Iterable[tuple[str, int | None, str, str]]) -> dict[str, int]:
    by_filing: dict[tuple[str, str, int | None], Counter[str]] = defaultdict(Counter)
    for accession, year, filed, end in years:
        if end <= filed:
            by_filing[accession, filed, year][end] += 1
    reported = []
    for (_accession, filed, year), ends in by_filing.items():
        enough = max(ends.values()) * _COMMON_SHARE
        reported.append((max(end for end, count in ends.items() if count >= enough), filed, year))
    return name_years(reported)


def _currency(facts: Iterable[Fact]) -> str:
    counts = Counter(map(itemgetter(1), facts))
    for unit in [unit for unit in counts if len(unit) != _MONEY_LETTERS or not unit.isupper()]:
        del counts[unit]
    return min(counts, key=lambda unit: (-counts[unit], unit), default="USD")
