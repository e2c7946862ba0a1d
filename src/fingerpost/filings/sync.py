"""Fetching a company from EDGAR into the facts file, politely; whatever fails, what was there keeps answering."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from fingerpost.errors import DataNotFound, FeedUnusable, SourceChanged
from fingerpost.filings.companyfacts import FactsFile, parse_json, read_facts, read_submissions, read_tickers
from fingerpost.filings.edgar import Edgar
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.sections import read_plain_text, split_sections
from fingerpost.filings.store import FactStore, facts_file, plain_ticker
from fingerpost.net.client import Client
from fingerpost.net.response import MemoryBody, Response, Validators

_TABLE = """
    CREATE TABLE IF NOT EXISTS fetched (
        url TEXT PRIMARY KEY, etag TEXT, last_modified TEXT, retrieved_at TEXT NOT NULL
    ) WITHOUT ROWID
"""

NEW, UNCHANGED, NOT_IN_AGGREGATE = "new", "unchanged", "not_in_aggregate"

_NOT_MODIFIED = 304
_WITH_SECTIONS = frozenset({"10-K", "10-K/A", "10-Q", "10-Q/A", "20-F", "40-F"})
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """What became of one CIK.

    Attributes:
        facts: ``new``, ``unchanged``, or ``not_in_aggregate``: EDGAR's collection holds no figures of the company.
        complete_through: the newest filing day that the figures cover, or None where there are none.
        filings: how many are listed.
        texts: how many filings' texts were fetched.
    """

    ticker: str
    cik: int
    name: str
    facts: str
    complete_through: str | None
    filings: int
    texts: int


class EdgarSync:
    """Brings companies from EDGAR into a facts file."""

    def __init__(self, store: FactStore, client: Client, edgar: Edgar) -> None:
        self._store = store
        self._client = client
        self._edgar = edgar
        # The validators of what was fetched are in the facts file: they go where the facts go.
        self._file = facts_file(store.path)

    async def sync(self, ticker: str, *, texts: int = 0) -> list[Synced]:
        """Fetch a company's figures, its list of filings and, of its newest reports, ``texts`` texts.

        A ticker may stand for several CIKs: each is fetched.

        Raises:
            DataNotFound: EDGAR knows no such ticker; the message names near ones.
            SourceKeyRefused: EDGAR does not accept the contact.
            SourceLimited: EDGAR, or our own limit, asks us to wait ``retry_after_s``.
            SourceTimeout, SourceUnreachable, SourceFailed: EDGAR did not answer.
            SourceChanged: it answered something else than it used to.
        """
        wanted = plain_ticker(ticker)
        return [await self._sync(wanted, cik, texts) for cik in await self._ciks(wanted)]

    async def _ciks(self, ticker: str) -> list[int]:
        def list_ciks(library: FactLibrary) -> list[int]:
            return sorted({cik for cik, _name in library.list_owners(ticker)})

        known = await self._look(list_ciks)
        if not known:
            response = await self._client.fetch(self._edgar.tickers())
            rows = _read(read_tickers, response.body, "company_tickers.json")
            await asyncio.to_thread(self._store.put_tickers, rows)
            known = await self._look(list_ciks)
        if not known:
            near = await self._look(lambda library: library.suggest_tickers(ticker))
            raise DataNotFound(
                f"EDGAR knows no ticker {ticker}",
                {"reason": "unknown_ticker", "did_you_mean": near},
                hint=f"Did you mean {', '.join(near)}?" if near else None,
            )
        return known

    async def _sync(self, ticker: str, cik: int, texts: int) -> Synced:
        answer = await self._client.fetch(self._edgar.submissions(cik))
        submissions = _read(read_submissions, answer.body, f"submissions of CIK {cik}")
        _same_company(submissions.cik, cik)
        outcome = await self._sync_facts(cik, submissions.tickers or [ticker])
        await asyncio.to_thread(self._store.put_submissions, submissions)
        reports = [filing for filing in submissions.filings if filing.form in _WITH_SECTIONS and filing.document]
        for filing in reports[:texts]:
            request = self._edgar.document(cik, filing.accession, filing.document)
            text = read_plain_text((await self._client.fetch(request)).body)
            sections = split_sections(cik, filing.accession, filing.form, filing.filed, text)
            await asyncio.to_thread(self._store.put_sections, sections)
        return Synced(
            ticker=ticker,
            cik=cik,
            name=submissions.name,
            facts=outcome,
            complete_through=await self._look(partial(_find_last_day, cik=cik)),
            filings=len(submissions.filings),
            texts=len(reports[:texts]),
        )

    async def _sync_facts(self, cik: int, tickers: list[str]) -> str:
        request, body = self._edgar.facts(cik), MemoryBody()
        known = await self._look(partial(_find_validators, url=request.url, cik=cik))
        try:
            response = await self._client.fetch_into(request, body, known)
        except DataNotFound:
            return NOT_IN_AGGREGATE
        if response.status == _NOT_MODIFIED:
            return UNCHANGED
        file = _read(read_facts, body.content(), f"companyfacts of CIK {cik}")
        _same_company(file.cik, cik)
        await asyncio.to_thread(self._keep, request.url, response, file, tickers)
        return NEW

    def _keep(self, url: str, response: Response, file: FactsFile, tickers: list[str]) -> None:
        """Store the figures first and their validators last: killed between, they are fetched once more."""
        retrieved_at = response.retrieved_at.strftime("%Y-%m-%dT%H:%M:%SZ")
        self._store.put_facts(file, tickers=tickers, retrieved_at=retrieved_at)
        with self._file.opened() as connection:
            connection.execute(_TABLE)
            connection.execute(
                "INSERT OR REPLACE INTO fetched (url, etag, last_modified, retrieved_at) VALUES (?, ?, ?, ?)",
                (url, response.validators.etag, response.validators.last_modified, retrieved_at),
            )

    async def _look(self, find: Callable[[FactLibrary], _T]) -> _T:
        """Return what a function finds in the facts file; it runs in a thread."""

        def look() -> _T:
            with closing(FactLibrary(self._store.path)) as library:
                return find(library)

        return await asyncio.to_thread(look)


def _find_validators(library: FactLibrary, *, url: str, cik: int) -> Validators | None:
    """Return the validators of the figures that are in the file, or None where it holds others, or none."""
    if not library.rows("SELECT 1 FROM main.sqlite_master WHERE name = 'fetched'"):
        return None
    query = "SELECT etag, last_modified FROM fetched JOIN companies USING (retrieved_at) WHERE url = ? AND cik = ?"
    found = library.rows(query, url, cik)
    return Validators(etag=found[0][0], last_modified=found[0][1]) if found else None


def _find_last_day(library: FactLibrary, *, cik: int) -> str | None:
    rows = library.rows("SELECT complete_through FROM companies WHERE cik = ?", cik)
    return str(rows[0][0]) if rows else None


def _read(reader: Callable[[Mapping[str, Any], str], _T], content: bytes, name: str) -> _T:
    """Return what a reader makes of an answer; raise SourceChanged if it makes nothing of it."""
    try:
        return reader(parse_json(content, name), name)
    except FeedUnusable as error:
        raise SourceChanged(f"EDGAR's answer cannot be used: {error.message}") from error


def _same_company(answered: int, asked: int) -> None:
    if answered != asked:
        raise SourceChanged(f"EDGAR answered with CIK {answered} where CIK {asked} was asked for")
