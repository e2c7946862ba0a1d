"""``fingerpost filings``: figures as people request them, files from disk, and companies from EDGAR."""

import functools
import json
import zipfile

import pytest

from fingerpost.apps.cli import filings_commands
from fingerpost.apps.cli.filings_commands import read_figures
from fingerpost.filings import sync
from tests.apps.feed_server import serving_feeds
from tests.filings.test_loading import FACTS
from tests.filings.test_segments import PRODUCTS
from tests.net.test_filings_sync import CIK, SUBMISSIONS, TICKERS, facts


@pytest.mark.parametrize(
    ("words", "figures", "period"),
    [
        ("revenue 2022", ["revenue"], "2022"),
        ("revenue fy2022", ["revenue"], "fy2022"),
        ("revenue 2022-Q2", ["revenue"], "2022-Q2"),
        ("revenue 2022q2", ["revenue"], "2022q2"),
        ("net income, eps 2022", ["net income", "eps"], "2022"),
        ("revenue", ["revenue"], None),
        ("revenue 2022-Q5", ["revenue 2022-Q5"], None),
        ("revenue 2020-2022", ["revenue 2020-2022"], None),
        ("eps 2021 2022", ["eps 2021"], "2022"),
        ("net income, eps 2019-q1..2020-q4", ["net income", "eps"], "2019-q1..2020-q4"),
        ("net income, eps latest", ["net income", "eps"], "latest"),
        ("R&D/Revenue, cagr(Revenue, 3) 2024", ["R&D/Revenue", "cagr(Revenue, 3)"], "2024"),
    ],
)
def test_the_last_words_are_a_period_if_they_name_a_year_or_quarter(words, figures, period):
    assert read_figures(words.split()) == (figures, period)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("AAPL revenue 2022", "394,328,000,000 USD, 10-K 0000320193-22-000108 of 2022-10-28"),
        ("AAPL net income, eps 2023q2", "EPSDiluted fiscal 2023 Q2"),
        ("apple revenue", "Revenue fiscal 2025 FY"),
        ("AAPL", "20 of 22:\n10-Q of 2026-01-30, 0000320193-26-000006.\n"),
        ("AAPL 10-k", "10-K of 2022-10-28, 0000320193-22-000108."),
    ],
)
def test_figures_and_filings_are_printed_in_the_tools_own_words(invoke, words, told):
    ended = invoke("filings", *words.split())

    assert (ended.returncode, ended.stderr) == (0, "")
    assert told in ended.stdout


@pytest.mark.parametrize(
    "words", ["revenue AAPL 2022", "XXXX revenue 2022", "AAPL xyzzy 2022", "AAPL revenue H1 2022", "AAPL revenue FY22"]
)
def test_the_order_of_words_is_explained_if_a_word_is_unknown(invoke, words):
    ended = invoke("filings", *words.split())

    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("Write the company, its figures, and then")


def test_the_filings_of_several_forms_are_listed(invoke):
    listed = invoke("filings", "AAPL", "10-k,", "10-Q", "--json")

    assert {row["filing_type"] for row in json.loads(listed.stdout)["results"]} == {"10-K", "10-Q"}


@pytest.fixture
def facts_file(tmp_path):
    path = tmp_path / "CIK0000000007.json"
    path.write_text(json.dumps(FACTS), encoding="utf-8")
    return path


def revenue(invoke):
    return json.loads(invoke("filings", "DRWN", "revenue", "2022", "--json").stdout)["data"]


def test_a_file_is_loaded_and_answered(facts_file, invoke):
    done = invoke("filings", "load", str(facts_file), "--ticker", "DRWN")

    assert (done.returncode, done.stdout) == (
        0,
        "CIK0000000007.json: Drawn Inc. (DRWN): 1 figures, filed up to 2023-02-01\n",
    )
    assert revenue(invoke) == {"revenue": 100}


@pytest.mark.parametrize("words", [("filings", "list"), ("doctor",)])
def test_companies_are_listed_with_their_newest_filing(facts_file, invoke, words):
    invoke("filings", "load", str(facts_file), "--ticker", "DRWN")
    printed = " ".join(invoke(*words).stdout.split())

    assert (
        "DRWN: Drawn Inc. (CIK 0000000007), edgar, periods from 2022-12-31, newest filing 2023-02-01 (1,133 days ago)"
        in printed
    )
    assert "The next report is overdue for DRWN (2023-02-01)" in printed


