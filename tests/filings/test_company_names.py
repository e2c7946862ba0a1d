"""Company names as people write them; an ambiguous name is never guessed."""

import pytest

from fingerpost.filings.companyfacts import parse_json, read_tickers
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.store import FactStore
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.plan_tools import plan_from_template
from fingerpost.runtime.company_names import build_name_key
from tests.filings.drawing import ask, company_file, facts, refusal
from tests.shared_data import get_shared

REPORT = facts("Assets - 2022-12-31 5 k 10-K 2023-02-01")
YEARS = {"2022-12-31": 2022}

SPELLINGS = {
    "JPMORGAN CHASE & CO": ["JPMorgan Chase", "J.P. Morgan Chase & Co.", "jpmorgan chase", "JP Morgan Chase"],
    "MCDONALDS CORP": ["McDonald's", "McDonald\u2019s Corporation", "mcdonalds"],
    "COCA COLA CO": ["Coca-Cola", "The Coca-Cola Company", "coca cola"],
    "AT&T INC.": ["AT&T", "at&t inc", "AT & T"],
    "L'Or\u00e9al S.A.": ["L'Oreal", "L\u2019OREAL SA"],
    "BEST BUY CO INC /MN/": ["Best Buy", "best buy co., inc."],
    "Meta Platforms, Inc.": ["Meta Platforms", "META PLATFORMS INC"],
    "3M CO": ["3M", "3m Company"],
}


@pytest.mark.parametrize(("name", "spelling"), [(name, each) for name, all_ in SPELLINGS.items() for each in all_])
def test_a_name_is_one_however_it_is_written(name, spelling):
    assert build_name_key(spelling) == build_name_key(name)


@pytest.fixture
def listed(tmp_path):
    """Figures of three companies, and a list that has more of them."""
    store = FactStore(tmp_path / "f.sqlite")
    named = ((11, "DELTA APPAREL, INC", "DLA"), (12, "ORCHID & SONS CO", "OSC"), (13, "Twin Inc.", "TWA"))
    for cik, name, ticker in named:
        store.put_facts(company_file(REPORT, YEARS, cik=cik, name=name), tickers=[ticker])
    return store


def found(store, text):
    company = FactLibrary(store.path).find_company(text)
    return None if company is None else company.cik


def test_a_complete_name_finds_a_company(listed):
    spellings = ("OSC", "12", "CIK0000000012", "Orchid & Sons", "orchid and sons co")
    assert {found(listed, text) for text in spellings} == {12}


def test_the_beginning_of_a_name_is_not_taken_for_it(listed):
    library = FactLibrary(listed.path)

    assert (library.find_company("Delta"), library.suggest_tickers("Delta")[0]) == (None, "DLA")


def test_a_name_of_two_companies_matches_neither(listed):
    listed.put_facts(company_file(REPORT, YEARS, cik=14, name="Twin Corp"), tickers=["TWB"])
    library = FactLibrary(listed.path)

    assert library.find_company("Twin") is None
    error = refusal(library, "financial_facts", ticker="Twin", metrics=["Assets"], period="2022")
    assert error.details["missing"]["Twin"]["did_you_mean"] == ["TWA", "TWB"]


def test_a_known_company_without_figures_is_not_unknown(sample):
    assert sample.find_company("Tesla") is None
    assert sample.suggest_tickers("Tesla")[0] == "TSLA"


@pytest.mark.parametrize("name", ["Apple", "apple inc.", "NVIDIA", "Nvidia Corporation", "Facebook", "Meta"])
async def test_tools_accept_the_plans_of_planners(sample, name):
    found = await plan_from_template(f"Get {name}'s revenue for 2020", Catalogue.of([]), {})
    ticker = found.steps[0].parameters["parameters"]["ticker"]

    assert sample.find_company(name).cik == sample.find_company(ticker).cik


ALIASES = {
    19617: ("JPM", ["JPM-PC", "AMJ", "AMJB"]),
    1652044: ("GOOGL", ["GOOG"]),
    1067983: ("BRK-B", ["BRK-A", "brk.b"]),
}


@pytest.fixture(scope="module")
def aliased(tmp_path_factory):
    """Three companies of many tickers, with EDGAR's own list; figures drawn."""
    store = FactStore(tmp_path_factory.mktemp("aliases") / "f.sqlite")
    for cik in ALIASES:
        store.put_facts(company_file(REPORT, YEARS, cik=cik, name=f"Drawn {cik}"))
    content = get_shared("sec/company_tickers.json").read_bytes()
    store.put_tickers(read_tickers(parse_json(content, "company_tickers.json"), "company_tickers.json"))
    return FactLibrary(store.path)


@pytest.mark.parametrize(("cik", "main", "aliases"), [(cik, *each) for cik, each in ALIASES.items()])
def test_a_company_answers_under_the_requested_ticker(aliased, cik, main, aliases):
    asked = {"metrics": ["Assets"], "period": "2022"}
    told = {
        text: {row["ticker"] for row in ask(aliased, "financial_facts", ticker=text, **asked).results}
        for text in (main, *aliases, str(cik))
    }

    assert told == {text: {text.upper().replace(".", "-")} for text in (main, *aliases)} | {str(cik): {main}}
    assert main in [company.ticker for company in aliased.list_companies()]


def test_figures_after_the_list_are_under_the_main_ticker(tmp_path):
    store = FactStore(tmp_path / "f.sqlite")
    store.put_tickers([("ZZZ", 7, "Drawn Inc."), ("AAA", 7, "Drawn Inc.")])
    store.put_facts(company_file(REPORT, YEARS))
    first = FactLibrary(store.path).find_company("7").ticker
    store.put_facts(company_file(REPORT, YEARS), tickers=["AAA"])

    assert (first, FactLibrary(store.path).find_company("7").ticker) == ("ZZZ", "ZZZ")
