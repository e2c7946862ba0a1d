"""Load EDGAR files from disk into the facts file: figures, filings, tickers, texts, XBRL instances and archives."""

import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from fingerpost.errors import FeedUnusable, ParameterError
from fingerpost.filings.companyfacts import FactsFile, SubmissionsFile, TickerList, read_json_file
from fingerpost.filings.figure import Filing
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.sections import CoverPage, read_cover_page, read_plain_text
from fingerpost.filings.store import PACKAGED_YEAR, FactStore, normalize_ticker, read_packaged_tickers
from fingerpost.filings.xbrl import read_instance, read_labels
from fingerpost.runtime.zip_members import read_member

_TEXT_SUFFIXES = (".txt", ".htm", ".html")
_XML_SUFFIX = ".xml"
_INSTANCE_SUFFIX, _LABELS_SUFFIX = "_htm.xml", "_lab.xml"
_FOLDER_SUFFIXES = (".json", ".zip", _XML_SUFFIX, *_TEXT_SUFFIXES)
_MAX_MEMBER_MB = 256
_MAX_NAMED_FILES = 10

ShowProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """The company and filing of the loaded files; ``predecessor_of`` is the ticker of the successor company.

    A filing's text needs only the options that neither its cover page nor the loaded list of filings supplies.
    """

    ticker: str | None = None
    predecessor_of: str | None = None
    accession: str = ""
    form: str = ""
    filed: str = ""
    retrieved_at: str | None = None


NO_OPTIONS = LoadOptions()


def load_files(
    store: FactStore, paths: Sequence[Path], options: LoadOptions = NO_OPTIONS, show: ShowProgress | None = None
) -> list[str]:
    """Load files into the store: companyfacts, submissions, company_tickers, filing texts or XBRL instances.

    Return a line for each file: its name, and what it contained or why it was skipped.
    Folders and archives are loaded file by file; unusable files in them are reported as skipped.
    An archive does not replace newer figures; ``show`` receives the processed and total file counts for an archive.
    If loading a file raises FeedUnusable, the files before it remain loaded.
    """
    if options.ticker and options.predecessor_of:
        raise ParameterError("Use --ticker or --predecessor-of, not both")
    is_single_company = options.ticker or options.predecessor_of or options.accession
    loaded = []
    for path in paths:
        if is_single_company and (path.is_dir() or path.suffix.lower() == ".zip"):
            raise ParameterError(
                f"{path.name} may contain several companies; use --ticker, --predecessor-of and --accession with a file"
            )
        if path.is_dir():
            loaded += _load_folder(store, path, options, show)
        elif path.suffix.lower() == ".zip":
            loaded += _load_archive(store, path, options.retrieved_at, show)
        else:
            loaded.append(_load_file(store, path, options))
    return loaded


def _load_folder(store: FactStore, folder: Path, options: LoadOptions, show: ShowProgress | None) -> list[str]:
    loaded = []
    count = 0
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise FeedUnusable(f"Cannot read {folder.name}: {error.strerror}") from error
    # Load texts and instances last, because they may need the lists of filings.
    for path in sorted(paths, key=lambda path: path.suffix.lower() in (_XML_SUFFIX, *_TEXT_SUFFIXES)):
        try:
            if path.suffix.lower() not in _FOLDER_SUFFIXES:
                raise FeedUnusable(f"the file type is not one of {', '.join(_FOLDER_SUFFIXES)}")
            loaded += load_files(store, [path], options, show)
            count += 1
        except (FeedUnusable, ParameterError) as error:
            loaded.append(f"{path.name}: skipped: {error.message}")
    if not count:
        raise _explain_nothing_loaded(folder, loaded)
    return loaded


def _explain_nothing_loaded(path: Path, skipped: Sequence[str]) -> FeedUnusable:
    reasons = "".join(f"; {line}" for line in skipped[:_MAX_NAMED_FILES])
    return FeedUnusable(f"{path.name} contains no readable file with figures, filings or tickers{reasons}")


