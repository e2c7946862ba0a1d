"""``sec_graph_query``: a company's filings, and their text."""

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
from fingerpost.filings.tools.sec_text import format_rows

Limit = Annotated[int, Field(ge=1, le=1000)]


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


def _list_filings(library: FactLibrary, params: CompanyFilingsParams) -> Reply:
    forms = {form.upper() for form in params.filing_types or ()}
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


def _list_timeline(library: FactLibrary, params: FilingTimelineParams) -> Reply:
    fields = params.model_dump(exclude={"filing_type"})
    reply = _list_filings(library, CompanyFilingsParams(**fields, filing_types=[params.filing_type]))
    reply.results = [{name: row[name] for name in shape.TimelineRow.model_fields} for row in reversed(reply.results)]
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
        answer=_list_filings,
        shape=shape.CountedAnswer,
        results=list[shape.FilingRow],
        text=format_rows(_format_filing),
        continuation_hint="For the rest, set as_of to the filing_date of the last row.",
        usage="company_filings {ticker, filing_types, limit}, newest first",
    ),
    QueryType(
        name="filing_timeline",
        params=FilingTimelineParams,
        answer=_list_timeline,
        shape=shape.CountedAnswer,
        results=list[shape.TimelineRow],
        text=format_rows(_format_filing),
        continuation_hint="Use a smaller limit, and as_of.",
        usage="filing_timeline {ticker, filing_type}, oldest first",
    ),
    QueryType(
        name="filing_text",
        params=FilingTextParams,
        answer=read_filing_text,
        results=list[shape.TextRow],
        text=format_filing_text,
        usage="filing_text {ticker or accession_number, form, item: 1A or 2.02, page}, the text",
    ),
)


class SecGraphQuery(QueryTool):
    queries = _QUERIES
    definition = define_query_tool(
        "sec_graph_query",
        "Company filings",
        _QUERIES,
        intro="A company's filings with the SEC. query_type ",
        outro=" of a loaded filing. For figures use sec_financial_data.",
        # Companies that are not loaded are fetched from EDGAR.
        open_world=True,
    )
