"""``sec_semantic_search``: search sections of SEC filings by words; ranking is lexical despite the contract's name."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, field_validator

from fingerpost.filings.library import FactLibrary
from fingerpost.filings.period_filter import FIRST_DAY, LAST_DAY
from fingerpost.filings.query_params import Day, StepParams, Ticker, Word
from fingerpost.filings.reply import Reply, build_missing, build_not_found
from fingerpost.filings.tools import sec_shapes as shape
from fingerpost.filings.tools.sec_query import QueryTool, QueryType, define_query_tool

LEXICAL_NOTE = "Ranked by shared words (BM25), not by meaning: try other words for the same thing"
NO_TEXT_STEP = "Run: fingerpost filings load FILE with a filing's text, or fingerpost filings sync TICKER --text"

_SNIPPET_WORDS = 64
_METADATA_FIELDS = (
    "company", "ticker", "cik", "filing_type", "filing_date", "accession_number", "section", "section_type",
)  # fmt: skip
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
    def _check_date_range(cls, value: list[str] | None) -> list[str] | None:
        if value is not None and (len(value) != 2 or value[0] > value[1]):
            raise ValueError("date_range must be two dates, the first not after the second")
        return value


def _answer_search(library: FactLibrary, params: SemanticSearchParams) -> Reply:
    not_found = f"No results found for query: {params.query}"
    if not library.rows("SELECT 1 FROM sections LIMIT 1"):
        entry = build_missing("not_loaded", "no filing text was loaded", NO_TEXT_STEP)
        raise build_not_found(not_found, {"text": entry})
    phrases = [_split_words(word) for word in params.keywords or ()]
    match_terms = [f'"{" ".join(phrase)}"' for phrase in phrases if phrase]
    if words := dict.fromkeys(_split_words(params.query)):
        match_terms.append("(" + " OR ".join(f'"{word}"' for word in words) + ")")
    hits = _list_hits(library, params, " AND ".join(match_terms)) if match_terms else []
    if not hits:
        entry = build_missing("no_match", "no loaded section shares a word with it", LEXICAL_NOTE)
        raise build_not_found(not_found, {"text": entry})
    notes = [LEXICAL_NOTE] + [_WEIGHT_NOTE] * (params.hybrid_search_weight != _DEFAULT_WEIGHT)
    extra = {"query": params.query, "total_results": len(hits), "ranking": "lexical", "notes": notes}
    return Reply(hits, extra=extra)


def _list_hits(library: FactLibrary, params: SemanticSearchParams, match: str) -> list[dict[str, Any]]:
    where, values = _build_filters(library, params)
    rows = library.rows(
        "SELECT sections.id, -bm25(section_words), snippet(section_words, 1, '', '', ' … ', ?),"  # noqa: S608
        " companies.name, companies.ticker, sections.cik, sections.filing_type, sections.filing_date,"
        " sections.accession_number, sections.title, sections.section_type"
        " FROM section_words JOIN sections ON sections.id = section_words.rowid"
        " LEFT JOIN companies ON companies.cik = sections.cik"
        f" WHERE section_words MATCH ?{where} ORDER BY 2 DESC, sections.id LIMIT ?",
        _SNIPPET_WORDS,
        match,
        *values,
        params.top_k,
    )
    return [
        {
            "id": str(number),
            "score": round(score, 6),
            "text": text,
            "metadata": dict(zip(_METADATA_FIELDS, (name, ticker, f"{cik:010d}", *metadata), strict=True)),
        }
        for number, score, text, name, ticker, cik, *metadata in rows
    ]


def _build_filters(library: FactLibrary, params: SemanticSearchParams) -> tuple[str, list[Any]]:
    first, last = params.date_range or (FIRST_DAY, LAST_DAY)
    where = " AND sections.filing_date BETWEEN ? AND ?"
    values: list[Any] = [first, min(last, params.as_of or LAST_DAY)]
    ciks = [cik for company in params.companies for cik in _list_ciks(library, company)] if params.companies else None
    filters = {"filing_type": params.filing_types or None, "section_type": params.sections or None}
    for column, options in {"cik": ciks, **filters}.items():
        if options is not None:
            where += f" AND sections.{column} IN ({', '.join('?' * len(options))})"
            values += options
    return where, values


def _list_ciks(library: FactLibrary, text: str) -> list[int]:
    """Return the CIKs of a company by ticker, CIK or name, or of a ticker without figures."""
    company = library.find_company(text)
    return [cik for cik, _name in library.list_ticker_owners(text)] if company is None else library.list_ciks(company)


def _split_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _format_hits(body: Mapping[str, Any]) -> str:
    lines = [
        f"{hit['metadata']['ticker'] or hit['metadata']['cik']} {hit['metadata']['filing_type']} of "
        f"{hit['metadata']['filing_date']}, {hit['metadata']['section']} ({hit['metadata']['accession_number']}, "
        f"score {hit['score']}): {hit['text']}"
        for hit in body["results"]
    ]
    return "\n".join([*lines, *(f"({note}.)" for note in body["notes"])])


_QUERIES: tuple[QueryType[FactLibrary, Any], ...] = (
    QueryType(
        name="semantic_search",
        params=SemanticSearchParams,
        answer=_answer_search,
        shape=shape.SearchAnswer,
        results=list[shape.Hit],
        text=_format_hits,
        continuation_hint="Use a smaller top_k, or narrow the search by companies, sections or date_range.",
        usage="semantic_search {query, companies, filing_types, date_range, sections, keywords, top_k}",
    ),
)


class SecSemanticSearch(QueryTool):
    queries = _QUERIES
    definition = define_query_tool(
        "sec_semantic_search",
        "Search filing text",
        _QUERIES,
        intro=(
            "Sections of SEC filings that share words with a query, ranked by BM25: lexical, so try synonyms. "
            "query_type "
        ),
        outro=". Only text that was loaded is searched. For numbers take sec_financial_data.",
    )
