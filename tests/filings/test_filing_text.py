"""Reading a filing's text page by page, and finding the paragraph that answers a question."""

import pytest

from fingerpost.filings.figure import Filing
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.sections import split_pages, split_paragraphs
from fingerpost.filings.store import FactStore
from fingerpost.filings.tools.sec_graph_query import SecGraphQuery
from fingerpost.filings.tools.sec_semantic_search import SecSemanticSearch, _choose_words

ANNUAL = "Item 1A. Risk Factors\n" + "Ink may run dry.\n" * 2_000 + "Item 7. Management's Discussion\nInk costs rose."
QUARTER = (
    "PART I\nItem 1. Financial Statements\nFigures.\n"
    "PART II\nItem 1. Legal Proceedings\nTwo.\nItem 1A. Risk Factors\nNone."
)
CURRENT = "Item 2.02 Results of Operations\nSales rose.\nItem 9.01. Financial Statements and Exhibits\n99.1 A release."
FILINGS = {
    Filing("k-24", "10-K", "2024-02-01"): ANNUAL,
    Filing("q-24", "10-Q", "2024-05-01"): QUARTER,
    Filing("c-24", "8-K", "2024-06-01"): CURRENT,
}


@pytest.fixture
def store(tmp_path):
    store = FactStore(tmp_path / "filings.sqlite")
    store.put_tickers([("DRWN", 7, "Drawn Ink Corp.")])
    for filing, text in FILINGS.items():
        store.put_text(7, filing, text)
    return store


@pytest.fixture
def read(store):
    tool = SecGraphQuery(FactLibrary(store.path))

    async def read(**parameters):
        return await tool.answer({"query_type": "filing_text", "parameters": parameters}, user=None)

    return read


async def test_the_pages_of_an_item_are_all_of_its_text_and_fit_the_bound(read):
    first = await read(ticker="DRWN", item="1A")
    rows = [(await read(ticker="DRWN", item="1A", page=page)).body["results"][0] for page in (1, 2, 3)]

    assert "\n".join(row["text"] for row in rows) == ("Ink may run dry.\n" * 2_000).strip()
    assert [(row["page"], row["pages"], len(row["text"].encode()) <= 14_000) for row in rows] == [
        (1, 3, True), (2, 3, True), (3, 3, True),
    ]  # fmt: skip
    assert len(first.text.encode()) < 16_000
    assert first.text.startswith(
        "DRWN 10-K of 2024-02-01 (k-24), Item 1A. Risk Factors, page 1 of 3:\nInk may run dry.\n"
    )
    assert first.body["notes"] == [
        "Page 1 of 3; for the next page, set page to 2",
        "Newer filings also contain this: 10-Q of 2024-05-01 (q-24); to select one, set form or accession_number",
    ]


@pytest.mark.parametrize(
    ("parameters", "section"),
    [
        ({"ticker": "DRWN", "item": "mdna"}, "Item 7. Management's Discussion"),
        ({"ticker": "drawn ink", "item": "Item 7."}, "Item 7. Management's Discussion"),
        ({"ticker": "DRWN", "item": "2.02"}, "Item 2.02. Results of Operations"),
        ({"accession_number": "c-24", "item": "results of operations"}, "Item 2.02. Results of Operations"),
        ({"ticker": "DRWN", "form": "10-q", "item": "Part II Item 1"}, "Item 1. Legal Proceedings"),
        ({"ticker": "DRWN", "form": "10-Q", "item": "I.1"}, "Item 1. Financial Statements"),
        ({"ticker": "DRWN", "form": "10-Q", "item": "1a"}, "Item 1A. Risk Factors"),
        ({"accession_number": "q-24"}, "All items"),
    ],
)
async def test_an_item_is_found_by_number_type_or_title(read, parameters, section):
    assert (await read(**parameters)).body["results"][0]["section"] == section


