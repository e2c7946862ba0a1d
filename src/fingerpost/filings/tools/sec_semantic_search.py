"""``sec_semantic_search``: sections of filings by their words. The name is the contract's; the ranking is lexical."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints, field_validator

from fingerpost.filings.library import FactLibrary
from fingerpost.filings.reasons import NOT_LOADED, missing_entry
from fingerpost.filings.reply import Reply, nothing
from fingerpost.filings.store import plain_ticker
from fingerpost.filings.tools import sec_shapes as shape
from fingerpost.filings.tools.sec_params import Day, Ticker, Word
from fingerpost.filings.tools.sec_query import QueryTool, QueryType, StepParams

LEXICAL_NOTE = "Ranked by shared words (BM25), not by meaning: try other words for the same thing"
NO_TEXT_STEP = "Run: fingerpost filings load FILE with a filing's text, or fingerpost filings sync TICKER --text"

_SNIPPET_WORDS = 64


_WEIGHT_NOTE = "hybrid_search_weight changed nothing: there is no vector index here"
_DEFAULT_WEIGHT = 0.5


class SemanticSearchParams(StepParams):
    query: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
    companies: list[Ticker] | None = None
    top_k: Annotated[int, Field(gt=0, le=100)] = 5
    filing_types: list[Literal["10-K", "10-Q", "8-K", "S-1", "S-4", "20-F", "40-F", "6-K"]] | None = None
    date_range: Annotated[list[Day] | None, Field(description="first and last filing day")] = None
    sections: Annotated[list[Word] | None, Field(description="section types such as risk_factors")] = None
    keywords: Annotated[list[Word] | None, Field(description="words that must be there")] = None
    hybrid_search_weight: Annotated[float, Field(ge=0, le=1)] = _DEFAULT_WEIGHT
    as_of: Day | None = None

    @field_validator("date_range")
    @classmethod
    def _two_days(cls, value: list[str] | None) -> list[str] | None:
        if value is not None and (len(value) != 2 or value[0] > value[1]):
            raise ValueError("date_range must be two days, the first not after the second")
        return value


def search(library: FactLibrary, question: SemanticSearchParams) -> list[dict[str, Any]]:
    """Return the sections that share the most telling words with a query, best first; ``score`` grows with likeness."""
    words = _words(question.query)
    must = [f'"{_quoted(word)}"' for word in question.keywords or () if _words(word)]
    if not words and not must:
        return []
    wanted = " OR ".join(f'"{word}"' for word in words)
    match = " AND ".join([*must, *([f"({wanted})"] if wanted else [])])
    where, values = _filters(library, question)
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


def _filters(library: FactLibrary, question: SemanticSearchParams) -> tuple[str, list[Any]]:
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
    if question.date_range:
        where += " AND sections.filing_date BETWEEN ? AND ?"
        values += question.date_range
    if question.as_of is not None:
        where += " AND sections.filing_date <= ?"
        values.append(question.as_of)
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


def _search(library: FactLibrary, params: SemanticSearchParams) -> Reply:
    not_found = f"No results found for query: {params.query}"
    if not library.rows("SELECT 1 FROM sections LIMIT 1"):
        entry = missing_entry(NOT_LOADED, "no filing text was loaded", NO_TEXT_STEP)
        raise nothing(not_found, {"text": entry})
    hits = search(library, params)
    if not hits:
        entry = missing_entry("no_match", "no loaded section shares a word with it", LEXICAL_NOTE)
        raise nothing(not_found, {"text": entry})
    notes = [LEXICAL_NOTE]
    if params.hybrid_search_weight != _DEFAULT_WEIGHT:
        notes.append(_WEIGHT_NOTE)
    extra = {"query": params.query, "total_results": len(hits), "ranking": "lexical", "notes": notes}
    return Reply(hits, extra=extra)


def _tell_hits(body: Mapping[str, Any]) -> str:
    told = [
        f"{hit['metadata']['ticker'] or hit['metadata']['cik']} {hit['metadata']['filing_type']} of "
        f"{hit['metadata']['filing_date']}, {hit['metadata']['section']} ({hit['metadata']['accession_number']}, "
        f"score {hit['score']}): {hit['text']}"
        for hit in body["results"]
    ]
    return "\n".join([*told, *(f"({note}.)" for note in body["notes"])])


class SecSemanticSearch(QueryTool):
    name = "sec_semantic_search"
    title = "Search filing text"
    queries: ClassVar[tuple[QueryType[FactLibrary, Any], ...]] = (
        QueryType(
            name="semantic_search",
            params=SemanticSearchParams,
            answer=_search,
            output=shape.SearchAnswer,
            text=_tell_hits,
            rest="Ask with a smaller top_k, or narrow it by companies, sections or date_range.",
            usage="semantic_search {query, companies, filing_types, date_range, sections, keywords, top_k}",
        ),
    )
    intro = (
        "Sections of SEC filings that share words with a query, ranked by BM25: lexical, so try synonyms. query_type "
    )
    outro = ". Only text that was loaded is searched. For numbers take sec_financial_data."
