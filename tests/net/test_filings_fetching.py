"""A company that is not loaded is fetched from EDGAR during the call, for callers with a user name."""

import asyncio
from contextlib import closing

import pytest

from fingerpost.filings.library import FactLibrary
from fingerpost.filings.sync import CompanyFetcher, Edgar
from fingerpost.filings.tools.sec_financial_data import SecFinancialData
from tests.net.local_server import answer, new_client, serving
from tests.net.test_filings_sync import CONTACT, SUBMISSIONS, TICKERS, as_json, facts

FETCHED = [as_json(TICKERS), as_json(SUBMISSIONS), as_json(facts(2024, 2025))]


async def ask(server, tmp_path, ticker="TOWN", *, user="ann", query_type="financial_facts", day="2026-03-01", **fields):
    path, told = tmp_path / "filings.sqlite", []
    edgar = Edgar(contact=CONTACT, data=server.url, www=server.url)
    with closing(FactLibrary(path)) as library:
        tool = SecFinancialData(library, CompanyFetcher(path, edgar, new_client))
        parameters = {"ticker": ticker, "metrics": ["Revenue"], "period": "2025"} | fields
        raw = {"query_type": query_type, "parameters": {k: v for k, v in parameters.items() if v is not None}}
        done = await tool.answer(raw, user=user, report=lambda *report: told.append(report))
    return done, told


@pytest.mark.parametrize("company", ["TOWN", "Town Corp."])
async def test_an_unknown_company_is_fetched_and_answered(tmp_path, company):
    async with serving(*FETCHED) as server:
        done, told = await ask(server, tmp_path, company)
        again, _ = await ask(server, tmp_path, company)

    assert (done.body["data"], again.body["data"]) == ({"Revenue": 25_000_000}, {"Revenue": 25_000_000})
    assert (told, len(server.asked)) == ([(0, 1, f"Fetching {company} from EDGAR")], 3)


async def test_two_callers_fetch_a_company_once(tmp_path):
    async with serving(*FETCHED) as server:
        both = await asyncio.gather(ask(server, tmp_path), ask(server, tmp_path))

    assert [done.body["data"] for done, _ in both] == [{"Revenue": 25_000_000}] * 2
    assert len(server.asked) == 3


async def test_an_anonymous_caller_fetches_nothing(tmp_path):
    async with serving() as server:
        done, _ = await ask(server, tmp_path, user=None)

    assert (done.body["success"], server.asked) == (False, [])


async def test_one_company_is_fetched_in_a_call_and_the_others_are_missing(tmp_path):
    async with serving(*FETCHED) as server:
        fields = {"ticker": None, "tickers": ["TOWN", "NVDA", "ZZZZ"], "query_type": "compare"}
        done, _ = await ask(server, tmp_path, **fields)

    assert (list(done.body["data"]), list(done.body["missing"])) == (["TOWN", "NVDA"], ["ZZZZ"])
    assert len(server.asked) == 3


async def test_a_failure_is_reported_and_remembered_for_a_day(tmp_path, monkeypatch):
    async with serving(answer("404 Not Found"), *FETCHED) as server:
        days = {}
        for day in ("2026-03-01T00:00:00Z", "2026-03-01T23:59:00Z", "2026-03-02T00:00:01Z"):
            monkeypatch.setenv("FINGERPOST_NOW", day)
            done, _ = await ask(server, tmp_path)
            days[day] = (done.body["success"], len(server.asked))
            if day < "2026-03-02":
                assert "; TOWN was not fetched from EDGAR: EDGAR has no such file" in done.body["warning"]

    assert list(days.values()) == [(False, 1), (False, 1), (True, 4)]


async def test_a_slow_server_is_left_after_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr("fingerpost.filings.sync._FETCH_TIMEOUT_S", 0)
    async with serving(*FETCHED) as server:
        done, _ = await ask(server, tmp_path)

    assert "EDGAR did not send the figures within 0 seconds" in done.body["warning"]
