"""The whole archive: one question takes one company out of it."""

import json
import sys
import zipfile

import pytest

from fingerpost.errors import FeedUnusable, SettingsInvalid, StorageUnavailable
from fingerpost.filings import bulk_loading
from fingerpost.filings.bulk import BulkFigures, folder_beside
from fingerpost.filings.bulk_loading import load_archive
from fingerpost.filings.companyfacts import parse_json, read_facts
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.store import FactStore
from fingerpost.filings.tools.sec_financial_data import SecFinancialData
from tests.filings.conftest import RECORDED, read_recorded
from tests.shared_data import get_shared

pytest.importorskip("duckdb")
THEN = "2026-11-01T00:00:00+00:00"
ASKED = {"ticker": "DRWN", "metrics": ["Revenue"], "period": "2022"}


def company(cik, value, label="Revenues", accession="a"):
    """Draw a companyfacts file with one figure of 2022."""
    row = {"start": "2022-01-01", "end": "2022-12-31", "val": value, "accn": accession, "fy": 2022, "fp": "FY"}
    row |= {"form": "10-K", "filed": "2023-02-01"}
    facts = {"us-gaap": {"Revenues": {"label": label, "units": {"USD": [row]}}}}
    return {"cik": cik, "entityName": f"Drawn {cik}", "facts": facts}


def archive(path, *files):
    """Write an archive of companyfacts files, each a dict or raw text."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for number, file in enumerate(files, 7):
            made.writestr(f"CIK{number:010}.json", file if isinstance(file, str) else json.dumps(file))
    return path


@pytest.fixture
def store(tmp_path):
    """A facts file in which two tickers are listed and nothing but the sample has figures."""
    store = FactStore(tmp_path / "filings.sqlite")
    store.put_tickers([("DRWN", 7, "Drawn 7"), ("OTHR", 8, "Drawn 8"), ("GONE", 9, "Drawn 9")])
    return store


async def test_a_company_that_only_the_archive_has_is_answered_from_it(store, tmp_path):
    """Named as bulk; one that the archive lacks is said to be not loaded."""
    load_archive(store, archive(tmp_path / "a.zip", company(7, 100), company(8, 200)), retrieved_at=THEN)
    figures = SecFinancialData(FactLibrary(store.path))
    found = await figures.execute("financial_facts", ASKED)
    gone = await figures.execute("financial_facts", ASKED | {"ticker": "GONE"})

    assert (found["data"], found["source"]["dataset"], found["source"]["retrieved_at"]) == (
        {"Revenue": 100},
        "bulk",
        THEN,
    )
    assert gone["missing"]["GONE"]["reason"] == "not_loaded"


async def test_a_running_house_sees_a_newer_archive(store, tmp_path):
    """What was taken over from the older one is forgotten; the older files are gone."""
    figures = SecFinancialData(FactLibrary(store.path))
    answers = [await figures.execute("financial_facts", ASKED)]
    for value in (100, 101):
        load_archive(store, archive(tmp_path / "a.zip", company(7, value)), retrieved_at=THEN)
        answers.append(await figures.execute("financial_facts", ASKED))

    assert [answer.get("data") for answer in answers] == [None, {"Revenue": 100}, {"Revenue": 101}]
    assert len([path for path in folder_beside(store.path).iterdir() if len(path.name) == 32]) == 1


async def test_figures_that_were_loaded_one_by_one_stand_before_the_archive_s(store, tmp_path):
    """The archive only fills what is not there."""
    own = company(7, 999)
    store.put_facts(read_facts(own, "own"), retrieved_at=THEN)
    load_archive(store, archive(tmp_path / "a.zip", company(7, 100)), retrieved_at=THEN)
    answer = await SecFinancialData(FactLibrary(store.path)).execute("financial_facts", ASKED)

    assert (answer["data"], answer["source"]["dataset"]) == ({"Revenue": 999}, "edgar")


def test_what_cannot_be_read_is_left_out_and_named(store, tmp_path):
    """An empty company, a cut one, a company twice; the others come."""
    empty = {"cik": 8, "entityName": "Empty", "facts": {}}
    loaded = load_archive(
        store, archive(tmp_path / "a.zip", company(7, 1), empty, '{"cik": 9', company(7, 2)), retrieved_at=THEN
    )

    assert (loaded.companies, loaded.facts, list(loaded.skipped.values())) == (
        1,
        1,
        [
            "CIK0000000008.json holds no facts",
            "CIK0000000009.json is not JSON, or cut short",
            "CIK0000000010.json repeats a company",
        ],
    )


def with_flag_of_encryption(raw):
    """Return an archive whose one member says that it is encrypted, at its head and in the directory."""
    raw = bytearray(raw)
    raw[raw.index(b"PK\x03\x04") + 6] |= 1
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    return bytes(raw)


@pytest.mark.parametrize(
    "break_it",
    [lambda raw: raw[:-60], lambda _: b"<html>", lambda raw: raw.replace(b'"x"', b'"y"', 1), with_flag_of_encryption],
)
def test_a_damaged_archive_changes_nothing(store, tmp_path, break_it):
    """The older one stays in force; nothing half done is left."""
    load_archive(store, archive(tmp_path / "a.zip", company(7, 100)), retrieved_at=THEN)
    before = sorted(path.name for path in folder_beside(store.path).iterdir())
    bad = tmp_path / "bad.zip"
    with zipfile.ZipFile(bad, "w") as made:
        made.writestr(zipfile.ZipInfo("CIK0000000007.json"), json.dumps(company(7, 5, label="x")))
    bad.write_bytes(break_it(bad.read_bytes()))
    with pytest.raises(FeedUnusable, match="not a zip archive, or damaged"):
        load_archive(store, bad, retrieved_at=THEN)

    assert BulkFigures(folder_beside(store.path)).find_company(7).file.facts[0].value == 100
    assert sorted(path.name for path in folder_beside(store.path).iterdir()) == before


def test_an_archive_of_something_else_is_refused(store, tmp_path):
    """No companyfacts file in it."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as made:
        made.writestr("stops.txt", "stop_id")
    with pytest.raises(FeedUnusable, match="holds no companyfacts file that can be read"):
        load_archive(store, tmp_path / "a.zip", retrieved_at=THEN)


