"""Text of filings: sections that were loaded, found by words (SQLite full-text search, BM25), not by meaning."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fingerpost.filings.library import FactLibrary
from fingerpost.filings.store import Section, plain_ticker

LEXICAL_NOTE = "Ranked by shared words (BM25), not by meaning: try other words for the same thing"
NO_TEXT_STEP = "Run: fingerpost filings load FILE with a filing's text, or fingerpost filings sync TICKER --text"

_SNIPPET_WORDS = 64
_ITEM = re.compile(r"^[ \t]*(item\s+\d{1,2}[a-c]?)[.:\s\u2014\u2013-]+(\S[^\n]{0,120})$", re.IGNORECASE | re.MULTILINE)
_TYPES = (
    ("risk", "risk_factors"), ("management", "mdna"), ("legal", "legal_proceedings"), ("business", "business"),
    ("financial statements", "financial_statements"), ("quantitative", "market_risk"), ("controls", "controls"),
    ("properties", "properties"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TextQuestion:
    """What is searched for, and where."""

    query: str
    companies: Sequence[str] = ()
    filing_types: Sequence[str] = ()
    sections: Sequence[str] = ()
    keywords: Sequence[str] = ()
    date_range: tuple[str, str] | None = None
    top_k: int = 5


def split_sections(cik: int, accession: str, form: str, filed: str, text: str) -> list[Section]:
    """Return a filing's plain text cut at its items; a text without items is one section."""
    marks = list(_ITEM.finditer(text))
    if not marks:
        return [
            Section(
                cik=cik,
                accession=accession,
                form=form,
                filed=filed,
                section_type="full_text",
                title="Full text",
                text=text.strip(),
            )
        ]
    sections = []
    for place, mark in enumerate(marks):
        end = marks[place + 1].start() if place + 1 < len(marks) else len(text)
        title = " ".join(mark[2].split()).rstrip(".")
        sections.append(
            Section(
                cik=cik,
                accession=accession,
                form=form,
                filed=filed,
                section_type=_type_of(title),
                title=f"{mark[1].title()}. {title}",
                text=text[mark.end() : end].strip(),
            )
        )
    return sections


def count_sections(library: FactLibrary) -> int:
    """Return how many sections there are to search."""
    found: int = library.rows("SELECT count(*) FROM sections")[0][0]
    return found


def search(library: FactLibrary, question: TextQuestion, as_of: str | None = None) -> list[dict[str, Any]]:
    """Return the sections that share the most telling words with a query, best first; ``score`` grows with likeness."""
    words = _words(question.query)
    must = [f'"{_quoted(word)}"' for word in question.keywords if _words(word)]
    if not words and not must:
        return []
    wanted = " OR ".join(f'"{word}"' for word in words)
    match = " AND ".join([*must, *([f"({wanted})"] if wanted else [])])
    where, values = _filters(question, as_of)
    rows = library.rows(
        "SELECT sections.id, -bm25(section_words), snippet(section_words, 1, '', '', ' … ', ?),"  # noqa: S608
        " companies.name, companies.ticker, sections.filing_type, sections.filing_date, sections.accession_number,"
        " sections.title, sections.section_type, sections.cik"
        " FROM section_words JOIN sections ON sections.id = section_words.rowid"
        " LEFT JOIN companies ON companies.cik = sections.cik"
        f" WHERE section_words MATCH ?{where} ORDER BY 2 DESC, sections.id LIMIT ?",
        _SNIPPET_WORDS,
        match,
        *values,
        question.top_k,
    )
    return [
        {
            "id": str(number),
            "score": round(score, 6),
            "text": text,
            "metadata": {
                "company": name,
                "ticker": ticker,
                "cik": f"{cik:010d}",
                "filing_type": form,
                "filing_date": filed,
                "accession_number": accession,
                "section": title,
                "section_type": kind,
            },
        }
        for number, score, text, name, ticker, form, filed, accession, title, kind, cik in rows
    ]


def _filters(question: TextQuestion, as_of: str | None) -> tuple[str, list[Any]]:
    where, values = "", []
    if question.companies:
        marks = ", ".join("?" * len(question.companies))
        where += f" AND sections.cik IN (SELECT cik FROM tickers WHERE ticker IN ({marks}))"  # noqa: S608
        values += [plain_ticker(company) for company in question.companies]
    for column, wanted in (("filing_type", question.filing_types), ("section_type", question.sections)):
        if wanted:
            where += f" AND sections.{column} IN ({', '.join('?' * len(wanted))})"
            values += list(wanted)
    if question.date_range is not None:
        where += " AND sections.filing_date BETWEEN ? AND ?"
        values += list(question.date_range)
    if as_of is not None:
        where += " AND sections.filing_date <= ?"
        values.append(as_of)
    return where, values


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"\w+", text.lower())))


def _quoted(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _type_of(title: str) -> str:
    lowered = title.lower()
    return next((kind for word, kind in _TYPES if word in lowered), "other")
