"""``sec_semantic_search``: sections of filings by their words. The name is the contract's; the ranking is lexical."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints, field_validator

from fingerpost.filings.library import FactLibrary
from fingerpost.filings.reply import Reply, nothing
from fingerpost.filings.texts import LEXICAL_NOTE, NO_TEXT_STEP, TextQuestion, count_sections, search
from fingerpost.filings.tools import sec_shapes as shape
from fingerpost.filings.tools.sec_params import Day, Ticker, Word
from fingerpost.filings.tools.sec_query import QueryTool, QueryType, StepParams

_WEIGHT_NOTE = "hybrid_search_weight changed nothing: there is no vector index here"
_DEFAULT_WEIGHT = 0.5


class SemanticSearchParams(StepParams):
    """What is searched for, and where."""

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


def _search(library: FactLibrary, params: SemanticSearchParams) -> Reply:
    """Return the sections nearest to a query."""
    nobody = f"No results found for query: {params.query}"
    if count_sections(library) == 0:
        told = {"reason": "not_loaded", "message": "no filing text was loaded", "next_step": NO_TEXT_STEP}
        raise nothing(nobody, {"text": told})
    question = TextQuestion(
        query=params.query,
        companies=params.companies or (),
        filing_types=params.filing_types or (),
        sections=params.sections or (),
        keywords=params.keywords or (),
        date_range=(params.date_range[0], params.date_range[1]) if params.date_range else None,
        top_k=params.top_k,
    )
    hits = search(library, question, params.as_of)
    if not hits:
        told = {
            "reason": "no_match",
            "message": "no loaded section shares a word with it",
            "next_step": LEXICAL_NOTE,
        }
        raise nothing(nobody, {"text": told})
    notes = [LEXICAL_NOTE]
    if params.hybrid_search_weight != _DEFAULT_WEIGHT:
        notes.append(_WEIGHT_NOTE)
    extra = {"query": params.query, "total_results": len(hits), "ranking": "lexical", "notes": notes}
    return Reply(hits, extra=extra)


def _tell_hits(body: Mapping[str, Any]) -> str:
    """Return the best sections and how they were found."""
    told = [
        f"{hit['metadata']['ticker'] or hit['metadata']['cik']} {hit['metadata']['filing_type']} of "
        f"{hit['metadata']['filing_date']}, {hit['metadata']['section']} ({hit['metadata']['accession_number']}, "
        f"score {hit['score']}): {hit['text']}"
        for hit in body["results"]
    ]
    return "\n".join([*told, *(f"({note}.)" for note in body["notes"])])


class SecSemanticSearch(QueryTool):
    """Text of filings."""

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