def _load_file(store: FactStore, path: Path, options: LoadOptions) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FeedUnusable(f"Cannot read {path.name}: {error.strerror}") from error
    if path.suffix.lower() in _TEXT_SUFFIXES:
        return _load_text(store, path.name, content, options)
    if path.suffix.lower() == _XML_SUFFIX:
        return _load_instance(store, path, content, options)
    parsed = read_json_file(content, path.name)
    if not isinstance(parsed, FactsFile):
        return f"{path.name}: {_put_list(store, parsed)}"
    with closing(FactLibrary(store.path)) as library:
        ticker = options.predecessor_of or options.ticker
        if ticker is not None:
            _check_owner(library, parsed, ticker, is_predecessor=options.predecessor_of is not None)
        tickers = [options.ticker] if options.ticker else []
        store.put_facts(
            parsed, tickers=tickers, predecessor_of=options.predecessor_of, retrieved_at=options.retrieved_at
        )
        ((main_ticker,),) = library.rows("SELECT ticker FROM companies WHERE cik = ?", parsed.cik)
        has_list = library.rows("SELECT 1 FROM main_tickers WHERE cik = ?", parsed.cik)
    hint = "" if ticker or has_list else f"; the ticker is from the packaged {PACKAGED_YEAR} list"
    if main_ticker.startswith("CIK"):
        hint = "; set the ticker with --ticker, or load company_tickers.json"
    summary = f"{len(parsed.facts):,} figures, filed up to {parsed.complete_through}"
    return f"{path.name}: {parsed.name} ({main_ticker}): {summary}{hint}"


def _put_list(store: FactStore, parsed: SubmissionsFile | TickerList) -> str:
    if isinstance(parsed, SubmissionsFile):
        hint = "" if parsed.is_complete else "; older filings are in other files"
        if not store.put_submissions(parsed) and parsed.sic:
            hint += "; to store the industry, load this file again after the figures"
        return f"{parsed.name}: {len(parsed.filings):,} filings listed{hint}"
    store.put_tickers(parsed)
    return f"{len(parsed):,} tickers"


def _check_owner(library: FactLibrary, facts: FactsFile, ticker: str, *, is_predecessor: bool) -> None:
    owners = library.list_ticker_owners(ticker)
    if is_predecessor and not owners:
        raise ParameterError(f"No loaded company has the ticker {ticker}; load its figures first")
    successor = library.find_company(ticker) if is_predecessor else None
    if successor is not None and facts.complete_through > successor.complete_through:
        raise ParameterError(f"{facts.name} filed newer figures than {successor.name}, so it is not a predecessor")
    symbol = normalize_ticker(ticker)
    owners = owners or [(cik, name) for other, cik, name in read_packaged_tickers() if other == symbol]
    if not is_predecessor and owners and facts.cik not in [cik for cik, _ in owners]:
        cik, name = owners[0]
        raise ParameterError(
            f"{symbol} is the ticker of {name} (CIK {cik}), not of {facts.name} (CIK {facts.cik})",
            hint="Omit --ticker, or use --predecessor-of if these are older figures of the same company",
        )


def _load_text(store: FactStore, name: str, content: bytes, options: LoadOptions) -> str:
    """Load a filing's text; identify the filing by the options, the cover page and the list of filings."""
    document = content.decode("utf-8", errors="replace")
    cover = read_cover_page(document)
    with closing(FactLibrary(store.path)) as library:
        cik, company_name = _identify_company(library, name, cover, options.ticker)
        form = options.form or cover.form or ""
        filing = None if cik is None else _find_filing(library, cik, name, form, cover.period)
    identity = (options.accession, form, options.filed)
    filing = Filing(*(option or match for option, match in zip(identity, filing or ("", "", ""), strict=False)))
    required = {"--ticker": cik, "--accession": filing.accession, "--form": filing.form, "--filed": filing.filed}
    missing = [option for option, value in required.items() if not value]
    if cik is None or missing:
        raise ParameterError(f"{name} is the text of a filing; specify {', '.join(missing)}")
    text = document if name.lower().endswith(".txt") else read_plain_text(content)
    count = store.put_text(cik, filing, text)
    return f"{name}: {company_name}, {filing.form} of {filing.filed}: {count} sections"


def _identify_company(library: FactLibrary, name: str, cover: CoverPage, ticker: str | None) -> tuple[int | None, str]:
    company = None if ticker is None and cover.cik is None else library.find_company(ticker or f"CIK{cover.cik}")
    listed = None if ticker is None else library.find_listed_company(ticker)
    if company is not None:
        cik, company_name = company.cik, company.name
    elif listed is not None:
        _, cik, company_name = listed
    elif ticker is not None:
        raise ParameterError(f"No loaded company matches {ticker}; load company_tickers.json or its figures first")
    else:
        return cover.cik, cover.name or f"CIK {cover.cik}"
    if cover.cik not in (None, cik) and (company is None or cover.cik not in library.list_ciks(company)):
        raise ParameterError(f"{name} is a filing of {cover.name} (CIK {cover.cik}), not of {company_name} (CIK {cik})")
    return cover.cik or cik, company_name


