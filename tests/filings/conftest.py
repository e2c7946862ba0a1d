"""The five recorded companies, loaded once."""

import pytest

from fingerpost.filings.companyfacts import parse_json, read_facts, read_submissions
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.store import FactStore
from tests.shared_data import get_shared

RECORDED = {
    "AAPL": "sec/companyfacts_CIK0000320193_AAPL.json",
    "NVDA": "sec/companyfacts_CIK0001045810_NVDA.json",
    "META": "sec/companyfacts_CIK0001326801_FB_2021.json",
}

# A filer that went from IFRS to US GAAP, and one that was a shell before a reverse merger.
CHANGED = {"CLS": "sec/companyfacts_CIK0001030894_CLS.json", "VRT": "sec/companyfacts_CIK0001674101_VRT.json"}


@pytest.fixture(autouse=True)
def day(monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", "2024-03-01T00:00:00Z")


def read_recorded(ticker):
    path = get_shared((RECORDED | CHANGED)[ticker])
    return read_facts(parse_json(path.read_bytes(), path.name), path.name)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("filings") / "filings.sqlite"
    store = FactStore(path)
    for ticker in RECORDED | CHANGED:
        store.put_facts(read_recorded(ticker), tickers=[ticker], retrieved_at="2026-11-01T00:00:00Z")
    for name in ("submissions_CIK0000320193_AAPL.json", "submissions_CIK0001045810_NVDA.json"):
        found = get_shared(f"sec/{name}")
        store.put_submissions(read_submissions(parse_json(found.read_bytes(), name), name))
    library = FactLibrary(path)
    yield library
    library.close()


@pytest.fixture(scope="session")
def sample():
    library = FactLibrary(None)
    yield library
    library.close()
