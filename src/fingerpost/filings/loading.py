"""Load EDGAR files from disk into the facts file: figures, filings, tickers, filing texts and archives."""

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
from fingerpost.filings.store import FactStore, normalize_ticker

_TEXT_SUFFIXES = (".txt", ".htm", ".html")
_MEMBER = re.compile(r"(?:.*/)?CIK\d{10}\.json")
_MAX_MEMBER_MB = 256
_PROCESSES = 2
_COMPANIES_PER_TRANSACTION = 50
_MAX_NAMED = 3

ShowProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """The company and filing that files belong to; ``predecessor_of`` is the ticker of the successor company."""

    ticker: str | None = None
    predecessor_of: str | None = None
    accession: str = ""
    form: str = ""
    filed: str = ""
    retrieved_at: str | None = None


NO_OPTIONS = LoadOptions()


@dataclass(frozen=True, slots=True)
class LoadedFile:
    name: str
    summary: str


def load_files(
    store: FactStore, paths: Sequence[Path], options: LoadOptions = NO_OPTIONS, show: ShowProgress | None = None
) -> list[LoadedFile]:
    """Load files into the store: companyfacts, submissions, company_tickers, or filing texts.

    JSON files and archives of a folder are loaded; unusable files are reported as skipped.
    A companyfacts archive does not replace newer figures; ``show`` receives (done, all) companies.
    If a file raises FeedUnusable, the files before it are loaded.
    """
    if options.ticker and options.predecessor_of:
        raise ParameterError("Send --ticker or --predecessor-of, not both")
    is_single_company = options.ticker or options.predecessor_of or options.accession
    loaded = []
    for path in paths:
        if is_single_company and (path.is_dir() or path.suffix.lower() == ".zip"):
            raise ParameterError(
                f"{path.name} may contain several companies; --ticker, --predecessor-of and --accession need one file"
            )
        if path.is_dir():
            loaded += _load_folder(store, path, options, show)
        elif path.suffix.lower() == ".zip":
            loaded.append(_load_archive(store, path, options.retrieved_at, show))
        else:
            loaded.append(_load_file(store, path, options))
    return loaded


def _load_folder(store: FactStore, folder: Path, options: LoadOptions, show: ShowProgress | None) -> list[LoadedFile]:
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
            loaded.append(LoadedFile(path.name, f"skipped: {error.message}"))
    if not count:
        raise FeedUnusable(f"{folder.name} has no readable file of figures, filings or tickers")
    return loaded


def _load_file(store: FactStore, path: Path, options: LoadOptions) -> LoadedFile:
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
            ticker = options.predecessor_of or options.ticker
            if ticker is not None:
                _check_owner(library, facts, ticker, is_predecessor=options.predecessor_of is not None)
            store.put_facts(facts, tickers=[ticker] if ticker else [], retrieved_at=options.retrieved_at)
            company = library.find_company(str(facts.cik))
        main_ticker = company.ticker if company is not None else ""
        hint = "; name it with --ticker, or load company_tickers.json" if main_ticker.startswith("CIK") else ""
        count, last = len(facts.facts), facts.complete_through
        summary = f"{facts.name} ({main_ticker}): {count:,} figures, complete through {last}{hint}"
        return LoadedFile(path.name, summary)
    if "filings" in raw:
        submissions = read_submissions(raw, path.name)
        store.put_submissions(submissions)
        hint = "" if submissions.is_complete else "; older ones are in further files"
        return LoadedFile(path.name, f"{submissions.name}: {len(submissions.filings):,} filings listed{hint}")
    tickers = read_tickers(raw, path.name)
    store.put_tickers(tickers)
    return LoadedFile(path.name, f"{len(tickers):,} tickers")


