"""Fetch a company's figures and filings from EDGAR into the facts file; a failure leaves stored figures intact."""

from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from fingerpost.errors import DataNotFound, FeedUnusable, SourceChanged
from fingerpost.filings.companyfacts import FactsFile, parse_json, read_facts, read_submissions, read_tickers
from fingerpost.filings.edgar import Edgar
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.sections import read_plain_text, split_sections
from fingerpost.filings.store import FactStore, build_facts_file, normalize_ticker
from fingerpost.net.response import MemoryBody, Response, Validators
from fingerpost.runtime.concurrency import run_in_thread

if TYPE_CHECKING:
    from fingerpost.net.client import Client

NEW, UNCHANGED, NOT_IN_AGGREGATE = "new", "unchanged", "not_in_aggregate"

_NOT_MODIFIED = 304
FORMS_WITH_ITEMS = frozenset({"10-K", "10-K/A", "10-Q", "10-Q/A", "20-F", "40-F"})
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedCompany:
    """The result for a CIK; ``facts`` is ``new``, ``unchanged``, or ``not_in_aggregate`` if EDGAR has no figures."""

    ticker: str
    cik: int
    name: str
    facts: str
    complete_through: str | None
    filings: int
    texts: int


class EdgarSync:
    def __init__(self, store: FactStore, client: "Client", edgar: Edgar) -> None:
        self._store = store
        self._client = client
        self._edgar = edgar
        # HTTP validators are stored in the facts file, to be copied and removed together with the facts.
        self._file = build_facts_file(store.path)

    async def sync(
        self, ticker: str, *, texts: int = 0, forms: Collection[str] = FORMS_WITH_ITEMS
    ) -> list[SyncedCompany]:
        """Fetch the figures, filings and newest ``texts`` documents of these forms for all CIKs of a ticker.

        Raise DataNotFound with similar tickers for an unknown ticker, and StorageUnavailable if EDGAR does not respond.
        """
        normalized = normalize_ticker(ticker)
        with closing(FactLibrary(self._store.path)) as library:
            ciks = await self._find_ciks(library, normalized)
            return [await self._sync(library, normalized, cik, texts, forms) for cik in ciks]

    async def _find_ciks(self, library: FactLibrary, ticker: str) -> list[int]:
        owners = await run_in_thread(library.list_ticker_owners, ticker)
        if not owners:
            response = await self._client.fetch(self._edgar.build_tickers_request())
            rows = _parse(read_tickers, response.body, "company_tickers.json")
            await run_in_thread(self._store.put_tickers, rows)
            owners = await run_in_thread(library.list_ticker_owners, ticker)
        if not owners:
            suggestions = await run_in_thread(library.suggest_tickers, ticker)
            raise DataNotFound(
                f"EDGAR has no ticker {ticker}",
                {"reason": "unknown_ticker", "did_you_mean": suggestions},
                hint=f"Did you mean {', '.join(suggestions)}?" if suggestions else None,
            )
        return sorted({cik for cik, _name in owners})

    async def _sync(
        self, library: FactLibrary, ticker: str, cik: int, texts: int, forms: Collection[str]
    ) -> SyncedCompany:
        response = await self._client.fetch(self._edgar.request_submissions(cik))
        submissions = _parse(read_submissions, response.body, f"submissions of CIK {cik}")
        _check_cik(submissions.cik, cik)
        facts_state = await self._sync_facts(library, cik, submissions.tickers or [ticker])
        await run_in_thread(self._store.put_submissions, submissions)
        reports = [filing for filing in submissions.filings if filing.form in forms and filing.document]
        for filing in reports[:texts]:
            request = self._edgar.request_document(cik, filing.accession, filing.document)
            text = read_plain_text((await self._client.fetch(request)).body)
            sections = split_sections(cik, filing.accession, filing.form, filing.filed, text)
            await run_in_thread(self._store.put_sections, sections)
        company = await run_in_thread(library.find_company, f"CIK{cik}")
        return SyncedCompany(
            ticker=ticker,
            cik=cik,
            name=submissions.name,
            facts=facts_state,
            complete_through=company.complete_through if company is not None else None,
            filings=len(submissions.filings),
            texts=len(reports[:texts]),
        )

    async def _sync_facts(self, library: FactLibrary, cik: int, tickers: list[str]) -> str:
        request, body = self._edgar.request_facts(cik), MemoryBody()
        validators = await run_in_thread(_find_validators, library, request.url, cik)
        try:
            response = await self._client.fetch_into(request, body, validators)
        except DataNotFound:
            return NOT_IN_AGGREGATE
        if response.status == _NOT_MODIFIED:
            return UNCHANGED
        file = _parse(read_facts, body.content(), f"companyfacts of CIK {cik}")
        _check_cik(file.cik, cik)
        await run_in_thread(self._store_facts, request.url, response, file, tickers)
        return NEW

    def _store_facts(self, url: str, response: Response, file: FactsFile, tickers: list[str]) -> None:
        """Store the figures, then their validators, so that a crash in between causes a new fetch."""
        retrieved_at = response.retrieved_at.strftime("%Y-%m-%dT%H:%M:%SZ")
        self._store.put_facts(file, tickers=tickers, retrieved_at=retrieved_at)
        with self._file.opened() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO fetched (url, etag, last_modified, retrieved_at) VALUES (?, ?, ?, ?)",
                (url, response.validators.etag, response.validators.last_modified, retrieved_at),
            )


def _find_validators(library: FactLibrary, url: str, cik: int) -> Validators | None:
    query = "SELECT etag, last_modified FROM fetched JOIN companies USING (retrieved_at) WHERE url = ? AND cik = ?"
    rows = library.rows(query, url, cik)
    return Validators(etag=rows[0][0], last_modified=rows[0][1]) if rows else None


def _parse(parser: Callable[[Mapping[str, Any], str], _T], content: bytes, name: str) -> _T:
    try:
        return parser(parse_json(content, name), name)
    except FeedUnusable as error:
        raise SourceChanged(f"EDGAR's answer cannot be used: {error.message}") from error


def _check_cik(received: int, requested: int) -> None:
    if received != requested:
        raise SourceChanged(f"EDGAR answered with CIK {received}, but CIK {requested} was requested")