async def test_an_annual_report_is_read_before_its_newer_amendment(store, read):
    store.put_text(7, Filing("a-24", "10-K/A", "2024-04-01"), "Item 10. Directors\nThree.")
    answer = await read(ticker="DRWN")
    amendment = await read(ticker="DRWN", item="directors")

    assert answer.body["results"][0]["accession_number"] == "k-24"
    assert "10-K/A of 2024-04-01 (a-24)" in answer.body["notes"][-1]
    assert amendment.body["results"][0]["accession_number"] == "a-24"


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"accession_number": "q-24", "item": "1"}, "item 1 matches several items of 10-Q of 2024-05-01 (q-24): Item"),
        ({"ticker": "DRWN", "item": "1A", "page": 4}, "page must be at most 3 for Item 1A. Risk Factors of 10-K"),
        ({"ticker": "DRWN", "item": "3.01"}, "8-K of 2024-06-01 (c-24) has no item 3.01"),
        ({"ticker": "DRWN", "form": "20-F"}, "only the text of its 10-K, 10-Q, 8-K filings is loaded"),
        ({"ticker": "DRWN", "as_of": "2024-01-31"}, "its text is not loaded, or was filed after 2024-01-31"),
        ({"accession_number": "k-24", "item": "II.1A"}, "(k-24) has no item II.1A"),
        ({"ticker": "NONE"}, "No loaded company matches NONE"),
        ({}, "ticker or accession_number is required, but not both"),
    ],
)
async def test_unreadable_text_is_an_error_with_its_reason(read, parameters, sentence):
    answer = await read(**parameters)

    assert (answer.body["success"], sentence in answer.text) == (False, True)


def test_paragraphs_join_short_lines_and_split_long_ones():
    lines = ["Heading", "a" * 690, "b" * 900, "A sentence. " * 200, "end"]
    text = "\n".join(lines)
    paragraphs = [text[start:end] for start, end in split_paragraphs(text)]

    assert paragraphs[:2] == ["\n".join(lines[:2]), lines[2]]
    assert [len(each) <= 1_500 for each in paragraphs] == [True] * len(paragraphs)
    assert "".join("".join(paragraphs).split()) == "".join(text.split())
    assert split_paragraphs("\n\n") == []


def test_a_page_counts_bytes_and_a_line_is_not_cut_within_a_word():
    pages = split_pages("ä" * 40 + "\n" + "b" * 40, 81)

    assert pages == ["ä" * 40, "b" * 40]
    assert split_pages("", 81) == [""]


def question_of(store, **asked):
    return SecSemanticSearch(FactLibrary(store.path)).execute("semantic_search", {"companies": ["DRWN"], **asked})


async def test_text_is_found_by_its_words_and_the_answer_states_it(store):
    answer = await question_of(store, query="costs of ink", sections=["mdna"])
    found = [hit["metadata"]["section"] for hit in answer["results"]]

    assert (found, answer["ranking"], answer["total_results"]) == (["Item 7. Management's Discussion"], "lexical", 1)
    assert "not by meaning" in answer["notes"][0]


async def test_text_filed_later_is_hidden_and_operators_are_only_words(store):
    days = ("2024-05-31", "2024-06-01")

    assert [(await question_of(store, query="sales", as_of=day))["success"] for day in days] == [False, True]
    assert (await question_of(store, query='ink" OR NEAR( * -'))["success"]


async def test_without_any_text_the_search_reports_it(sample):
    answer = await SecSemanticSearch(sample).execute("semantic_search", {"query": "risk"})

    assert answer["warning"] == "No results found for query: risk: no filing text is loaded"
    assert answer["missing"]["text"]["reason"] == "not_loaded"


async def test_a_search_names_the_companies_that_are_not_searched(store):
    some = await question_of(store, query="ink", companies=["DRWN", "NONE"])
    none = await question_of(store, query="ink", companies=["NONE"])

    assert some["notes"][-1] == "Not searched, because no loaded company has that name: NONE"
    assert "No loaded company matches NONE" in none["warning"]


async def test_the_excerpt_is_the_paragraph_with_the_rare_words(store):
    """Neither question words nor the company's name rank paragraphs."""
    filler = "Drawn Ink, what is Drawn Ink, and which ink does Drawn Ink draw? " * 12
    answer = "Our warehouse in Turku burned down. " * 20
    text = f"Item 1. Business\n{filler}\n{answer}\n{filler}"
    store.put_text(7, Filing("k-23", "10-K", "2023-02-01"), text)
    found = await question_of(store, query="Which warehouse of Drawn Ink burned down?", top_k=1)

    assert found["results"][0]["text"].strip() == answer.strip()


def test_single_words_of_a_companys_name_are_searched():
    names = {"ibm", "internationalbusinessmachines"}

    assert _choose_words("international business risks of IBM", names) == ["international", "business", "risks"]
    assert _choose_words("risks of International Business Machines", names) == ["risks"]


async def test_a_replaced_text_is_no_longer_found(store):
    before = await question_of(store, query="sales")
    store.put_text(7, Filing("c-24", "8-K", "2024-06-01"), "Item 8.01 Other\nNothing.")
    after = await question_of(store, query="sales")

    assert (before["success"], after["success"]) == (True, False)
