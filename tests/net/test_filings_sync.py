"""A local EDGAR: refusals, truncated responses, new data, and a database that stays usable."""

import gzip
import json
from contextlib import closing

import pytest

from fingerpost.errors import (
    DataNotFound,
    SourceChanged,
    SourceFailed,
    SourceKeyRefused,
    SourceLimited,
    SourceUnreachable,
)
from fingerpost.filings.companyfacts import read_facts
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.store import FactStore
from fingerpost.filings.sync import PACE, PACES, Edgar, EdgarSync
from fingerpost.net.limiter import Limiter
from tests.filings.drawing import companyfacts, submissions
from tests.filings.test_segments import LABELS, PRODUCTS
from tests.net.local_server import HOST, FakeTime, answer, new_client, serving
from tests.shared_data import get_shared

CONTACT = "ops@example.org"
CIK = 1234567
TICKERS = {"0": {"cik_str": CIK, "ticker": "TOWN", "title": "Town Corp."}}
SUBMISSIONS = submissions(
    ("0001234567-26-000002", "10-K", "2026-02-01", "2025-12-31", "town-10k.htm", "10-K"),
    cik=CIK,
    name="Town Corp.",
    tickers=["TOWN"],
    exchanges=["NYSE"],
    sic="4111",
    sicDescription="Local Transit",
)
SYNCED = "TOWN Town Corp. (CIK 1234567): figures fetched, filed up to 2026-02-01; 1 filings listed"
DOCUMENT = b"""<html><head><title>hidden</title></head><body><p>Item 1. Business</p><p>Trams &amp; ferries.</p>
<p>Item 1A. Risk Factors</p><p>Rain.</p><script>hidden()</script></body></html>"""
BLOCKED = b"<!DOCTYPE html><html><title>SEC.gov | Request Rate Threshold Exceeded</title></html>"
UNDECLARED = b"<html><h1>Your Request Originates from an Undeclared Automated Tool</h1></html>"


def facts(*years, cik=CIK):
    rows = [
        f"Revenues {year}-01-01 {year}-12-31 {year - 2000}000000 0001234567-{year - 1999}-000002 10-K {year + 1}-02-01"
        for year in years
    ]
    return companyfacts("\n".join(rows), cik=cik, name="Town Corp.")


def as_json(body, **headers):
    return answer(body=gzip.compress(json.dumps(body).encode()), Content_Encoding="gzip", **headers)


def syncing(server, client, tmp_path):
    return EdgarSync(
        FactStore(tmp_path / "filings.sqlite"), client, Edgar(contact=CONTACT, data=server.url, www=server.url)
    )


def covered(tmp_path):
    with closing(FactLibrary(tmp_path / "filings.sqlite")) as library:
        company = library.find_company("TOWN")
        count = library.rows("SELECT count(*) FROM facts WHERE cik = ?", CIK)[0][0]
        return company and company.complete_through, count


async def test_a_company_is_fetched(tmp_path):
    replies = [as_json(TICKERS), as_json(SUBMISSIONS), as_json(facts(2024, 2025))]
    async with serving(*replies) as server, new_client() as client:
        done = await syncing(server, client, tmp_path).sync("town")

    assert done == [SYNCED]
    assert [asked.target for asked in server.asked] == [
        "/files/company_tickers.json",
        "/submissions/CIK0001234567.json",
        "/api/xbrl/companyfacts/CIK0001234567.json",
    ]
    assert {asked.headers["user-agent"] for asked in server.asked} == {f"fingerpost {CONTACT}"}
    assert covered(tmp_path) == ("2026-02-01", 2)


async def test_new_figures_are_loaded_and_unchanged_ones_are_not_fetched(tmp_path):
    replies = [as_json(TICKERS), as_json(SUBMISSIONS), as_json(facts(2024), ETag='"1"'), as_json(SUBMISSIONS)]
    replies += [answer("304 Not Modified"), as_json(SUBMISSIONS), as_json(facts(2024, 2025), ETag='"2"')]
    async with serving(*replies) as server, new_client() as client:
        sync = syncing(server, client, tmp_path)
        outcomes = [(await sync.sync("TOWN"))[0].split()[6] for _ in range(3)]

    sent = [asked.headers.get("if-none-match") for asked in server.asked if "companyfacts" in asked.target]
    assert (outcomes, sent) == (["fetched,", "unchanged,", "fetched,"], [None, '"1"', '"1"'])
    assert covered(tmp_path) == ("2026-02-01", 2)


