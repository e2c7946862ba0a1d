"""``sec_semantic_search``: search filing paragraphs by keyword; despite its name, the ranking is lexical."""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, field_validator

from fingerpost.filings.library import FactLibrary
from fingerpost.filings.period_filter import FIRST_DAY, LAST_DAY
from fingerpost.filings.query_params import Day, StepParams, Ticker, Word
from fingerpost.filings.reasons import explain_missing_ticker
from fingerpost.filings.reply import Reply, build_missing, build_not_found
from fingerpost.filings.tools import sec_shapes as shape
from fingerpost.filings.tools.sec_query import QueryTool, QueryType, define_query_tool
from fingerpost.runtime.company_names import WELL_KNOWN, build_name_key

LEXICAL_NOTE = "Ranked by shared words (BM25), not by meaning: try synonyms"
NO_TEXT_STEP = "Run: fingerpost filings load FILE with a filing's text, or fingerpost filings sync TICKER --text"

# A title counts half as much as a paragraph, because it names the subject of every paragraph below it.
_HITS = """
    SELECT paragraph_words.rowid, -bm25(paragraph_words, 0.5, 1.0) AS score, paragraph_words.text, companies.name,
        ticker, cik, filing_type, filing_date, accession_number, sections.title, section_type
    FROM paragraph_words JOIN paragraphs ON paragraphs.id = paragraph_words.rowid
    JOIN sections ON sections.id = paragraphs.section LEFT JOIN companies USING (cik)
    WHERE paragraph_words MATCH ?1 AND filing_date BETWEEN ?2 AND ?3
        AND (?4 IS NULL OR cik IN (SELECT value FROM json_each(?4)))
        AND (?5 IS NULL OR filing_type IN (SELECT value FROM json_each(?5)))
        AND (?6 IS NULL OR section_type IN (SELECT value FROM json_each(?6)))
    ORDER BY score DESC, paragraphs.id LIMIT ?7
"""
# Some of these words are rare in filings, so BM25 would give them the weight of rare topics.
_QUESTION_WORDS = frozenset(Path(__file__).with_name("question_words.txt").read_text(encoding="utf-8").split())
_MAX_NAME_WORDS = 4
_METADATA_FIELDS = (
    "company", "ticker", "cik", "filing_type", "filing_date", "accession_number", "section", "section_type",
)  # fmt: skip


class SemanticSearchParams(StepParams):
    query: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
    companies: list[Ticker] | None = None
    top_k: Annotated[int, Field(gt=0, le=100)] = 5
    filing_types: list[Literal["10-K", "10-Q", "8-K", "S-1", "S-4", "20-F", "40-F", "6-K"]] | None = None
    date_range: Annotated[list[Day] | None, Field(description="first and last filing day")] = None
    sections: Annotated[list[Word] | None, Field(description="section types such as risk_factors")] = None
    keywords: Annotated[list[Word] | None, Field(description="words that must occur")] = None
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
        entry = build_missing("not_loaded", "no filing text is loaded", NO_TEXT_STEP)
        raise build_not_found(not_found, {"text": entry})
    by_company = {company: library.find_ciks(company) for company in params.companies or ()}
    unknown = [company for company, ciks in by_company.items() if not ciks]
    if unknown and len(unknown) == len(by_company):
        missing = {company: explain_missing_ticker(library, company) for company in unknown}
        raise build_not_found(not_found, missing)
    ciks = [cik for ciks in by_company.values() for cik in ciks] or None
    phrases = [_split_words(word) for word in params.keywords or ()]
    match_terms = [f'"{" ".join(phrase)}"' for phrase in phrases if phrase]
    if words := _choose_words(params.query, _list_names(library, ciks or ())):
        match_terms.append("(" + " OR ".join(f'"{word}"' for word in words) + ")")
    hits = _list_hits(library, params, ciks, " AND ".join(match_terms)) if match_terms else []
    if not hits:
        entry = build_missing("no_match", "no loaded section shares a word with the query", LEXICAL_NOTE)
        raise build_not_found(not_found, {"text": entry})
    notes = [LEXICAL_NOTE]
    if unknown:
        notes.append(f"Not searched, because no loaded company has that name: {', '.join(unknown)}")
    return Reply(hits, extra={"query": params.query, "total_results": len(hits), "ranking": "lexical"}, notes=notes)


def _list_hits(
    library: FactLibrary, params: SemanticSearchParams, ciks: list[int] | None, match: str
) -> list[dict[str, Any]]:
    first, last = params.date_range or (FIRST_DAY, LAST_DAY)
    lists = [None if not each else json.dumps(each) for each in (ciks, params.filing_types, params.sections)]
    rows = library.rows(_HITS, match, first, min(last, params.as_of or LAST_DAY), *lists, params.top_k)
    return [
        {
            "id": str(number),
            "score": round(score, 6),
            "text": text,
            "metadata": dict(zip(_METADATA_FIELDS, (name, ticker, f"{cik:010d}", *metadata), strict=True)),
        }
        for number, score, text, name, ticker, cik, *metadata in rows
    ]


def _list_names(library: FactLibrary, ciks: Iterable[int]) -> set[str]:
    """Return the companies' tickers and names, in lower case and without spaces."""
    names = set()
    for cik in ciks:
        query = "SELECT ticker, name FROM companies WHERE cik = ?1 UNION SELECT ticker, name FROM listed WHERE cik = ?1"
        for ticker, name in library.rows(query, cik):
            names |= {ticker.lower(), build_name_key(name)}
            names |= {known for known, its_ticker in WELL_KNOWN.items() if its_ticker == ticker}
    return names


def _choose_words(query: str, names: Collection[str]) -> list[str]:
    """Return the distinct words in a query, except question words and the names of the companies being searched.

    A company's name rarely occurs outside its own filings, so BM25 would rank paragraphs mainly by the name.
    """
    words = _split_words(query)
    remaining = [word for word in words if word not in _QUESTION_WORDS]
    subjects: list[str] = []
    while remaining:
        lengths = range(min(_MAX_NAME_WORDS, len(remaining)), 0, -1)
        name_length = next((length for length in lengths if "".join(remaining[:length]) in names), 0)
        subjects += remaining[: 1 - bool(name_length)]
        remaining = remaining[name_length or 1 :]
    return list(dict.fromkeys(subjects or words))


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


_QUERIES = (
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
            "Paragraphs of SEC filings that share words with a query, ranked by BM25: lexical, so try synonyms. "
            "query_type "
        ),
        outro=". Only loaded text is searched. For numbers use sec_financial_data.",
    )