def test_no_age_is_printed_if_the_clock_is_before_the_newest_filing(invoke, monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", "2009-03-10T08:00:00+02:00")

    assert "days ago" not in invoke("filings", "list").stdout


def test_a_foreign_file_is_refused_by_name_and_the_next_is_loaded(facts_file, invoke):
    page = facts_file.with_name("page.json")
    page.write_text("<html>", encoding="utf-8")
    done = invoke("filings", "load", str(page), str(facts_file))

    assert (done.returncode, "page.json is a web page" in done.stderr) == (1, True)
    assert done.stdout.startswith("CIK0000000007.json: Drawn Inc.")


def test_the_archive_is_loaded_and_answered(facts_file, invoke, tmp_path):
    listed = tmp_path / "company_tickers.json"
    listed.write_text(json.dumps({"0": {"cik_str": 7, "ticker": "DRWN", "title": "Drawn Inc."}}), encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "companyfacts.zip", "w") as made:
        made.write(facts_file, facts_file.name)
        made.writestr("CIK0000000008.json", "{}")
    done = invoke("filings", "load", str(listed), str(tmp_path / "companyfacts.zip"))

    assert done.stdout.splitlines()[1:] == [
        "companyfacts.zip: 1 companies, 1 figures; unknown tickers come from the packaged 2026 list; 1 skipped",
        "CIK0000000008.json: skipped: CIK0000000008.json is empty",
    ]
    assert revenue(invoke) == {"revenue": 100}


@pytest.fixture
def local_edgar(monkeypatch):
    monkeypatch.setenv("FINGERPOST_PRIVATE_HOSTS", "127.0.0.1")
    monkeypatch.setenv("FINGERPOST_SEC_CONTACT", "ops@example.org")
    with serving_feeds() as server:
        monkeypatch.setattr(filings_commands, "Edgar", functools.partial(sync.Edgar, data=server.url, www=server.url))
        files = {
            "/files/company_tickers.json": TICKERS,
            f"/submissions/CIK{CIK:010d}.json": SUBMISSIONS,
            f"/api/xbrl/companyfacts/CIK{CIK:010d}.json": facts(2024),
        }
        server.contents = {path: json.dumps(content).encode() for path, content in files.items()}
        yield server


def test_a_company_is_synced_and_found_unchanged(local_edgar, invoke):
    first = invoke("filings", "sync", "town")
    again = invoke("filings", "sync", "TOWN")

    assert (first.returncode, first.stdout) == (
        0,
        "TOWN Town Corp. (CIK 1234567): figures fetched, filed up to 2025-02-01; 1 filings listed\n",
    )
    assert "figures unchanged, filed up to 2025-02-01" in again.stdout


def test_one_failing_company_does_not_affect_others(local_edgar, invoke):
    done = invoke("filings", "sync", "TOWNN", "TOWN")

    assert (done.returncode, "Did you mean TOWN?" in done.stderr, "figures fetched" in done.stdout) == (1, True, True)


def test_without_a_contact_nothing_is_requested(local_edgar, invoke, monkeypatch):
    monkeypatch.delenv("FINGERPOST_SEC_CONTACT")
    refused = invoke("filings", "sync", "TOWN")

    assert (refused.returncode, "Set FINGERPOST_SEC_CONTACT" in refused.stderr, local_edgar.asked) == (1, True, [])


def test_a_text_is_read_and_a_figure_is_divided(facts_file, invoke, tmp_path):
    invoke("filings", "load", str(facts_file), "--ticker", "DRWN")
    files = {"ink-20231231_htm.xml": PRODUCTS, "10k.txt": "Item 1A. Risk Factors\nInk may run dry."}
    options = ("--accession", "0000000007-24-000001", "--filed", "2024-02-01", "--ticker", "DRWN", "--form", "10-K")
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        assert invoke("filings", "load", str(tmp_path / name), *options).returncode == 0

    assert invoke("filings", "read", "DRWN", "1A").stdout.endswith("Item 1A. Risk Factors:\nInk may run dry.\n")
    divided = invoke("filings", "DRWN", "revenue", "2023", "--by", "product").stdout
    assert divided.startswith("srt:ProductOrServiceAxis, fiscal 2023 FY: sum 100 USD, total 100.\n")
