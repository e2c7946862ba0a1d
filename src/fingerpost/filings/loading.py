"""Load EDGAR files from disk into the facts file: figures, filings, tickers, texts and archives."""

import multiprocessing
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fingerpost.errors import FeedUnusable, ParameterError
from fingerpost.filings.companyfacts import FactsFile, parse_json, read_facts, read_submissions, read_tickers
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.sections import read_plain_text, split_sections
from fingerpost.filings.store import FactStore, plain_ticker

_TEXT_SUFFIXES = (".txt", ".htm", ".html")
_MEMBER = re.compile(r"(?:.*/)?CIK\d{10}\.json")
_LARGEST_MEMBER_MB = 256
_READERS = 2
_COMPANIES_A_TRANSACTION = 50
_NAMED = 3

ShowProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """The company and the filing of the loaded files; ``predecessor_of`` is the ticker of a company's older figures."""

    ticker: str | None = None
    predecessor_of: str | None = None
    accession: str = ""
    form: str = ""
    filed: str = ""
    retrieved_at: str | None = None


NO_OPTIONS = LoadOptions()


@dataclass(frozen=True, slots=True)
class Loaded:
    name: str
    summary: str


def load_files(
    store: FactStore, paths: Sequence[Path], options: LoadOptions = NO_OPTIONS, show: ShowProgress | None = None
) -> list[Loaded]:
    """Write files into the store: companyfacts, submissions, company_tickers, or the text of a filing.

    A folder's JSON files and archives are loaded; unusable ones are reported as skipped.
    A companyfacts archive updates the companies that have no newer figures; ``show`` gets (done, all) companies.
    The files before one that raises FeedUnusable were loaded.
    """
    if options.ticker and options.predecessor_of:
        raise ParameterError("Send --ticker or --predecessor-of, not both")
    is_of_one = options.ticker or options.predecessor_of or options.accession
    loaded = []
    for path in paths:
        if is_of_one and (path.is_dir() or path.suffix.lower() == ".zip"):
            raise ParameterError(
                f"{path.name} may contain several companies; --ticker, --predecessor-of and --accession need one file"
            )
        if path.is_dir():
            loaded += _load_folder(store, path, options, show)
        elif path.suffix.lower() == ".zip":
            loaded.append(_load_archive(store, path, options.retrieved_at, show))
        else:
            loaded.append(_load(store, path, options))
    return loaded


def _load_folder(store: FactStore, folder: Path, options: LoadOptions, show: ShowProgress | None) -> list[Loaded]:
    loaded, count = [], 0
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in (".json", ".zip"))
    except OSError as error:
        raise FeedUnusable(f"Cannot read {folder.name}: {error.strerror}") from error
    for path in paths:
        try:
            loaded += load_files(store, [path], options, show)
            count += 1
        except FeedUnusable as error:
            loaded.append(Loaded(path.name, f"skipped: {error.message}"))
    if not count:
        raise FeedUnusable(f"{folder.name} has no readable file of figures, filings or tickers")
    return loaded


def _load(store: FactStore, path: Path, options: LoadOptions) -> Loaded:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FeedUnusable(f"Cannot read {path.name}: {error.strerror}") from error
    if path.suffix.lower() in _TEXT_SUFFIXES:
        return _load_text(store, path.name, content, options)
    raw = parse_json(content, path.name)
    if "facts" in raw:
        facts = read_facts(raw, path.name)
        with closing(FactLibrary(store.path)) as library:
            own = options.predecessor_of or options.ticker
            if own is not None:
                _check_owner(library, facts, own, is_predecessor=options.predecessor_of is not None)
            store.put_facts(facts, tickers=[own] if own else [], retrieved_at=options.retrieved_at)
            company = library.find_company(str(facts.cik))
        known = company.ticker if company is not None else ""
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


def _check_owner(library: FactLibrary, facts: FactsFile, ticker: str, *, is_predecessor: bool) -> None:
    owners = library.list_owners(ticker)
    if is_predecessor and not owners:
        raise ParameterError(f"No loaded company has the ticker {ticker}; load its figures first")
    if not is_predecessor and owners and facts.cik not in [cik for cik, _ in owners]:
        cik, name = owners[0]
        raise ParameterError(
            f"{plain_ticker(ticker)} is the ticker of {name} (CIK {cik}), not of {facts.name} (CIK {facts.cik})",
            hint="Omit --ticker, or use --predecessor-of if these are older figures of the same company",
        )


def _load_text(store: FactStore, name: str, content: bytes, options: LoadOptions) -> Loaded:
    ticker, accession, form, filed = options.ticker, options.accession, options.form, options.filed
    needed = {"--ticker": ticker, "--accession": accession, "--filed": filed}
    missing = [option for option, value in needed.items() if not value]
    if ticker is None or missing:
        raise ParameterError(f"{name} is a filing's text; add {', '.join(missing)}")
    with closing(FactLibrary(store.path)) as library:
        company, listed = library.find_company(ticker), library.find_listed(ticker)
    if company is not None:
        listed = company.ticker, company.cik, company.name
    if listed is None:
        raise ParameterError(f"No company here is called {ticker}; load company_tickers.json or its figures first")
    is_plain = name.lower().endswith(".txt")
    plain = content.decode("utf-8", errors="replace") if is_plain else read_plain_text(content)
    _, cik, owner = listed
    sections = split_sections(cik, accession, form, filed, plain)
    store.put_sections(sections)
    return Loaded(name, f"{owner}, {form} of {filed}: {len(sections)} sections")


def _load_archive(store: FactStore, path: Path, retrieved_at: str | None, show: ShowProgress | None) -> Loaded:
    companies, figures, skipped = 0, 0, []
    try:
        with zipfile.ZipFile(path) as archive:
            members = [name for name in sorted(archive.namelist()) if _MEMBER.fullmatch(name)]
    except (OSError, zipfile.BadZipFile) as error:
        raise FeedUnusable(f"{path.name} is not a zip archive, or is damaged: {error}") from error
    # A forked process would inherit locked locks of other threads.
    with ProcessPoolExecutor(_READERS, mp_context=multiprocessing.get_context("spawn")) as readers:
        for start in range(0, len(members), _COMPANIES_A_TRANSACTION):
            batch = members[start : start + _COMPANIES_A_TRANSACTION]
            read = list(readers.map(partial(_read_member, path), batch))
            files = [file for file in read if isinstance(file, FactsFile)]
            skipped += [reason for reason in read if isinstance(reason, str)]
            store.put_newer_facts(files, retrieved_at=retrieved_at)
            companies, figures = companies + len(files), figures + sum(len(file.facts) for file in files)
            if show is not None:
                show(start + len(batch), len(members))
    if not companies:
        raise FeedUnusable(f"{path.name} has no readable companyfacts file")
    summary = f"{companies:,} companies, {figures:,} figures"
    if skipped:
        more = f"; and {len(skipped) - _NAMED} more" if len(skipped) > _NAMED else ""
        summary += f"; {len(skipped):,} skipped: {'; '.join(skipped[:_NAMED])}{more}"
    return Loaded(path.name, f"{summary}; tickers come from company_tickers.json")


def _read_member(path: Path, member: str) -> FactsFile | str:
    """Return a company's figures, or the reason why a member is skipped."""
    with zipfile.ZipFile(path) as archive:
        if archive.getinfo(member).file_size > _LARGEST_MEMBER_MB * 2**20:
            return f"{member} is larger than {_LARGEST_MEMBER_MB} MB"
        try:
            return read_facts(parse_json(archive.read(member), member), member)
        except FeedUnusable as error:
            return error.message
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
            return f"{member} is damaged: {error}"