def _check_owner(library: FactLibrary, facts: FactsFile, ticker: str, *, is_predecessor: bool) -> None:
    owners = library.list_ticker_owners(ticker)
    if is_predecessor and not owners:
        raise ParameterError(f"No loaded company has the ticker {ticker}; load its figures first")
    if not is_predecessor and owners and facts.cik not in [cik for cik, _ in owners]:
        cik, name = owners[0]
        raise ParameterError(
            f"{normalize_ticker(ticker)} is the ticker of {name} (CIK {cik}), not of {facts.name} (CIK {facts.cik})",
            hint="Omit --ticker, or use --predecessor-of if these are older figures of the same company",
        )


def _load_text(store: FactStore, name: str, content: bytes, options: LoadOptions) -> LoadedFile:
    ticker, accession, form, filed = options.ticker, options.accession, options.form, options.filed
    required = {"--ticker": ticker, "--accession": accession, "--filed": filed}
    missing = [option for option, value in required.items() if not value]
    if ticker is None or missing:
        raise ParameterError(f"{name} is a filing's text; add {', '.join(missing)}")
    with closing(FactLibrary(store.path)) as library:
        company, company_row = library.find_company(ticker), library.find_listed_company(ticker)
    if company is not None:
        company_row = company.ticker, company.cik, company.name
    if company_row is None:
        raise ParameterError(f"No company here is called {ticker}; load company_tickers.json or its figures first")
    is_plain = name.lower().endswith(".txt")
    text = content.decode("utf-8", errors="replace") if is_plain else read_plain_text(content)
    _, cik, company_name = company_row
    sections = split_sections(cik, accession, form, filed, text)
    store.put_sections(sections)
    return LoadedFile(name, f"{company_name}, {form} of {filed}: {len(sections)} sections")


def _load_archive(store: FactStore, path: Path, retrieved_at: str | None, show: ShowProgress | None) -> LoadedFile:
    companies, figures, skipped = 0, 0, []
    try:
        with zipfile.ZipFile(path) as archive:
            members = [name for name in sorted(archive.namelist()) if _MEMBER.fullmatch(name)]
    except (OSError, zipfile.BadZipFile) as error:
        raise FeedUnusable(f"{path.name} is not a zip archive, or is damaged: {error}") from error
    # Do not fork, because a forked process inherits the locks that other threads have acquired.
    with ProcessPoolExecutor(_PROCESSES, mp_context=multiprocessing.get_context("spawn")) as processes:
        for start in range(0, len(members), _COMPANIES_PER_TRANSACTION):
            batch = members[start : start + _COMPANIES_PER_TRANSACTION]
            parsed = list(processes.map(partial(_read_member, path), batch))
            files = [file for file in parsed if isinstance(file, FactsFile)]
            skipped += [reason for reason in parsed if isinstance(reason, str)]
            store.put_newer_facts(files, retrieved_at=retrieved_at)
            companies, figures = companies + len(files), figures + sum(len(file.facts) for file in files)
            if show is not None:
                show(start + len(batch), len(members))
    if not companies:
        raise FeedUnusable(f"{path.name} has no readable companyfacts file")
    summary = f"{companies:,} companies, {figures:,} figures"
    if skipped:
        remainder = f"; and {len(skipped) - _MAX_NAMED} more" if len(skipped) > _MAX_NAMED else ""
        summary += f"; {len(skipped):,} skipped: {'; '.join(skipped[:_MAX_NAMED])}{remainder}"
    return LoadedFile(path.name, f"{summary}; tickers come from company_tickers.json")


def _read_member(path: Path, member: str) -> FactsFile | str:
    """Return a company's figures, or why a member is skipped."""
    with zipfile.ZipFile(path) as archive:
        if archive.getinfo(member).file_size > _MAX_MEMBER_MB * 2**20:
            return f"{member} is larger than {_MAX_MEMBER_MB} MB"
        try:
            return read_facts(parse_json(archive.read(member), member), member)
        except FeedUnusable as error:
            return error.message
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
            return f"{member} is damaged: {error}"
