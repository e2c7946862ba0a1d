"""Lists of filings for drawn companies, and their text (rule A11)."""

import pytest

from fingerpost.filings.companyfacts import read_submissions
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.store import FactStore
from fingerpost.filings.tools.sec_graph_query import SecGraphQuery
from tests.filings.drawing import company_file, facts, submissions

TABLE = """
    Assets - 2021-12-31 1 a-21 10-K 2022-02-01
    Assets - 2022-03-31 2 b-22 10-Q 2022-05-01
    Assets - 2022-12-31 3 a-22 10-K 2023-02-01
    Assets - 2023-12-31 4 a-23 10-K 2024-02-01
"""
NOTE = "These are only the filings with loaded figures, because the company's filing list is not loaded"


@pytest.fixture
def graph(tmp_path):
    store = FactStore(tmp_path / "filings.sqlite")
    years = {"2021-12-31": 2021, "2022-12-31": 2022, "2023-12-31": 2023}
    store.put_facts(company_file(facts(TABLE), years, cik=7, name="Drawn Inc."), tickers=["DRWN"])
    return SecGraphQuery(FactLibrary(store.path))


async def asked(graph, query_type, **parameters):
    answer = await graph.answer({"query_type": query_type, "parameters": parameters}, user=None)
    return answer.body, answer.text


def own_list(is_complete):
    """Draw the company's own list of filings: two of the four, and a letter."""
    raw = submissions(
        ("a-23", "10-K", "2024-02-01", "2023-12-31", "d", "Annual report"),
        ("c-22", "8-K", "2022-06-01", "2022-05-31", "d", ""),
        ("b-22", "10-Q", "2022-05-01", "2022-03-31", "d", ""),
    )
    raw["filings"]["files"] = [] if is_complete else [{"name": "older"}]
    return read_submissions(raw, "drawn")


@pytest.mark.parametrize(
    ("is_complete", "notes"), [(True, None), (False, ["The loaded list goes back to 2022-05-01; older filings exist"])]
)
async def test_a_filing_has_its_type_its_days_and_its_address(tmp_path, graph, is_complete, notes):
    FactStore(tmp_path / "filings.sqlite").put_submissions(own_list(is_complete))
    body, text = await asked(SecGraphQuery(FactLibrary(tmp_path / "filings.sqlite")), "company_filings", ticker="DRWN")

    assert body["results"][0] == {
        "filing_type": "10-K", "filing_date": "2024-02-01", "accession_number": "a-23", "fiscal_year": 2023,
        "fiscal_period": "FY", "report_date": "2023-12-31", "description": "Annual report",
        "filing_url": "https://www.sec.gov/Archives/edgar/data/7/a23/a-23-index.htm",
    }  # fmt: skip
    names = ("accession_number", "fiscal_year", "fiscal_period", "description")
    assert [[row[name] for name in names] for row in body["results"]][1:] == [
        ["c-22", None, None, None], ["b-22", 2022, "Q1", None],
    ]  # fmt: skip
    assert body.get("notes") == notes
    assert text.startswith("10-K of 2024-02-01, a-23, fiscal 2023 FY, period ending 2023-12-31: Annual report.\n")


async def test_without_the_companys_own_list_the_filings_of_its_figures_are_listed(graph):
    body, _ = await asked(graph, "company_filings", ticker="DRWN", limit=1)

    assert (len(body["results"]), body["total_results"], body["notes"]) == (1, 4, [NOTE])


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["a-23", "a-22", "b-22", "a-21"]),
        ({"filing_types": ["10-k"]}, ["a-23", "a-22", "a-21"]),
        ({"filing_types": ["10-Q", "10-K"]}, ["a-23", "a-22", "b-22", "a-21"]),
        ({"as_of": "2023-02-01"}, ["a-22", "b-22", "a-21"]),
        ({"as_of": "2023-01-31"}, ["b-22", "a-21"]),
        ({"limit": 2}, ["a-23", "a-22"]),
    ],
)
async def test_filings_by_type_by_day_and_by_number(graph, wanted, found):
    body, _ = await asked(graph, "company_filings", ticker="DRWN", **wanted)

    assert [row["accession_number"] for row in body["results"]] == found


async def test_an_unfiled_type_is_a_warning_with_a_next_step(graph):
    body, _ = await asked(graph, "company_filings", ticker="DRWN", filing_types=["8-K", "6-K"])

    assert body["warning"] == "No filings found for DRWN: none of type 6-K, 8-K is loaded"
    assert body["missing"]["filings"]["reason"] == "not_loaded"


async def test_filings_go_back_to_the_company_before(tmp_path):
    store = FactStore(tmp_path / "filings.sqlite")
    old = facts("""
        Assets - 2021-12-31 1 a-21 10-K 2022-02-01
        Assets - 2022-06-30 2 both 10-Q 2022-08-01
    """)
    new = facts("""
        Assets - 2022-06-30 2 both 10-Q 2022-08-01
        Assets - 2022-12-31 3 a-22 10-K 2023-02-01
    """)
    store.put_facts(company_file(old, {"2021-12-31": 2021}, cik=7, name="Drawn Corp."), tickers=["DRWN"])
    store.put_facts(company_file(new, {"2022-12-31": 2022}, cik=8, name="Drawn Holdings"), tickers=["DRWN"])
    graph = SecGraphQuery(FactLibrary(store.path))
    listed = await graph.execute("company_filings", {"ticker": "DRWN"})

    told = [f"{row['accession_number']} {row['filing_url'].split('/')[-3]}" for row in listed["results"]]
    assert told == ["a-22 8", "both 8", "a-21 7"]
    assert [note[:6] for note in listed["notes"]] == ["CIK 7:", "CIK 8:"]
