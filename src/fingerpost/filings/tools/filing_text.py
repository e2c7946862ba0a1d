"""``filing_text``: read an item of a filing, or the whole filing, page by page."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple, Self

from pydantic import Field, model_validator

from fingerpost.errors import ParameterError
from fingerpost.filings.figure import ANNUAL_FORMS, cite_filing
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.period_filter import LAST_DAY
from fingerpost.filings.query_params import Day, StepParams, Ticker, Word
from fingerpost.filings.reasons import explain_missing_ticker
from fingerpost.filings.reply import Reply, build_missing, build_not_found
from fingerpost.filings.sections import FULL_TEXT, match_sections, split_pages
from fingerpost.filings.tools.sec_semantic_search import NO_TEXT_STEP

# The text of an answer has at most 16 KB (rule A11), and the heading and the notes need some of it.
_PAGE_BYTES = 14_000
_MAX_NAMED = 5
_MAX_TITLE_CHARACTERS = 50
_QUERY = (
    "SELECT accession_number, filing_type, filing_date, cik, section_type, title, text FROM sections"
    " WHERE {column} = ? AND filing_date <= ? ORDER BY filing_date DESC, accession_number, position"
)


class FilingTextParams(StepParams):
    ticker: Ticker | None = None
    accession_number: Word | None = None
    form: Annotated[
        Word | None, Field(description="defaults to the newest annual report, then the newest other form")
    ] = None
    item: Annotated[Word | None, Field(description="such as 1A, 2.02 or mdna; defaults to the whole filing")] = None
    page: Annotated[int, Field(ge=1)] = 1
    as_of: Day | None = None

    @model_validator(mode="after")
    def _check_filing(self) -> Self:
        if (self.ticker is None) == (self.accession_number is None):
            raise ParameterError.about("ticker", "or accession_number is required, but not both")
        return self


class _Filing(NamedTuple):
    accession: str
    form: str
    filed: str
    cik: int
    sections: tuple[tuple[str, str, str], ...]

    @property
    def name(self) -> str:
        return f"{self.form} of {self.filed} ({self.accession})"

    def match_item(self, item: str | None) -> list[tuple[str, str, str]]:
        if item is None:
            return list(self.sections)
        headings = [(kind, title) for kind, title, _ in self.sections]
        return [self.sections[index] for index in match_sections(self.form, headings, item)]


def read_filing_text(library: FactLibrary, params: FilingTextParams) -> Reply:
    filings = _list_filings(library, params)
    matching = [filing for filing in filings if filing.match_item(params.item)]
    if not matching:
        items = "; ".join(title for _, title, _ in filings[0].sections)
        entry = build_missing("no_match", f"{filings[0].name} has no item {params.item}", f"Its items are: {items}")
        raise build_not_found(f"No text found for {params.ticker or params.accession_number}", {"text": entry})
    # An amendment may have a few items only.
    annual = sorted((each for each in matching if each.form in ANNUAL_FORMS), key=lambda each: each.form.endswith("/A"))
    filing = (annual or matching)[0]
    sections = filing.match_item(params.item)
    if params.item is not None and len(sections) > 1:
        titles = "; ".join(f"{title} ({kind})" for kind, title, _ in sections)
        raise ParameterError.about(
            "item", f"{params.item} names several items of {filing.name}: {titles}; send one of the names in brackets"
        )
    kind, title, text = sections[0]
    if params.item is None:
        kind, title = FULL_TEXT, "All items"
        text = "\n".join(f"{heading}\n{body}" for _, heading, body in sections)
    pages = split_pages(text, _PAGE_BYTES)
    if params.page > len(pages):
        raise ParameterError.about("page", f"must be at most {len(pages)} for {title} of {filing.name}")
    row = {
        "ticker": _find_ticker(library, filing.cik),
        "cik": f"{filing.cik:010d}",
        **cite_filing(filing.cik, filing.accession, filing.form, filing.filed),
        "section": title,
        "section_type": kind,
        "page": params.page,
        "pages": len(pages),
        "text": pages[params.page - 1],
    }
    notes = _list_notes(params, filing, matching, len(pages))
    return Reply([row], extra={"notes": notes} if notes else {})


def _list_filings(library: FactLibrary, params: FilingTextParams) -> list[_Filing]:
    """Return the filings with text, newest first."""
    not_found = f"No text found for {params.ticker or params.accession_number}"
    last = params.as_of or LAST_DAY
    if params.ticker is None:
        rows = library.rows(_QUERY.format(column="accession_number"), params.accession_number, last)
    else:
        ciks = library.list_ciks_named(params.ticker)
        if not ciks:
            raise build_not_found(not_found, {params.ticker: explain_missing_ticker(library, params.ticker)})
        rows = [row for cik in ciks for row in library.rows(_QUERY.format(column="cik"), cik, last)]
    sections: dict[tuple[str, str, str, int], list[tuple[str, str, str]]] = {}
    for accession, form, filed, cik, *section in rows:
        sections.setdefault((accession, form, filed, cik), []).append((section[0], section[1], section[2]))
    filings = [_Filing(*key, tuple(parts)) for key, parts in sections.items()]
    forms = sorted({filing.form for filing in filings})
    if params.form is not None:
        filings = [filing for filing in filings if filing.form.upper() == params.form.upper()]
    if not filings:
        reason = f"only the text of its forms {', '.join(forms)} is loaded" if forms else "its text is not loaded"
        raise build_not_found(not_found, {"text": build_missing("not_loaded", reason, NO_TEXT_STEP)})
    return sorted(filings, key=lambda filing: filing.filed, reverse=True)


def _list_notes(params: FilingTextParams, filing: _Filing, matching: Sequence[_Filing], page_count: int) -> list[str]:
    notes = []
    if params.page < page_count:
        notes.append(f"Page {params.page} of {page_count}: for the next, set page to {params.page + 1}")
    if params.item is None and page_count > 1 and params.page == 1:
        titles = "; ".join(title[:_MAX_TITLE_CHARACTERS] for _, title, _ in filing.sections)
        notes.append(f"To read one item, set item: {titles}")
    newer = [other for other in matching if other.filed > filing.filed]
    if newer:
        names = ", ".join(other.name for other in newer[:_MAX_NAMED])
        notes.append(f"Newer filings have this too: {names}; set form or accession_number")
    return notes


def _find_ticker(library: FactLibrary, cik: int) -> str | None:
    query = "SELECT ticker FROM companies WHERE cik = ?1 UNION ALL SELECT ticker FROM listed WHERE cik = ?1"
    return next((ticker for (ticker,) in library.rows(query, cik)), None)


def format_filing_text(body: Mapping[str, Any]) -> str:
    (row,) = body["results"]
    company = row["ticker"] or f"CIK {row['cik']}"
    heading = f"{company} {row['filing_type']} of {row['filing_date']} ({row['accession_number']}), {row['section']}"
    page = f", page {row['page']} of {row['pages']}" if row["pages"] > 1 else ""
    return "\n".join([f"{heading}{page}:", row["text"], *(f"({note}.)" for note in body.get("notes") or ())])
