"""Fetch one company that is not loaded yet from EDGAR, within a time limit, while the caller waits."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from fingerpost import clock
from fingerpost.errors import DataNotFound, SourceFailed, SourceTimeout, ToolError
from fingerpost.filings.edgar import Edgar
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.store import FactStore, normalize_ticker
from fingerpost.filings.sync import EdgarSync
from fingerpost.runtime.concurrency import run_in_thread

if TYPE_CHECKING:
    from fingerpost.net.client import Client

_TIMEOUT_S = 30
# A failed fetch is not repeated for this long.
_FAILURE = timedelta(days=1)


class CompanyFetcher:
    """Fetches companies into the facts file, and records failures there for all processes."""

    def __init__(
        self, path: Path, edgar: Edgar, open_client: Callable[[], AbstractAsyncContextManager["Client"]]
    ) -> None:
        self._store = FactStore(path)
        self._edgar = edgar
        self._open_client = open_client

    async def fetch(self, text: str) -> None:
        """Fetch a company by ticker or name; raise ToolError if the fetch fails, or failed within the last day."""
        with closing(FactLibrary(self._store.path)) as library:
            ticker = normalize_ticker(text)
            now = clock.now()
            failure = await run_in_thread(library.find_failed_fetch, ticker)
            if failure is not None and failure[0] > (now - _FAILURE).isoformat():
                raise SourceFailed(f"{failure[1]} (tried at {failure[0]})", retryable=False)
            try:
                async with asyncio.timeout(_TIMEOUT_S), self._open_client() as client:
                    await self._sync(EdgarSync(self._store, client, self._edgar), library, text)
            except (ToolError, TimeoutError) as error:
                timed_out = SourceTimeout(f"EDGAR did not send it within {_TIMEOUT_S} seconds")
                reason = error if isinstance(error, ToolError) else timed_out
                failed_at = now.isoformat(timespec="seconds")
                await run_in_thread(self._store.put_failed_fetch, ticker, failed_at, reason.message)
                raise reason from error

    async def _sync(self, sync: EdgarSync, library: FactLibrary, text: str) -> None:
        """Fetch a company by ticker, or by a name in EDGAR's list of tickers, which is fetched if necessary."""
        listed = await run_in_thread(library.find_listed_company, text)
        try:
            await sync.sync(listed[0] if listed else text)
        except DataNotFound:
            found = None if listed else await run_in_thread(library.find_listed_company, text)
            if found is None:
                raise
            await sync.sync(found[0])


def find_unloaded_company(params: BaseModel, missing: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the first company in a query without loaded figures, or None; ``missing`` comes from the answer."""
    reasons = {name: entry["reason"] for name, entry in missing.items()}
    fields = [getattr(params, name, None) for name in ("tickers", "among")]
    ticker: str | None = getattr(params, "ticker", None)
    for company in [ticker, *(company for companies in fields for company in companies or ())]:
        if company is not None and reasons.get(company) in ("unknown_ticker", "not_loaded"):
            return str(company)
    return ticker if "outside_sample" in reasons.values() else None