def test_two_loads_at_once_are_refused(store, tmp_path):
    """The second says so; it does not wait and does not meddle."""
    whole = archive(tmp_path / "a.zip", company(7, 100))
    refused = []

    def meanwhile(done, whole_count):
        with pytest.raises(StorageUnavailable) as caught:
            load_archive(store, whole, retrieved_at=THEN)
        refused.append(str(caught.value))

    load_archive(store, whole, retrieved_at=THEN, show=meanwhile)

    assert refused == ["Another archive is being taken in"]


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (2**63 - 1, "a"),
        (-5, 'quote " comma , line\nbreak'),
        (0.1, "\r"),
        (1e300, "\ud800"),
        (0, "''"),
        (2**53 + 1, "é"),
    ],
)
def test_every_value_and_label_comes_back(store, tmp_path, value, label):
    """Whole numbers exactly, fractions as they were; half a surrogate as a question mark."""
    load_archive(store, archive(tmp_path / "a.zip", company(7, value, label)), retrieved_at=THEN)
    found = BulkFigures(folder_beside(store.path)).find_company(7).file

    assert (found.facts[0].value, type(found.facts[0].value)) == (value, type(value))
    assert found.labels == {"us-gaap:Revenues": label.replace("\ud800", "?")}


def test_the_recordings_come_out_as_they_went_in(tmp_path, monkeypatch):
    """In several parts, fact for fact; the sample's company gives way to the archive's."""
    monkeypatch.setattr(bulk_loading, "_FACTS_A_PART", 20_000)
    paths = [get_shared(name) for name in RECORDED.values()]
    store = FactStore(tmp_path / "filings.sqlite")
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_STORED) as made:
        for path in paths:
            cik = int(parse_json(path.read_bytes(), path.name)["cik"])
            made.write(path, f"CIK{cik:010}.json")
    load_archive(store, tmp_path / "a.zip", retrieved_at=THEN)
    figures = BulkFigures(folder_beside(store.path))
    for ticker in RECORDED:
        expected = read_recorded(ticker)
        found = figures.find_company(expected.cik).file
        assert (sorted(found.facts), found.labels, found.fiscal_years) == (
            sorted(expected.facts),
            expected.labels,
            expected.fiscal_years,
        )
    apple = FactLibrary(store.path).find_company("AAPL")
    assert (apple.dataset, apple.complete_through) == ("bulk", read_recorded("AAPL").complete_through)


def test_without_duckdb_the_extra_is_named(store, tmp_path, monkeypatch):
    """Nothing is written; the hint says what to install."""
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(SettingsInvalid) as refused:
        load_archive(store, archive(tmp_path / "a.zip", company(7, 100)), retrieved_at=THEN)

    assert refused.value.hint == "Install it: pip install 'fingerpost[bulk]'"
