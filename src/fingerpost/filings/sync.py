"""Fetch companies' figures and filings from EDGAR into the facts file; a failure leaves stored figures intact.

The SEC's fair access rules require a User-Agent with a contact, and limit each user to ten requests per second across
all machines. Callers that exceed this limit are blocked for ten minutes and get an HTML page instead of the API's
response.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

from fingerpost import clock
from fingerpost.errors import (
    DataNotFound,
    FeedUnusable,
    SourceChanged,
    SourceFailed,
    SourceKeyRefused,
    SourceLimited,
    SourceTimeout,
    ToolError,
)
from fingerpost.filings.companyfacts import parse_json, read_facts, read_submissions, read_tickers
from fingerpost.filings.figure import SAMPLE, Filing
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.sections import read_plain_text
from fingerpost.filings.store import FactStore, normalize_ticker
from fingerpost.filings.xbrl import read_instance, read_labels
from fingerpost.net.request import Request, RequestLimits
from fingerpost.net.response import MemoryBody, Response, Validators
from fingerpost.runtime.concurrency import run_in_thread
from fingerpost.store.limits import Pace

if TYPE_CHECKING:
    from fingerpost.net.client import Client

CONTACT_SETTING = "FINGERPOST_SEC_CONTACT"

# One request at a time, and at most eight per second across all processes.
PACE = Pace(name="edgar", per_second=8, burst=1)
PACES: Mapping[str, Pace] = {"data.sec.gov": PACE, "www.sec.gov": PACE}

_BLOCKED_S = 600.0
_RATE_LIMIT_PAGE = b"request rate threshold"
_UNDECLARED_TOOL = b"undeclared automated tool"
_LIMITS = RequestLimits(connect_s=10.0, read_s=30.0, total_s=120.0, max_bytes=200_000_000, attempts=4)
_HINT = f"Set {CONTACT_SETTING} to an e-mail address where the SEC can reach you"

_NOT_MODIFIED = 304
FORMS_WITH_ITEMS = frozenset({"10-K", "10-K/A", "10-Q", "10-Q/A", "20-F", "40-F"})
_FORMS_WITH_SEGMENTS = FORMS_WITH_ITEMS | {"10-KT", "20-F/A", "40-F/A"}
_FETCH_TIMEOUT_S = 30
# A failed fetch is not retried for this long.
_BACKOFF = timedelta(days=1)
# One lock per event loop, facts file and ticker, so that concurrent callers fetch a company once.
_locks: WeakValueDictionary[tuple[asyncio.AbstractEventLoop, Path, str], asyncio.Lock] = WeakValueDictionary()
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Edgar:
    """Builds requests to EDGAR. ``data`` and ``www`` are the base URLs of EDGAR's two hosts."""

    contact: str
    data: str = "https://data.sec.gov"
    www: str = "https://www.sec.gov"

    def __post_init__(self) -> None:
        if not self.contact.strip():
            raise SourceKeyRefused(
                f"EDGAR requires a contact address, but {CONTACT_SETTING} is not set",
                {"setting": CONTACT_SETTING},
                hint=_HINT,
            )

    def build_document_url(self, cik: int, filing: Filing, document: str) -> str:
        return f"{self.www}/Archives/edgar/data/{cik}/{filing.accession.replace('-', '')}/{document}"

    def build_request(self, url: str) -> Request:
        return Request(
            url=url, headers={"user-agent": f"fingerpost {self.contact}"}, check_response=_find_error, limits=_LIMITS
        )


def _find_error(response: Response) -> ToolError | None:
    """Return the error that a response signals, or None.

    EDGAR sends its rate-limit page with various status codes. A 404 means that the file does not exist.
    """
    start = response.body[:20_000].lower() if response.body.lstrip()[:1] == b"<" else b""
    if _RATE_LIMIT_PAGE in start:
        return SourceLimited(
            "EDGAR has temporarily blocked this address because it sent too many requests", retry_after_s=_BLOCKED_S
        )
    if _UNDECLARED_TOOL in start or (response.status == 403 and "retry-after" not in response.headers):
        return SourceKeyRefused(
            f"EDGAR rejected the request (HTTP {response.status}): it does not accept the contact address", hint=_HINT
        )
    if response.status == 404:
        return DataNotFound("EDGAR has no such file", {"url": response.redacted_url})
    return None