async def test_validators_count_only_for_the_figures_that_are_there(tmp_path):
    replies = [as_json(TICKERS), as_json(SUBMISSIONS), as_json(facts(2024), ETag='"1"'), as_json(SUBMISSIONS)]
    replies += [as_json(facts(2024), ETag='"1"')]
    async with serving(*replies) as server, new_client() as client:
        sync = syncing(server, client, tmp_path)
        await sync.sync("TOWN")
        FactStore(tmp_path / "filings.sqlite").put_facts(read_facts(facts(2001), "older"), tickers=["TOWN"])
        await sync.sync("TOWN")

    assert ("if-none-match" in server.asked[-1].headers, covered(tmp_path)) == (False, ("2025-02-01", 1))


def test_without_a_contact_edgar_is_not_called():
    with pytest.raises(SourceKeyRefused, match="FINGERPOST_SEC_CONTACT") as raised:
        Edgar(contact=" ")

    assert raised.value.details == {"setting": "FINGERPOST_SEC_CONTACT"}


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        pytest.param(answer("403 Forbidden", UNDECLARED), SourceKeyRefused, id="403 without contact"),
        pytest.param(answer("403 Forbidden"), SourceKeyRefused, id="403"),
        pytest.param(answer("429 Too Many Requests", Retry_After="700"), SourceLimited, id="429"),
        pytest.param(answer("403 Forbidden", BLOCKED), SourceLimited, id="block page as 403"),
        pytest.param(answer("200 OK", BLOCKED), SourceLimited, id="block page as 200"),
        pytest.param(answer("503 Busy"), SourceFailed, id="503"),
        pytest.param(answer(body=json.dumps(facts(2025)).encode()[:-40]), SourceChanged, id="truncated JSON"),
        pytest.param(answer(body=b"<html>Maintenance</html>"), SourceChanged, id="a web page"),
        pytest.param(as_json(facts(2025, cik=99)), SourceChanged, id="another company"),
        pytest.param(as_json({"cik": CIK, "entityName": "T", "facts": []}), SourceChanged, id="another shape"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 9999\r\n\r\n{", SourceUnreachable, id="broken off"
        ),
    ],
)
async def test_the_file_keeps_answering_after_any_failure(tmp_path, reply, error):
    replies = [as_json(TICKERS), as_json(SUBMISSIONS), as_json(facts(2024)), as_json(SUBMISSIONS), reply]
    if error is SourceUnreachable:
        replies[-1] = closing_after(reply)
    async with serving(*replies) as server, new_client() as client:
        sync = syncing(server, client, tmp_path)
        await sync.sync("TOWN")
        with pytest.raises(error):
            await sync.sync("TOWN")

    assert covered(tmp_path) == ("2025-02-01", 1)


def closing_after(content):
    async def write(writer):
        writer.write(content)
        await writer.drain()

    return write


async def test_a_blocked_client_sends_nothing_for_ten_minutes(tmp_path):
    time = FakeTime()
    limiter = Limiter(paces={HOST: PACE}, clock_ms=time.clock_ms, sleep=time.sleep)
    replies = [answer("403 Forbidden", BLOCKED), as_json(TICKERS)]
    async with serving(*replies) as server, new_client(limiter=limiter) as client:
        sync = syncing(server, client, tmp_path)
        for _ in range(3):
            with pytest.raises(SourceLimited) as raised:
                await sync.sync("TOWN")

    assert (len(server.asked), raised.value.retry_after_s) == (1, 600)


