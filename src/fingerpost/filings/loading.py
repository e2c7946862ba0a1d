"""Files of EDGAR that are already on disk: told apart by what they hold, written into the facts file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fingerpost.errors import FeedUnusable, ParameterError
from fingerpost.filings.companyfacts import parse_json, read_facts, read_submissions, read_tickers
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.plain_text import read_plain_text
from fingerpost.filings.sections import split_sections
from fingerpost.filings.store import FactStore

_TEXT_SUFFIXES = (".txt", ".htm", ".html")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilingText:
    """Which filing a text is of: a text does not say so itself."""

    accession: str
    form: str
    filed: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a file was, in a sentence."""

    name: str
    summary: str


def load_files(
    store: FactStore,
    paths: Sequence[Path],
    *,
    ticker: str | None = None,
    text_of: FilingText | None = None,
    retrieved_at: str | None = None,
) -> list[Loaded]:
    """Write files into the store: companyfacts, submissions, company_tickers, and, with ``text_of``, one text.

    ``ticker`` names the company where the files do not. Each file is one transaction.

    Raises:
        FeedUnusable: a file is none of these, or cannot be read; the files before it were loaded.
        ParameterError: a text without the filing that it is of, or without a known company.
    """
    return [_load(store, path, ticker, text_of, retrieved_at) for path in paths]


def _load(
    store: FactStore, path: Path, ticker: str | None, text_of: FilingText | None, retrieved_at: str | None
) -> Loaded:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FeedUnusable(f"{path.name} cannot be read: {error.strerror}") from error
    if path.suffix.lower() in _TEXT_SUFFIXES:
        return _load_text(store, path.name, content, ticker, text_of)
    raw = parse_json(content, path.name)
    if "facts" in raw:
        facts = read_facts(raw, path.name)
        store.put_facts(facts, tickers=[ticker] if ticker else [], retrieved_at=retrieved_at)
        name = FactLibrary(store.path).find_company(str(facts.cik))
        known = name.ticker if name is not None else ""
        hint = "; name it with --ticker, or load company_tickers.json" if known.startswith("CIK") else ""
        summary = (
            f"{facts.name} ({known}): {len(facts.facts):,} figures, complete through {facts.complete_through}{hint}"
        )
        return Loaded(path.name, summary)
    if "filings" in raw:
        submissions = read_submissions(raw, path.name)
        store.put_submissions(submissions)
        older = "" if submissions.is_complete else "; older ones are in further files"
        return Loaded(path.name, f"{submissions.name}: {len(submissions.filings):,} filings listed{older}")
    tickers = read_tickers(raw, path.name)
    store.put_tickers(tickers)
    return Loaded(path.name, f"{len(tickers):,} tickers")


def _load_text(store: FactStore, name: str, content: bytes, ticker: str | None, text_of: FilingText | None) -> Loaded:
    if text_of is None or ticker is None:
        raise ParameterError(
            f"{name} is a text: say whose and which filing with --ticker, --accession, --form, --filed"
        )
    company = FactLibrary(store.path).find_company(ticker)
    if company is None:
        raise ParameterError(f"No company here is called {ticker}; load its companyfacts file first")
    is_plain = name.lower().endswith(".txt")
    plain = content.decode("utf-8", errors="replace") if is_plain else read_plain_text(content)
    sections = split_sections(company.cik, text_of.accession, text_of.form, text_of.filed, plain)
    store.put_sections(sections)
    return Loaded(name, f"{company.name}, {text_of.form} of {text_of.filed}: {len(sections)} sections")
