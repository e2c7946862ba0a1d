"""Ask plain questions about annual reports, and check whether the first results have the answer and the right item.

The first argument is a folder of annual reports in HTML, named ``TICKER-10-k-YYYY-MM-DD.html``. Questions about absent
reports are skipped and counted. The questions are of the kinds in FinanceBench; each has the items that may answer it,
and a regular expression for the answer.
"""

import asyncio
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from fingerpost.filings.figure import Filing
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.sections import read_plain_text
from fingerpost.filings.store import FactStore
from fingerpost.filings.tools.sec_semantic_search import SecSemanticSearch

RESULTS = 3
# Names as EDGAR writes them, because a search for a company ignores its name.
NAMES = {
    "AAPL": "Apple Inc.", "ABBV": "AbbVie Inc.", "ADBE": "ADOBE INC.", "AMZN": "AMAZON COM INC", "BA": "BOEING CO",
    "CRM": "Salesforce, Inc.", "GOOGL": "Alphabet Inc.", "HD": "HOME DEPOT, INC.", "JNJ": "JOHNSON & JOHNSON",
    "KO": "COCA COLA CO", "MA": "Mastercard Inc", "META": "Meta Platforms, Inc.", "NFLX": "NETFLIX INC",
    "NKE": "NIKE, Inc.", "NVDA": "NVIDIA CORP", "PG": "PROCTER & GAMBLE Co", "TSLA": "Tesla, Inc.",
    "UNH": "UNITEDHEALTH GROUP INC", "UNP": "UNION PACIFIC CORP", "V": "VISA INC.",
    "WFC": "WELLS FARGO & COMPANY/MN", "WMT": "Walmart Inc.",
}  # fmt: skip
# The shipped sample has figures for these companies, under their CIKs.
CIKS = {"AAPL": 320193, "NVDA": 1045810, "META": 1326801}
# Two lines a question: the company and the question; the items that may answer it, and a regular expression for the
# answer.
QUESTIONS = r"""
AAPL What are the major products and services that Apple sells?
    [business] iPhone.{0,40}is the Company.s line of smartphones
NVDA Did NVIDIA report customer concentration in fiscal 2025?
    [financial_statements risk_factors mdna] (customer|Customer).{0,120}(12|11|13)%
BA Has Boeing reported any materially important ongoing legal battles?
    [legal_proceedings financial_statements] (lawsuits|legal proceedings).{0,300}(737|Lion Air|fraud)
BA Who are the primary customers of Boeing?
    [business risk_factors financial_statements] (limited number of (commercial )?(airline|customers)|U\.S\. government.{0,80}%)
BA Is Boeing's business subject to cyclicality?
    [risk_factors] cyclical
BA What production rate changes is Boeing forecasting for the 737?
    [mdna business risk_factors] 38 per month
KO What are the geographies that Coca-Cola primarily operates in?
    [business financial_statements] Europe, Middle East (and|&) Africa
META What drove the change in revenue for Meta in 2024?
    [mdna] (ad impressions|average price per ad).{0,200}
META Which debt securities are registered to trade on a national securities exchange under Meta's name?
    [front_matter] (Nasdaq|NASDAQ)
META How many employees does Meta have?
    [business] 74,067
META Does Meta pay dividends to shareholders?
    [market_for_equity mdna financial_statements risk_factors] \$0\.50 per share
NFLX Does Netflix depend on Amazon Web Services?
    [risk_factors] Amazon Web Services
NFLX What is the expected effect of foreign currency exchange rates on Netflix?
    [market_risk mdna risk_factors] (foreign (currency )?exchange).{0,300}(euro|revenue)
JNJ What drove gross margin change as of FY2024 for Johnson & Johnson?
    [mdna] (cost of products sold|gross profit).{0,250}(increase|decrease|amortization)
JNJ What is the status of the talc litigation against Johnson & Johnson?
    [financial_statements risk_factors legal_proceedings mdna] talc
JNJ What are major acquisitions that Johnson & Johnson has done in 2024 and 2023?
    [financial_statements mdna business] (Shockwave|Abiomed)
ADBE How many people does Adobe employ?
    [business] 30,709
ADBE What happened with the Figma acquisition?
    [mdna financial_statements risk_factors business] (terminat).{0,200}Figma|Figma.{0,200}(terminat)
NKE Where does Nike manufacture its footwear?
    [business] Vietnam
NKE What drove the decrease in Nike's revenues in fiscal 2025?
    [mdna] (NIKE Direct|wholesale|[Uu]nit).{0,300}(decrease|declin|lower)
WFC Which banking regulators limit the asset growth of Wells Fargo?
    [business risk_factors mdna] asset cap|total consolidated assets
WMT How many retail units does Walmart operate?
    [business properties] 10,(7|8)\d\d
TSLA Where are Tesla's manufacturing facilities located?
    [properties business] Giga(factory)? ?(Nevada|Berlin|Shanghai|Texas)
TSLA Does Tesla have any unresolved staff comments?
    [unresolved_staff_comments] None
UNH What was the impact of the Change Healthcare cyberattack on UnitedHealth?
    [mdna financial_statements risk_factors] cyberattack
CRM What are Salesforce's remaining performance obligations?
    [mdna financial_statements] [Rr]emaining performance obligation.{0,300}billion|63\.4
V What legal proceedings on interchange fees is Visa involved in?
    [financial_statements legal_proceedings risk_factors business] (interchange).{0,300}(litigation|Litigation|settle|MDL)
GOOGL What is Alphabet's exposure to the antitrust case of the Department of Justice on search?
    [financial_statements legal_proceedings risk_factors business] (DOJ|Department of Justice)
PG Which customer accounts for more than 10% of Procter & Gamble's sales?
    [business financial_statements risk_factors] (Walmart|Wal-Mart).{0,200}1[56]%
HD How many stores does Home Depot operate?
    [business properties] 2,3\d\d
UNP What labor unions represent Union Pacific's employees?
    [business risk_factors mdna] (labor unions|rail unions)
ABBV When does Humira face biosimilar competition?
    [business risk_factors mdna] biosimilar
GOOGL Does Alphabet face risks from artificial intelligence?
    [risk_factors] (AI|artificial intelligence)
AAPL How does Apple manage cybersecurity risk and who oversees it?
    [cybersecurity] (Chief|Head of).{0,80}(Information )?Security
AMZN Where are Amazon's principal office locations and how much space does it lease?
    [properties] square (feet|footage)
MA What changed in Mastercard's internal control over financial reporting?
    [controls] no change
"""  # noqa: E501


