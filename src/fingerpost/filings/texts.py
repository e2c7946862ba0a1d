"""Text of filings: sections that were loaded, found by words (SQLite full-text search, BM25), not by meaning."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fingerpost.filings.library import FactLibrary
from fingerpost.filings.store import plain_ticker

LEXICAL_NOTE = "Ranked by shared words (BM25), not by meaning: try other words for the same thing"
NO_TEXT_STEP = "Run: fingerpost filings load FILE with a filing's text, or fingerpost filings sync TICKER --text"

_SNIPPET_WORDS = 64


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
    where, values = _filters(library, question, as_of)
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


def _filters(library: FactLibrary, question: TextQuestion, as_of: str | None) -> tuple[str, list[Any]]:
    where = ""
    values: list[Any] = []
    if question.companies:
        ciks = [cik for company in question.companies for cik in _ciks_of(library, company)]
        where += f" AND sections.cik IN ({', '.join('?' * len(ciks))})"
        values += ciks
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


def _ciks_of(library: FactLibrary, text: str) -> list[int]:
    """Return the CIKs of a company by ticker, CIK or name; of one without figures, those of its ticker."""
    company = library.find_company(text)
    if company is not None:
        return library.list_ciks(company)
    return [cik for (cik,) in library.rows("SELECT cik FROM tickers WHERE ticker = ?", plain_ticker(text))]


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"\w+", text.lower())))


def _quoted(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
