"""``sec_graph_query``: a company's filings, their sections and text, and the companies that they mention."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from fingerpost.filings.companyfacts import Filing
from fingerpost.filings.figure import ANNUAL_FORMS, FigureOptions, cite_filing
from fingerpost.filings.library import CompanyFigures, FactLibrary
from fingerpost.filings.query_params import Day, StepParams, Ticker, Word
from fingerpost.filings.reasons import open_company, suggest_load
from fingerpost.filings.reply import Reply, build_missing, build_not_found
from fingerpost.filings.tools import sec_shapes as shape
from fingerpost.filings.tools.filing_text import FilingTextParams, format_filing_text, read_filing_text
from fingerpost.filings.tools.sec_query import QueryTool, QueryType, define_query_tool
from fingerpost.filings.tools.sec_semantic_search import NO_TEXT_STEP
from fingerpost.filings.tools.sec_text import format_rows

Limit = Annotated[int, Field(ge=1, le=1000)]
_COMPANY_SUFFIXES = re.compile(r"[,.]|\b(inc|corp|corporation|co|company|plc|ltd|holdings|group|the)\b", re.IGNORECASE)
_NO_TEXT = build_missing("not_loaded", "its text is not loaded", NO_TEXT_STEP)


class CompanyFilingsParams(StepParams):
    ticker: Ticker
    filing_types: Annotated[list[Word] | None, Field(description="such as 10-K; defaults to all")] = None
    limit: Limit = 10
    as_of: Day | None = None


class FilingTimelineParams(StepParams):
    ticker: Ticker
    filing_type: Word = "10-K"
    limit: Limit = 10
    as_of: Day | None = None


class FilingSectionsParams(StepParams):
    accession_number: Word
    section_types: list[Word] | None = None
    limit: Limit = 50


class RelatedCompaniesParams(StepParams):
    """Parameters of related_companies; MENTIONS in filing text is the only relationship."""

    ticker: Ticker
    relationship_type: Annotated[str, Field(pattern="^MENTIONS$")] = "MENTIONS"
    limit: Limit = 10


def _answer_company_filings(library: FactLibrary, params: CompanyFilingsParams) -> Reply:
    return _list_filings(library, params, {form.upper() for form in params.filing_types or ()})


def _answer_filing_timeline(library: FactLibrary, params: FilingTimelineParams) -> Reply:
    reply = _list_filings(library, params, {params.filing_type.upper()})
    common_fields = ("filing_type", "description")
    reply.results = [{key: row[key] for key in row if key not in common_fields} for row in reversed(reply.results)]
    return reply


def _list_filings(library: FactLibrary, params: CompanyFilingsParams | FilingTimelineParams, forms: set[str]) -> Reply:
    options = FigureOptions(as_of=params.as_of)
    source = open_company(library, params.ticker, f"No filings found for {params.ticker}", options)
    company = source.company
    rows = [
        _build_filing_row(source, cik, filing)
        for cik, filing in library.list_filings(company)
        if (not forms or filing.form.upper() in forms) and (params.as_of is None or filing.filed <= params.as_of)
    ]
    if not rows:
        qualifier = f" of type {', '.join(sorted(forms))}" if forms else ""
        entry = build_missing("not_loaded", f"none{qualifier} is loaded", suggest_load(company.ticker))
        raise build_not_found(f"No filings found for {company.ticker}", {"filings": entry}, source.provenance)
    reply = Reply(rows[: params.limit], extra={"total_results": len(rows)})
    notes = {cik: _describe_coverage(library, cik) for cik in library.list_ciks(company)}
    gaps = [f"CIK {cik}: {note}" if len(notes) > 1 else note for cik, note in notes.items() if note is not None]
    if gaps:
        reply.extra["notes"] = gaps
    return reply


def _describe_coverage(library: FactLibrary, cik: int) -> str | None:
    filing_list = library.find_filing_list(cik)
    if filing_list is None:
        return "These are only the filings with loaded figures, because the company's list of filings is not loaded"
    is_complete, oldest = filing_list
    return None if is_complete else f"The loaded list goes back to {oldest}; older filings exist"


def _build_filing_row(source: CompanyFigures, cik: int, filing: Filing) -> dict[str, Any]:
    year, quarter = source.calendar.find_period(filing.report_date) if filing.report_date else (None, None)
    is_annual = filing.form in ANNUAL_FORMS
    is_periodic = year is not None and (is_annual or filing.form.startswith("10-Q"))
    return {
        **cite_filing(cik, filing.accession, filing.form, filing.filed),
        "fiscal_year": year if is_periodic else None,
        "fiscal_period": ("FY" if is_annual else f"Q{quarter}") if is_periodic else None,
        "report_date": filing.report_date or None,
        "description": filing.description or None,
    }


def _answer_filing_sections(library: FactLibrary, params: FilingSectionsParams) -> Reply:
    query = "SELECT title, section_type, position FROM sections WHERE accession_number = ? ORDER BY position"
    sections = [
        {"title": title, "section_type": kind, "order": position}
        for title, kind, position in library.rows(query, params.accession_number)
        if not params.section_types or kind in params.section_types
    ]
    if not sections:
        raise build_not_found(f"No sections found for {params.accession_number}", {"sections": _NO_TEXT})
    return Reply(sections[: params.limit])


def _answer_related_companies(library: FactLibrary, params: RelatedCompaniesParams) -> Reply:
    not_found = f"No related companies found for {params.ticker}"
    company = open_company(library, params.ticker, not_found).company
    own_ciks = library.list_ciks(company)
    texts = [text for cik in own_ciks for (text,) in library.rows("SELECT text FROM sections WHERE cik = ?", cik)]
    if not texts:
        raise build_not_found(not_found, {"text": _NO_TEXT})
    text = "\n".join(texts)
    rows: list[dict[str, Any]] = []
    for other in library.list_companies():
        short_name = _COMPANY_SUFFIXES.sub("", other.name).strip()
        if other.cik in own_ciks or not short_name:
            continue
        count = len(re.findall(rf"\b{re.escape(short_name)}\b", text, re.IGNORECASE))
        if count:
            rows.append({"ticker": other.ticker, "name": other.name, "mention_count": count})
    if not rows:
        entry = build_missing("not_reported", "its text names no company with loaded figures", "Load more companies")
        raise build_not_found(not_found, {"text": entry})
    rows.sort(key=lambda row: (-row["mention_count"], row["ticker"]))
    note = "Only companies with loaded figures are searched for, by name"
    return Reply(rows[: params.limit], extra={"notes": [note]})


def _answer_section_types(library: FactLibrary, _params: StepParams) -> Reply:
    rows = library.rows("SELECT section_type, count(*) FROM sections GROUP BY 1 ORDER BY 2 DESC, 1")
    if not rows:
        raise build_not_found("No section types found", {"sections": _NO_TEXT})
    return Reply([{"section_type": kind, "count": count} for kind, count in rows])


def _format_filing(row: Mapping[str, Any]) -> str:
    period = f", fiscal {row['fiscal_year']} {row['fiscal_period'] or ''}".rstrip() if row["fiscal_year"] else ""
    report = f", period to {row['report_date']}" if row["report_date"] else ""
    description = f": {row['description']}" if row.get("description") else ""
    form = f"{row['filing_type']} of " if "filing_type" in row else ""
    return f"{form}{row['filing_date']}, {row['accession_number']}{period}{report}{description}"


_QUERIES: tuple[QueryType[FactLibrary, Any], ...] = (
    QueryType(
        name="company_filings",
        params=CompanyFilingsParams,
        answer=_answer_company_filings,
        shape=shape.CountedAnswer,
        results=list[shape.FilingRow],
        text=format_rows(_format_filing),
        continuation_hint="For the rest, set as_of to the filing_date of the last row.",
        usage="company_filings {ticker, filing_types, limit}, newest first",
    ),
    QueryType(
        name="filing_timeline",
        params=FilingTimelineParams,
        answer=_answer_filing_timeline,
        shape=shape.CountedAnswer,
        results=list[shape.TimelineRow],
        text=format_rows(_format_filing),
        continuation_hint="Use a smaller limit, and as_of.",
        usage="filing_timeline {ticker, filing_type}, oldest first",
    ),
    QueryType(
        name="filing_sections",
        params=FilingSectionsParams,
        answer=_answer_filing_sections,
        results=list[shape.SectionRow],
        text=format_rows(lambda row: f"{row['order']}. {row['title']} ({row['section_type']})"),
        continuation_hint="Name section_types.",
        usage="filing_sections {accession_number}",
    ),
    QueryType(
        name="filing_text",
        params=FilingTextParams,
        answer=read_filing_text,
        results=list[shape.TextRow],
        text=format_filing_text,
        usage="filing_text {ticker or accession_number, form, item: 1A or 2.02, page}, the text",
    ),
    QueryType(
        name="related_companies",
        params=RelatedCompaniesParams,
        answer=_answer_related_companies,
        results=list[shape.RelatedRow],
        text=format_rows(lambda row: f"{row['name']} ({row['ticker']}), {row['mention_count']} times"),
        usage="related_companies {ticker}",
    ),
    QueryType(
        name="section_types",
        params=StepParams,
        answer=_answer_section_types,
        results=list[shape.SectionTypeRow],
        text=format_rows(lambda row: f"{row['section_type']}: {row['count']}"),
        usage="section_types",
    ),
)


class SecGraphQuery(QueryTool):
    queries = _QUERIES
    definition = define_query_tool(
        "sec_graph_query",
        "Company filings",
        _QUERIES,
        intro="A company's filings with the SEC. query_type ",
        outro=" (the last four need loaded filing text). For figures use sec_financial_data.",
        # Companies that are not loaded are fetched from EDGAR.
        open_world=True,
    )