@dataclass(frozen=True, slots=True)
class EdgarSync:
    _store: FactStore
    _client: "Client"
    _edgar: Edgar

    async def sync(
        self, company: str, *, texts: int = 0, forms: Collection[str] = FORMS_WITH_ITEMS, instances: int = 0
    ) -> list[str]:
        """Fetch the figures and filings for all CIKs of a company, given by ticker or name; return a line for each CIK.

        Also fetch the text of the newest ``texts`` filings, and the segments of the newest ``instances`` reports.

        Raise DataNotFound with similar tickers for an unknown ticker, and StorageUnavailable if EDGAR does not respond.
        """
        with closing(FactLibrary(self._store.path)) as library:
            ticker, ciks = await self._find_company(library, company)
            return [await self._sync(library, ticker, cik, texts, forms, instances) for cik in ciks]

    async def _find_company(self, library: FactLibrary, text: str) -> tuple[str, list[int]]:
        """Find a company by ticker or name, and return its ticker and CIKs."""

        def find() -> tuple[str, list[int]]:
            listed = library.find_listed_company(text)
            ticker = listed[0] if listed else normalize_ticker(text)
            return ticker, sorted({cik for cik, _name in library.list_ticker_owners(ticker)})

        ticker, ciks = await run_in_thread(find)
        if not ciks:
            content = await self._fetch(f"{self._edgar.www}/files/company_tickers.json")
            rows = _parse(read_tickers, content, "company_tickers.json")
            await run_in_thread(self._store.put_tickers, rows)
            ticker, ciks = await run_in_thread(find)
        if not ciks:
            suggestions = await run_in_thread(library.suggest_tickers, ticker)
            raise DataNotFound(
                f"EDGAR has no ticker {ticker}",
                {"reason": "unknown_ticker", "did_you_mean": suggestions},
                hint=f"Did you mean {', '.join(suggestions)}?" if suggestions else None,
            )
        return ticker, ciks

    async def _sync(
        self, library: FactLibrary, ticker: str, cik: int, texts: int, forms: Collection[str], instances: int
    ) -> str:
        content = await self._fetch(f"{self._edgar.data}/submissions/CIK{cik:010d}.json")
        submissions = _parse(read_submissions, content, f"submissions of CIK {cik}")
        _check_cik(submissions.cik, cik)
        outcome = await self._sync_facts(library, cik, submissions.tickers or [ticker])
        await run_in_thread(self._store.put_submissions, submissions)
        reports = [filing for filing in submissions.filings if filing.form in forms and filing.document]
        reports = reports[:texts]
        for filing in reports:
            content = await self._fetch(self._edgar.build_document_url(cik, filing, filing.document))
            await run_in_thread(self._store.put_text, cik, filing, read_plain_text(content))
        inline = [filing for filing in submissions.filings if filing.form in _FORMS_WITH_SEGMENTS and filing.document]
        fetched = [await self._sync_instance(cik, filing) for filing in inline[:instances]]
        summary = f"{ticker} {submissions.name} (CIK {cik}): {outcome}; {len(submissions.filings):,} filings listed"
        summary += f"; {len(reports)} texts" if reports else ""
        return summary + (f"; segments from {sum(fetched)} reports" if any(fetched) else "")

    async def _sync_instance(self, cik: int, filing: Filing) -> bool:
        """Fetch a report's XBRL instance and labels.

        Return False if the report has no instance, as is the case for older reports.
        """
        document = f"{filing.document.rpartition('.')[0]}_htm.xml"
        content = await self._find_document(cik, filing, document)
        if content is None:
            return False
        instance = _parse(read_instance, content, document)
        _check_cik(instance.cik, cik)
        labels: dict[str, str] = {}
        # Some filers put the labels in the schema.
        for name in (f"{instance.schema.removesuffix('.xsd')}_lab.xml", instance.schema):
            if not labels and (linkbase := await self._find_document(cik, filing, name)) is not None:
                labels = _parse(read_labels, linkbase, name)
        await run_in_thread(self._store.put_instance, instance, labels, filing)
        return True

    async def _find_document(self, cik: int, filing: Filing, name: str) -> bytes | None:
        try:
            return await self._fetch(self._edgar.build_document_url(cik, filing, name))
        except DataNotFound:
            return None

    async def _fetch(self, url: str) -> bytes:
        return (await self._client.fetch(self._edgar.build_request(url))).body

    async def _sync_facts(self, library: FactLibrary, cik: int, tickers: list[str]) -> str:
        request = self._edgar.build_request(f"{self._edgar.data}/api/xbrl/companyfacts/CIK{cik:010d}.json")
        body = MemoryBody()
        query = (
            "SELECT etag, last_modified, complete_through FROM fetched JOIN companies USING (retrieved_at)"
            " WHERE url = ? AND cik = ?"
        )
        rows = await run_in_thread(library.rows, query, request.url, cik)
        validators = Validators(etag=rows[0][0], last_modified=rows[0][1]) if rows else None
        try:
            response = await self._client.fetch_into(request, body, validators)
        except DataNotFound:
            return "EDGAR has no figures for this company"
        if response.status == _NOT_MODIFIED:
            return f"figures unchanged, filed up to {rows[0][2]}"
        file = _parse(read_facts, body.content(), f"companyfacts of CIK {cik}")
        _check_cik(file.cik, cik)
        await run_in_thread(
            self._store.put_facts,
            file,
            tickers=tickers,
            retrieved_at=response.retrieved_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            # The next request is conditional.
            fetched=(request.url, response.validators.etag, response.validators.last_modified),
        )
        return f"figures fetched, filed up to {file.complete_through}"


