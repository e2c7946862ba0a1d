"""Fetch a company from EDGAR into the facts file; after a failure the stored figures still answer."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeVar

from fingerpost.errors import DataNotFound, FeedUnusable, SourceChanged
from fingerpost.filings.companyfacts import FactsFile, parse_json, read_facts, read_submissions, read_tickers
from fingerpost.filings.edgar import Edgar
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.sections import read_plain_text, split_sections
from fingerpost.filings.store import FactStore, facts_file, plain_ticker
from fingerpost.net.client import Client
from fingerpost.net.response import MemoryBody, Response, Validators

NEW, UNCHANGED, NOT_IN_AGGREGATE = "new", "unchanged", "not_in_aggregate"

_NOT_MODIFIED = 304
_WITH_SECTIONS = frozenset({"10-K", "10-K/A", "10-Q", "10-Q/A", "20-F", "40-F"})
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """The result for one CIK; ``facts`` is ``new``, ``unchanged``, or ``not_in_aggregate`` if EDGAR has no figures."""

    ticker: str
    cik: int
    name: str
    facts: str
    complete_through: str | None
    filings: int
    texts: int


class EdgarSync:
    def __init__(self, store: FactStore, client: Client, edgar: Edgar) -> None:
        self._store = store
        self._client = client
        self._edgar = edgar
        # The validators are in the facts file, so that they are copied and removed with the facts.
        self._file = facts_file(store.path)

    async def sync(self, ticker: str, *, texts: int = 0) -> list[Synced]:
        """Fetch, of every CIK of a ticker, the figures, the list of filings and the newest ``texts`` texts.

        Raise DataNotFound, with near tickers, for an unknown one, and StorageUnavailable if EDGAR does not answer.
        """
        wanted = plain_ticker(ticker)
        with closing(FactLibrary(self._store.path)) as library:
            return [await self._sync(library, wanted, cik, texts) for cik in await self._ciks(library, wanted)]

    async def _ciks(self, library: FactLibrary, ticker: str) -> list[int]:
        known = await asyncio.to_thread(library.list_owners, ticker)
        if not known:
            response = await self._client.fetch(self._edgar.tickers())
            rows = _read(read_tickers, response.body, "company_tickers.json")
            await asyncio.to_thread(self._store.put_tickers, rows)
            known = await asyncio.to_thread(library.list_owners, ticker)
        if not known:
            near = await asyncio.to_thread(library.suggest_tickers, ticker)
            raise DataNotFound(
                f"EDGAR has no ticker {ticker}",
                {"reason": "unknown_ticker", "did_you_mean": near},
                hint=f"Did you mean {', '.join(near)}?" if near else None,
            )
        return sorted({cik for cik, _name in known})

    async def _sync(self, library: FactLibrary, ticker: str, cik: int, texts: int) -> Synced:
        answer = await self._client.fetch(self._edgar.submissions(cik))
        submissions = _read(read_submissions, answer.body, f"submissions of CIK {cik}")
        _check_cik(submissions.cik, cik)
        outcome = await self._sync_facts(library, cik, submissions.tickers or [ticker])
        await asyncio.to_thread(self._store.put_submissions, submissions)
        reports = [filing for filing in submissions.filings if filing.form in _WITH_SECTIONS and filing.document]
        for filing in reports[:texts]:
            request = self._edgar.document(cik, filing.accession, filing.document)
            text = read_plain_text((await self._client.fetch(request)).body)
            sections = split_sections(cik, filing.accession, filing.form, filing.filed, text)
            await asyncio.to_thread(self._store.put_sections, sections)
        company = await asyncio.to_thread(library.find_company, f"CIK{cik}")
        return Synced(
            ticker=ticker,
            cik=cik,
            name=submissions.name,
            facts=outcome,
            complete_through=company.complete_through if company is not None else None,
            filings=len(submissions.filings),
            texts=len(reports[:texts]),
        )

    async def _sync_facts(self, library: FactLibrary, cik: int, tickers: list[str]) -> str:
        request, body = self._edgar.facts(cik), MemoryBody()
        known = await asyncio.to_thread(_find_validators, library, request.url, cik)
        try:
            response = await self._client.fetch_into(request, body, known)
        except DataNotFound:
            return NOT_IN_AGGREGATE
        if response.status == _NOT_MODIFIED:
            return UNCHANGED
        file = _read(read_facts, body.content(), f"companyfacts of CIK {cik}")
        _check_cik(file.cik, cik)
        await asyncio.to_thread(self._store_facts, request.url, response, file, tickers)
        return NEW

    def _store_facts(self, url: str, response: Response, file: FactsFile, tickers: list[str]) -> None:
        """Store the figures, then their validators; after a crash in between, they are fetched again."""
        retrieved_at = response.retrieved_at.strftime("%Y-%m-%dT%H:%M:%SZ")
        self._store.put_facts(file, tickers=tickers, retrieved_at=retrieved_at)
        with self._file.opened() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO fetched (url, etag, last_modified, retrieved_at) VALUES (?, ?, ?, ?)",
                (url, response.validators.etag, response.validators.last_modified, retrieved_at),
            )


def _find_validators(library: FactLibrary, url: str, cik: int) -> Validators | None:
    query = "SELECT etag, last_modified FROM fetched JOIN companies USING (retrieved_at) WHERE url = ? AND cik = ?"
    found = library.rows(query, url, cik)
    return Validators(etag=found[0][0], last_modified=found[0][1]) if found else None


def _read(reader: Callable[[Mapping[str, Any], str], _T], content: bytes, name: str) -> _T:
    try:
        return reader(parse_json(content, name), name)
    except FeedUnusable as error:
        raise SourceChanged(f"EDGAR's answer cannot be used: {error.message}") from error


def _check_cik(received: int, requested: int) -> None:
    if received != requested:
        raise SourceChanged(f"EDGAR answered with CIK {received}, but CIK {requested} was requested")