def _load_instance(store: FactStore, path: Path, content: bytes, options: LoadOptions) -> str:
    """Load an XBRL instance, with the labels from a file in the same folder."""
    if path.name.endswith(_LABELS_SUFFIX):
        raise FeedUnusable(f"{path.name} contains only labels; load NAME{_INSTANCE_SUFFIX} from the same folder")
    instance = read_instance(content, path.name)
    filing: Filing | None = Filing(options.accession, instance.form, options.filed)
    if not options.accession or not options.filed:
        document = f"{path.name.removesuffix(_INSTANCE_SUFFIX)}.htm"
        with closing(FactLibrary(store.path)) as library:
            filing = _find_filing(library, instance.cik, document, instance.form, instance.period_end)
    if filing is None:
        raise ParameterError(
            f"{path.name} does not belong to any loaded filing; specify --accession and --filed",
            hint=f"Or load the submissions file of {instance.name} first",
        )
    schema = path.with_name(instance.schema)
    # Some filers put the labels in the schema file.
    label_files = [schema.with_name(f"{schema.stem}{_LABELS_SUFFIX}"), schema]
    linkbases = (read_labels(file.read_bytes(), file.name) for file in label_files if file.is_file())
    labels = next((names for names in linkbases if names), {})
    count = store.put_instance(instance, labels, filing)
    hint = "" if labels else f"; members have no labels, because {label_files[0].name} is not in the same folder"
    return f"{path.name}: {instance.name}, {filing.form} of {filing.filed}: {count:,} facts with segments{hint}"


def _find_filing(
    library: FactLibrary, cik: int, document: str, form: str | None, period_end: str | None
) -> Filing | None:
    """Return the report that matches a form and period, or a document name.

    Return None unless exactly one report matches. Filers reuse names such as ``form10k.htm``, so the form and period
    take precedence.
    """
    filings = [
        filing
        for filing in library.list_filings_by_cik(cik)
        if not (period_end and filing.report_date) or (filing.form, filing.report_date) == (form, period_end)
    ]
    same_document = [filing for filing in filings if filing.document == document]
    matches = same_document or [filing for filing in filings if period_end and filing.report_date]
    return matches[0] if len(matches) == 1 else None


def _load_archive(store: FactStore, path: Path, retrieved_at: str | None, show: ShowProgress | None) -> list[str]:
    companies = figures = lists = 0
    skipped: list[str] = []
    try:
        with zipfile.ZipFile(path) as archive:
            members = [name for name in sorted(archive.namelist()) if not name.endswith("/")]
            for number, member in enumerate(members, 1):
                try:
                    file = _read_member(archive, member)
                except FeedUnusable as error:
                    skipped.append(f"{member}: skipped: {error.message}")
                else:
                    if isinstance(file, FactsFile):
                        store.put_facts(file, retrieved_at=retrieved_at, replaces_newer=False)
                        companies += 1
                        figures += len(file.facts)
                    else:
                        _put_list(store, file)
                        lists += 1
                if show is not None:
                    show(number, len(members))
    except (OSError, zipfile.BadZipFile) as error:
        raise FeedUnusable(f"{path.name} is not a zip archive, or is damaged: {error}") from error
    if not companies and not lists:
        raise _explain_nothing_loaded(path, skipped)
    summary = f"{companies:,} companies, {figures:,} figures"
    packaged = f"; unknown tickers come from the packaged {PACKAGED_YEAR} list"
    summary += f", {lists:,} lists of filings or tickers" if lists else packaged
    summary += f"; {len(skipped):,} skipped" if skipped else ""
    return [f"{path.name}: {summary}", *skipped]


def _read_member(archive: zipfile.ZipFile, member: str) -> FactsFile | SubmissionsFile | TickerList:
    if not member.lower().endswith(".json"):
        raise FeedUnusable("not a JSON file")
    if archive.getinfo(member).file_size > _MAX_MEMBER_MB * 2**20:
        raise FeedUnusable(f"larger than {_MAX_MEMBER_MB} MB")
    try:
        return read_json_file(read_member(archive, member), member)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, UnicodeDecodeError) as error:
        raise FeedUnusable(f"damaged: {error}") from error