async def test_a_company_missing_from_the_aggregate_is_reported(tmp_path):
    replies = [as_json(TICKERS), as_json(SUBMISSIONS), answer("404 Not Found", b"<Error>NoSuchKey</Error>")]
    async with serving(*replies) as server, new_client() as client:
        done = await syncing(server, client, tmp_path).sync("TOWN")

    assert done == ["TOWN Town Corp. (CIK 1234567): EDGAR has no figures for this company; 1 filings listed"]


async def test_a_ticker_unknown_to_edgar_is_reported_with_similar_ones(tmp_path):
    async with serving(as_json(TICKERS)) as server, new_client() as client:
        with pytest.raises(DataNotFound) as raised:
            await syncing(server, client, tmp_path).sync("TOWNN")

    assert raised.value.details == {"reason": "unknown_ticker", "did_you_mean": ["TOWN"]}


async def test_the_text_of_reports_is_fetched_on_request(tmp_path):
    replies = [as_json(TICKERS), as_json(SUBMISSIONS), as_json(facts(2025)), answer(body=DOCUMENT)]
    async with serving(*replies) as server, new_client() as client:
        done = await syncing(server, client, tmp_path).sync("TOWN", texts=5)

    with closing(FactLibrary(tmp_path / "filings.sqlite")) as library:
        sections = library.rows("SELECT section_type, text FROM sections ORDER BY position")
    assert server.asked[-1].target == "/Archives/edgar/data/1234567/000123456726000002/town-10k.htm"
    assert (done, sections) == ([f"{SYNCED}; 1 texts"], [("business", "Trams & ferries."), ("risk_factors", "Rain.")])


async def test_the_segments_of_reports_are_fetched_with_their_labels(tmp_path):
    """A label file that is missing is looked for in the schema; a report without an instance is not counted."""
    instance = answer(body=PRODUCTS.replace(">7<", f">{CIK}<").encode())
    start = [as_json(TICKERS), as_json(SUBMISSIONS), as_json(facts(2025))]
    async with serving(*start, instance, answer(404), answer(body=LABELS.encode())) as server, new_client() as client:
        done = await syncing(server, client, tmp_path).sync("TOWN", instances=5)
    async with serving(*start, answer(404)) as without, new_client() as client:
        none = await syncing(without, client, tmp_path / "other").sync("TOWN", instances=5)

    with closing(FactLibrary(tmp_path / "filings.sqlite")) as library:
        labels = library.rows("SELECT label FROM instance_labels ORDER BY label")
    assert [request.target.rpartition("/")[2] for request in server.asked[3:]] == [
        "town-10k_htm.xml", "ink-20231231_lab.xml", "ink-20231231.xsd",
    ]  # fmt: skip
    assert (done, labels) == ([f"{SYNCED}; segments from 1 reports"], [("Black ink",), ("Products",)])
    assert none == [SYNCED]


def test_edgar_is_called_at_most_eight_times_a_second_over_both_hosts():
    assert dict(PACES) == dict.fromkeys(("data.sec.gov", "www.sec.gov"), PACE)
    assert (PACE.per_second, PACE.burst) == (8, 1)


async def test_apples_files_are_fetched_over_http(tmp_path):
    """The contract's figure, from EDGAR's files: revenue of fiscal 2022 as 0000320193-22-000108 states it."""
    names = ("submissions_CIK0000320193_AAPL.json", "companyfacts_CIK0000320193_AAPL.json")
    replies = [
        answer(body=gzip.compress(get_shared(f"sec/{name}").read_bytes(), 1), Content_Encoding="gzip") for name in names
    ]
    async with serving(*replies) as server, new_client() as client:
        done = await syncing(server, client, tmp_path).sync("AAPL")
    with closing(FactLibrary(tmp_path / "filings.sqlite")) as library:
        revenue = library.rows(
            "SELECT DISTINCT value FROM facts WHERE ticker = 'AAPL' AND accession_number = '0000320193-22-000108'"
            " AND concept LIKE 'us-gaap:RevenueFromContract%' AND start_date = '2021-09-26' AND end_date = '2022-09-24'"
        )

    assert ("figures fetched" in done[0], 394_328_000_000 in [value for (value,) in revenue]) == (True, True)
