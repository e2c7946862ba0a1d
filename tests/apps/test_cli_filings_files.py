"""Figures come from files on disk, and are answered."""

import json
import zipfile

import pytest

from tests.filings.test_loading import FACTS


@pytest.fixture
def facts_file(tmp_path):
    """A companyfacts file of one drawn company."""
    path = tmp_path / "CIK0000000007.json"
    path.write_text(json.dumps(FACTS), encoding="utf-8")
    return path


def revenue(invoke, ticker):
    """Ask for a ticker's revenue of 2022."""
    asked = {"ticker": ticker, "metrics": ["Revenue"], "period": "2022"}
    wire = {"query_type": "financial_facts", "parameters": asked}
    return json.loads(invoke("call", "sec_financial_data", json.dumps(wire)).stdout)


def test_a_file_is_loaded_and_answered(facts_file, invoke):
    """What it was, and then its figure."""
    done = invoke("filings", "load", str(facts_file), "--ticker", "DRWN")

    assert (done.returncode, done.stdout) == (
        0,
        "CIK0000000007.json: Drawn Inc. (DRWN): 1 figures, complete through 2023-02-01\n",
    )
    assert revenue(invoke, "DRWN")["data"] == {"Revenue": 100}


def test_a_file_that_is_something_else_is_refused(facts_file, invoke):
    """By name; the status says so."""
    facts_file.write_text("<html>", encoding="utf-8")
    done = invoke("filings", "load", str(facts_file))

    assert (done.returncode, "CIK0000000007.json is a web page" in done.stderr) == (1, True)


def test_the_archive_is_loaded_and_answered(facts_file, invoke, tmp_path):
    """The tickers come from the SEC's list; unreadable members are skipped and named."""
    listed = tmp_path / "company_tickers.json"
    listed.write_text(json.dumps({"0": {"cik_str": 7, "ticker": "DRWN", "title": "Drawn Inc."}}), encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "companyfacts.zip", "w") as made:
        made.write(facts_file, facts_file.name)
        made.writestr("CIK0000000008.json", "{}")
    done = invoke("filings", "load", str(listed), str(tmp_path / "companyfacts.zip"))

    assert done.stdout.splitlines()[1] == (
        "companyfacts.zip: 1 companies, 1 figures; 1 skipped: CIK0000000008.json is not a companyfacts file:"
        " KeyError 'facts'; tickers come from company_tickers.json"
    )
    assert revenue(invoke, "DRWN")["data"] == {"Revenue": 100}
