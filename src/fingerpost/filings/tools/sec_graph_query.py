"""``sec_graph_query``: list a company's filings, and return their text."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Annotated, Any, NamedTuple, Self

from pydantic import Field, model_validator

from fingerpost.errors import ParameterError
from fingerpost.filings.figure import ANNUAL_FORMS, FigureOptions, Filing, cite_filing
from fingerpost.filings.library import CompanyFigures, FactLibrary
from fingerpost.filings.period_filter import LAST_DAY
from fingerpost.filings.query_params import Day, StepParams, Ticker, Word, build_error
from fingerpost.filings.reasons import explain_missing_ticker, open_company, suggest_load
from fingerpost.filings.reply import Reply, build_missing, build_not_found
from fingerpost.filings.sections import FULL_TEXT, Section, match_sections, split_pages
from fingerpost.filings.tools import sec_shapes as shape
from fingerpost.filings.tools.sec_query import QueryTool, QueryType, define_query_tool
from fingerpost.filings.tools.sec_semantic_search import NO_TEXT_STEP
from fingerpost.filings.tools.sec_text import with_sources

# An answer's text is limited to 16 KB (rule A11), including the heading and the notes.
_PAGE_BYTES = 14_000
_MAX_LISTED = 5
_MAX_TITLE_CHARACTERS = 50
_QUERY = (
    "SELECT accession_number, filing_type, filing_date, cik, section_type, title, text FROM sections"
    " WHERE {column} = ? AND filing_date <= ? ORDER BY filing_date DESC, accession_number, position"
)


class CompanyFilingsParams(StepParams):
    ticker: Ticker
    filing_types: Annotated[list[Word] | None, Field(description="such as 10-K; defaults to all")] = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 10
    as_of: Day | None = None


def _list_filings(library: FactLibrary, params: CompanyFilingsParams) -> Reply:
    forms = {form.upper() for form in params.filing_types or ()}
    options = FigureOptions(as_of=params.as_of)
    source = open_company(library, params.ticker, f"No filings found for {params.ticker}", options)
    company = source.company
    filings = [
        (cik, filing)
        for cik, filing in library.list_filings(company)
        if (not forms or filing.form.upper() in forms) and (params.as_of is None or filing.filed <= params.as_of)
    ]
    if not filings:
        qualifier = f" of type {', '.join(sorted(forms))}" if forms else ""
        entry = build_missing("not_loaded", f"none{qualifier} is loaded", suggest_load(company.ticker))
        raise build_not_found(f"No filings found for {company.ticker}", {"filings": entry}, source.provenance)
    notes = {cik: _describe_coverage(library, cik) for cik in library.list_ciks(company)}
    gaps = [f"CIK {cik}: {note}" if len(notes) > 1 else note for cik, note in notes.items() if note is not None]
    rows = [_build_filing_row(source, cik, filing) for cik, filing in filings[: params.limit]]
    return Reply(rows, extra={"total_results": len(filings)}, notes=gaps)


def _describe_coverage(library: FactLibrary, cik: int) -> str | None:
    filing_lists = library.rows("SELECT is_complete, oldest FROM filing_lists WHERE cik = ?", cik)
    if not filing_lists:
        return "These are only the filings with loaded figures, because the company's filing list is not loaded"
    ((is_complete, oldest),) = filing_lists
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


def _format_filings(body: Mapping[str, Any]) -> str:
    rows, total = body["results"], body["total_results"]
    count = [f"{len(rows)} of {total}:"] if total > len(rows) else []
    return with_sources(body, [*count, *(f"{_format_filing(row)}." for row in rows)])


def _format_filing(row: Mapping[str, Any]) -> str:
    period = f", fiscal {row['fiscal_year']} {row['fiscal_period'] or ''}".rstrip() if row["fiscal_year"] else ""
    report = f", period ending {row['report_date']}" if row["report_date"] else ""
    description = f": {row['description']}" if row.get("description") else ""
    return f"{row['filing_type']} of {row['filing_date']}, {row['accession_number']}{period}{report}{description}"


class FilingTextParams(StepParams):
    ticker: Ticker | None = None
    accession_number: Word | None = None
    form: Annotated[
        Word | None, Field(description="defaults to the newest annual report, or else the newest other form")
    ] = None
    item: Annotated[Word | None, Field(description="such as 1A, 2.02 or mdna; defaults to the whole filing")] = None
    page: Annotated[int, Field(ge=1)] = 1
    as_of: Day | None = None

    @model_validator(mode="after")
    def _check_filing(self) -> Self:
        if (self.ticker is None) == (self.accession_number is None):
            raise build_error("ticker", "ticker or accession_number is required, but not both")
        return self


class _FilingText(NamedTuple):
    accession: str
    form: str
    filed: str
    cik: int
    sections: list[Section]

    @property
    def name(self) -> str:
        return f"{self.form} of {self.filed} ({self.accession})"

    def match_item(self, item: str | None) -> list[Section]:
        return self.sections if item is None else match_sections(self.form, self.sections, item)


def _read_filing_text(library: FactLibrary, params: FilingTextParams) -> Reply:
    filings = _list_filings_with_text(library, params)
    matching = [filing for filing in filings if filing.match_item(params.item)]
    if not matching:
        items = "; ".join(title for _, title, _ in filings[0].sections)
        entry = build_missing("no_match", f"{filings[0].name} has no item {params.item}", f"Its items are: {items}")
        raise build_not_found(f"No text found for {params.ticker or params.accession_number}", {"text": entry})
    # An amendment may contain only a few items.
    filing = min(matching, key=lambda each: each.form.endswith("/A") if each.form in ANNUAL_FORMS else 2)
    sections = filing.match_item(params.item)
    if params.item is not None and len(sections) > 1:
        titles = "; ".join(f"{title} ({kind})" for kind, title, _ in sections)
        raise ParameterError.about(
            "item", f"{params.item} matches several items of {filing.name}: {titles}; send the name in parentheses"
        )
    kind, title, text = sections[0]
    if params.item is None:
        kind, title = FULL_TEXT, "All items"
        text = "\n".join(f"{heading}\n{body}" for _, heading, body in sections)
    pages = split_pages(text, _PAGE_BYTES)
    if params.page > len(pages):
        raise ParameterError.about("page", f"must be at most {len(pages)} for {title} of {filing.name}")
    query = "SELECT ticker FROM companies WHERE cik = ?1 UNION ALL SELECT ticker FROM listed WHERE cik = ?1"
    row = {
        "ticker": next((ticker for (ticker,) in library.rows(query, filing.cik)), None),
        "cik": f"{filing.cik:010d}",
        **cite_filing(filing.cik, filing.accession, filing.form, filing.filed),
        "section": title,
        "section_type": kind,
        "page": params.page,
        "pages": len(pages),
        "text": pages[params.page - 1],
    }
    return Reply([row], notes=_list_text_notes(params, filing, matching, len(pages)))


def _list_filings_with_text(library: FactLibrary, params: FilingTextParams) -> list[_FilingText]:
    """Return the filings with text, newest first."""
    not_found = f"No text found for {params.ticker or params.accession_number}"
    column = "accession_number"
    keys: Sequence[Any] = [params.accession_number]
    if params.ticker is not None:
        column, keys = "cik", library.find_ciks(params.ticker)
        if not keys:
            raise build_not_found(not_found, {params.ticker: explain_missing_ticker(library, params.ticker)})
    query = _QUERY.format(column=column)
    last_day = params.as_of or LAST_DAY
    rows = [row for key in keys for row in library.rows(query, key, last_day)]
    by_filing = groupby(rows, key=lambda row: row[:4])
    filings = [_FilingText._make((*filing, [Section._make(row[4:]) for row in parts])) for filing, parts in by_filing]
    forms = sorted({filing.form for filing in filings})
    if params.form is not None:
        filings = [filing for filing in filings if filing.form.upper() == params.form.upper()]
    if not filings:
        reason = f"only the text of its {', '.join(forms)} filings is loaded" if forms else "its text is not loaded"
        hidden = f", or was filed after {params.as_of}" if params.as_of else ""
        raise build_not_found(not_found, {"text": build_missing("not_loaded", reason + hidden, NO_TEXT_STEP)})
    return sorted(filings, key=lambda filing: filing.filed, reverse=True)


def _list_text_notes(
    params: FilingTextParams, filing: _FilingText, matching: Sequence[_FilingText], page_count: int
) -> list[str]:
    notes = []
    if params.page < page_count:
        notes.append(f"Page {params.page} of {page_count}; for the next page, set page to {params.page + 1}")
    if params.item is None and page_count > 1 and params.page == 1:
        titles = "; ".join(title[:_MAX_TITLE_CHARACTERS] for _, title, _ in filing.sections)
        notes.append(f"To read one item, set item: {titles}")
    newer = [other for other in matching if other.filed > filing.filed]
    if newer:
        names = ", ".join(other.name for other in newer[:_MAX_LISTED])
        notes.append(f"Newer filings also contain this: {names}; to select one, set form or accession_number")
    return notes


def _format_filing_text(body: Mapping[str, Any]) -> str:
    (row,) = body["results"]
    company = row["ticker"] or f"CIK {row['cik']}"
    heading = f"{company} {row['filing_type']} of {row['filing_date']} ({row['accession_number']}), {row['section']}"
    page = f", page {row['page']} of {row['pages']}" if row["pages"] > 1 else ""
    return "\n".join([f"{heading}{page}:", row["text"], *(f"({note}.)" for note in body.get("notes") or ())])


_QUERIES = (
    QueryType(
        name="company_filings",
        params=CompanyFilingsParams,
        answer=_list_filings,
        shape=shape.CountedAnswer,
        results=list[shape.FilingRow],
        text=_format_filings,
        continuation_hint="For the rest, set as_of to the filing_date of the last row.",
        usage="company_filings {ticker, filing_types, limit}, newest first",
    ),
    QueryType(
        name="filing_text",
        params=FilingTextParams,
        answer=_read_filing_text,
        results=list[shape.TextRow],
        text=_format_filing_text,
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
