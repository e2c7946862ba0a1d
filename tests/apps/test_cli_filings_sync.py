"""Companies come from EDGAR by one command."""

import functools
import json

import pytest

from fingerpost.apps.cli import filings_load
from fingerpost.filings import edgar
from tests.apps.feed_server import serving_feeds
from tests.net.test_filings_sync import CIK, SUBMISSIONS, TICKERS, facts


@pytest.fixture
def local_edgar(monkeypatch):
    """EDGAR on this machine, with one company."""
    monkeypatch.setenv("FINGERPOST_PRIVATE_HOSTS", "127.0.0.1")
    monkeypatch.setenv("FINGERPOST_SEC_CONTACT", "ops@example.org")
    with serving_feeds() as server:
        monkeypatch.setattr(filings_load, "Edgar", functools.partial(edgar.Edgar, data=server.url, www=server.url))
        files = {
            "/files/company_tickers.json": TICKERS,
            f"/submissions/CIK{CIK:010d}.json": SUBMISSIONS,
            f"/api/xbrl/companyfacts/CIK{CIK:010d}.json": facts(2024),
        }
        server.contents = {path: json.dumps(content).encode() for path, content in files.items()}
        yield server


def test_a_company_is_synced_and_found_unchanged(local_edgar, invoke):
    """What came, until when it is complete, and the second time that nothing is new."""
    first = invoke("filings", "sync", "town")
    again = invoke("filings", "sync", "TOWN")

    assert (first.returncode, first.stdout) == (
        0,
        "TOWN Town Corp. (CIK 1234567): figures fetched, complete through 2025-02-01; 1 filings listed\n",
    )
    assert "figures unchanged, complete through 2025-02-01" in again.stdout


def test_one_company_that_fails_does_not_keep_the_others_away(local_edgar, invoke):
    """An unknown ticker is told with a near one; the other company comes; the status is 1."""
    done = invoke("filings", "sync", "TOWNN", "TOWN")

    assert (done.returncode, "Did you mean TOWN?" in done.stderr, "figures fetched" in done.stdout) == (1, True, True)


def test_without_a_contact_nothing_is_asked(local_edgar, invoke, monkeypatch):
    """The setting is named."""
    monkeypatch.delenv("FINGERPOST_SEC_CONTACT")
    refused = invoke("filings", "sync", "TOWN")

    assert (refused.returncode, "Set FINGERPOST_SEC_CONTACT" in refused.stderr, local_edgar.asked) == (1, True, [])