def load(folder: Path, store: FactStore) -> set[str]:
    loaded = set()
    for number, file in enumerate(sorted(folder.glob("*-10-k-*.html")), 900_000):
        ticker = file.name.partition("-")[0].upper()
        if ticker in NAMES and file.stat().st_size:
            cik, text = CIKS.get(ticker, number), read_plain_text(file.read_bytes())
            store.put_tickers([(ticker, cik, NAMES[ticker])])
            store.put_text(cik, Filing(f"{number:010d}-00-000000", "10-K", file.stem[-10:]), text)
            loaded.add(ticker)
    return loaded


async def ask(tool: SecSemanticSearch, ticker: str, question: str, items: str, answer: str) -> tuple[bool, bool]:
    """Print and return whether the first results have the right item, and the answer."""
    parameters = {"query": question, "companies": [ticker], "top_k": RESULTS}
    hits = (await tool.execute("semantic_search", parameters))["results"]
    has_item = any(hit["metadata"]["section_type"] in items.split() for hit in hits)
    has_answer = any(re.search(answer, hit["text"], re.DOTALL | re.IGNORECASE) for hit in hits)
    print(f"item {'yes' if has_item else 'NO ':3}  answer {'yes' if has_answer else 'NO ':3}  {ticker}: {question}")
    return has_item, has_answer


async def main() -> None:
    questions = re.findall(r"^(\w+) (.+)\n    \[([\w ]+)\] (.+)$", QUESTIONS, re.MULTILINE)
    with TemporaryDirectory() as home:
        store = FactStore(Path(home) / "filings.sqlite")
        loaded = load(Path(sys.argv[1]), store) if len(sys.argv) == 2 else set()
        if not loaded:
            raise SystemExit("usage: filing_text.py FOLDER, with annual reports named TICKER-10-k-YYYY-MM-DD.html")
        tool = SecSemanticSearch(FactLibrary(store.path))
        found = [await ask(tool, *question) for question in questions if question[0] in loaded]
    print(f"{len(found)} questions, {len(questions) - len(found)} skipped; among the first {RESULTS} results:")
    items, answers = (sum(results) for results in zip(*found, strict=True))
    print(f"the right item for {items}, the answer for {answers}")


if __name__ == "__main__":
    asyncio.run(main())
