"""Lists of filings, and their text, as tools (the plan-step contract's system)."""

import pytest

from fingerpost.filings.library import FactLibrary
from fingerpost.filings.sections import split_sections
from fingerpost.filings.store import FactStore
from fingerpost.filings.tools.sec_graph_query import SecGraphQuery
from fingerpost.filings.tools.sec_semantic_search import SecSemanticSearch
from tests.filings.drawing import company_file, facts, library_of

TEXT_2023 = """Item 1. Business
Drawn Inc. draws companies for tests.
Item 1A. Risk Factors
Ink may run dry. Our supplier, Apple, may stop selling ink.
Item 7. Management's Discussion and Analysis
Ink costs rose.
"""

TEXT_2024 = "Drawn Inc. changed its auditor. Nothing else happened."


@pytest.fixture
def texts(tmp_path):
    """A company with two short filings, written for these tests."""
    path = tmp_path / "texts.sqlite"
    library = library_of(path, facts("Revenues 2022-01-01 2022-12-31 100 n 10-K 2023-02-01"), {"2022-12-31": 2022})
    store = FactStore(path)
    store.put_sections(split_sections(7, "a-23", "10-K", "2023-02-01", TEXT_2023))
    store.put_sections(split_sections(7, "a-24", "8-K", "2024-02-01", TEXT_2024))
    return library


async def test_text_is_found_by_its_words_and_says_so(texts):
    """The nearest section first; the ranking calls itself lexical."""
    asked = {"query": "ink supplier", "companies": ["DRWN"], "sections": ["risk_factors"]}
    answer = await SecSemanticSearch(texts).execute("semantic_search", asked)
    hit = answer["results"][0]

    assert (hit["metadata"]["section"], answer["ranking"], answer["total_results"]) == (
        "Item 1A. Risk Factors",
        "lexical",
        1,
    )
    assert "not by meaning" in answer["notes"][0]


async def test_text_filed_later_is_hidden_by_as_of(texts):
    """A day before and the day itself."""
    told = [
        (await SecSemanticSearch(texts).execute("semantic_search", {"query": "auditor", "as_of": day}))["success"]
        for day in ("2024-01-31", "2024-02-01")
    ]

    assert told == [False, True]


async def test_a_query_of_operators_is_only_words(texts):
    """The search language of SQLite is not the caller's."""
    answer = await SecSemanticSearch(texts).execute("semantic_search", {"query": 'ink" OR NEAR( * -'})

    assert answer["success"]


async def test_without_any_text_the_search_says_so(sample):
    """An empty store is not "no results"."""
    answer = await SecSemanticSearch(sample).execute("semantic_search", {"query": "risk"})

    assert (answer["warning"], answer["missing"]["text"]["reason"]) == (
        "No results found for query: risk: no filing text was loaded",
        "not_loaded",
    )


async def test_filings_go_back_to_the_company_before(tmp_path):
    """One ticker, two CIKs: each filing under its own, one that both made under the newer; the texts of both count."""
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
    store.put_sections(split_sections(7, "a-21", "10-K", "2022-02-01", "Item 1. Business\nApple, Apple."))
    store.put_sections(split_sections(8, "a-22", "10-K", "2023-02-01", "Item 1. Business\nApple and Drawn Corp."))
    graph = SecGraphQuery(FactLibrary(store.path))
    listed = await graph.execute("company_filings", {"ticker": "DRWN"})
    years = await graph.execute("filing_timeline", {"ticker": "DRWN"})
    related = await graph.execute("related_companies", {"ticker": "DRWN"})

    assert [(row["accession_number"], row["filing_url"].split("/")[-3]) for row in listed["results"]] == [
        ("a-22", "8"),
        ("both", "8"),
        ("a-21", "7"),
    ]
    assert [row["accession_number"] for row in years["results"]] == ["a-21", "a-22"]
    assert [(row["ticker"], row["mention_count"]) for row in related["results"]] == [("AAPL", 3)]
    assert [note[:6] for note in listed["notes"]] == ["CIK 7:", "CIK 8:"]


async def test_custom_cypher_is_not_a_question_here(recorded):
    """There is no graph database."""
    answer = await SecGraphQuery(recorded).execute("custom_cypher", {"cypher_query": "MATCH (n) RETURN n"})

    assert answer["error_code"] == "QueryTypeUnsupported"