@dataclass(frozen=True, slots=True)
class CompanyFetcher:
    """Fetches one company while a caller waits, and shares failures with all processes through the facts file."""

    _path: Path
    _edgar: Edgar
    _open_client: Callable[[], AbstractAsyncContextManager["Client"]]

    async def fetch(self, text: str) -> None:
        """Fetch a company by ticker or name; raise ToolError if the fetch fails, or failed within the last day."""
        store = FactStore(self._path)
        ticker = normalize_ticker(text)
        lock = _locks.setdefault((asyncio.get_running_loop(), self._path, ticker), asyncio.Lock())
        with closing(FactLibrary(self._path)) as library:
            async with lock:
                company = await run_in_thread(library.find_company, text)
                now = clock.now()
                if company is not None and company.dataset != SAMPLE:
                    # Another caller fetched the company while this one waited for the lock.
                    return
                query = "SELECT failed_at, message FROM failed_fetches WHERE ticker = ? AND failed_at > ?"
                since = (now - _BACKOFF).isoformat()
                for failed_at, message in await run_in_thread(library.rows, query, ticker, since):
                    raise SourceFailed(f"{message} (tried at {failed_at})", retryable=False)
                try:
                    async with asyncio.timeout(_FETCH_TIMEOUT_S), self._open_client() as client:
                        await EdgarSync(store, client, self._edgar).sync(text)
                except (ToolError, TimeoutError) as error:
                    timed_out = SourceTimeout(f"EDGAR did not send the figures within {_FETCH_TIMEOUT_S} seconds")
                    reason = error if isinstance(error, ToolError) else timed_out
                    failed_at = now.isoformat(timespec="seconds")
                    await run_in_thread(store.put_failed_fetch, ticker, failed_at, reason.message)
                    raise reason from error


def _parse(parser: Callable[[Any, str], _T], content: bytes, name: str) -> _T:
    try:
        return parser(content if name.endswith((".xml", ".xsd")) else parse_json(content, name), name)
    except FeedUnusable as error:
        raise SourceChanged(f"EDGAR returned an unusable response: {error.message}") from error


def _check_cik(received: int, requested: int) -> None:
    if received != requested:
        raise SourceChanged(f"EDGAR returned CIK {received}, but CIK {requested} was requested")
