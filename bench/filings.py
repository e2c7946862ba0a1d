"""Compare filings with edgartools, in one run: ``make bench-filings``. Answers are compared first; only ratios count.

edgartools has its own environment; the first argument is its Python. The recordings are located as in the tests. Each
round starts two fresh processes, one after the other, so that both see the same machine.
"""

import compileall
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

from harness import HEAD, report, report_pairs, run_json
from tests.shared_data import find_shared

import fingerpost
from fingerpost.filings.companyfacts import parse_json, read_facts
from fingerpost.filings.concepts import find_metric
from fingerpost.filings.library import CompanyFigures, FactLibrary
from fingerpost.filings.period_filter import read_period
from fingerpost.filings.store import FactStore

ROUNDS = 5
BOUNDS = {"cold load": 0.2, "warm query": 0.3, "resident memory": 0.3, "import": 0.2}
RECORDED = {
    "AAPL": "companyfacts_CIK0000320193_AAPL.json",
    "NVDA": "companyfacts_CIK0001045810_NVDA.json",
    "META": "companyfacts_CIK0001326801_FB_2021.json",
}
METRICS = ("Revenue", "NetIncome", "OperatingIncome", "GrossProfit", "Assets", "Liabilities", "StockholdersEquity")
UNEXPLAINED = "unexplained"
PERIODS = ("FY", "Q1", "Q2", "Q3", "Q4")

_TIMED = """
import time; began = time.perf_counter()
import json, resource, sys
{imports}
imported = time.perf_counter()
{load}
value = ask()
loaded = time.perf_counter()
for _ in range(500): ask()
asked = time.perf_counter()
print(json.dumps({{"import": 1e3 * (imported - began), "cold load": 1e3 * (loaded - began), "value": float(value),
    "warm query": 2 * (asked - loaded), "resident memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3}}))
"""
OURS = _TIMED.format(
    imports="""
from pathlib import Path
from fingerpost.filings.companyfacts import parse_json, read_facts
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.query_params import FinancialFactsQuery
from fingerpost.filings.questions import financial_facts
from fingerpost.filings.store import FactStore
""",
    load="""
source, home = Path(sys.argv[1]), Path(sys.argv[2])
store = FactStore(home / "filings.sqlite")
store.put_facts(read_facts(parse_json(source.read_bytes(), source.name), source.name), tickers=["AAPL"])
library = FactLibrary(store.path)
def ask():
    asked = FinancialFactsQuery(ticker="AAPL", metrics=["Revenue"], period="2022")
    return financial_facts(library, asked).data["Revenue"]
""",
)
THEIRS = _TIMED.format(
    imports="""
import edgar
from edgar.entity.parser import EntityFactsParser
""",
    load="""
facts = EntityFactsParser.parse_company_facts(json.load(open(sys.argv[1])))
def ask():
    return facts.get_revenue(period="2022-FY")
""",
)
ALL_OF_THEIRS = f"""
import json, sys
from edgar.entity.parser import EntityFactsParser
getters = dict(zip({METRICS}, ("get_revenue", "get_net_income", "get_operating_income", "get_gross_profit",
    "get_total_assets", "get_total_liabilities", "get_shareholders_equity")))
found = []
for ticker, path in json.loads(sys.argv[1]).items():
    facts = EntityFactsParser.parse_company_facts(json.load(open(path)))
    for year in range(2009, 2027):
        for part in {PERIODS}:
            for metric, getter in getters.items():
                value = getattr(facts, getter)(period=f"{{year}}-{{part}}", annual=part == "FY")
                found.append((ticker, metric, year, part, value))
print(json.dumps(found))
"""


def main() -> int:
    """Print every figure and the list of disagreements; return 1 if a bound is missed or one is unexplained."""
    folder = find_shared() / "sec"
    # pip compiled edgartools when it was installed.
    compileall.compile_dir(Path(fingerpost.__file__).parent, quiet=1)
    theirs = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    with tempfile.TemporaryDirectory() as home:
        good = compare_answers(folder, theirs, Path(home))
        return 0 if measure(folder / RECORDED["AAPL"], theirs, Path(home)) and good else 1


def run(python: str, script: str, *arguments: object) -> list | dict:
    return run_json(python, "-W", "ignore", "-c", script, *arguments, EDGAR_IDENTITY="bench bench@example.org")


def measure(source: Path, theirs: str, home: Path) -> bool:
    taken = []
    for number in range(ROUNDS):
        own = home / str(number)
        own.mkdir()
        taken.append((run(sys.executable, OURS, source, own), run(theirs, THEIRS, source)))
    values = {side["value"] for pair in taken for side in pair}
    print(f"both answer {values.pop():,.0f} for Apple's revenue of fiscal 2022{'; or not  short' if values else ''}")
    print(f"beside edgartools, in ms and MB:\n{HEAD}")
    kept = [
        report_pairs(name, *([side[name] for side in rounds] for rounds in zip(*taken, strict=True)), bound=bound)
        for name, bound in BOUNDS.items()
    ]
    return all(kept) and not values


def compare_answers(folder: Path, theirs: str, home: Path) -> bool:
    """Print how often both agree, and every kind of disagreement; return whether all are explained."""
    store = FactStore(home / "all.sqlite")
    paths = {ticker: folder / name for ticker, name in RECORDED.items()}
    for ticker, path in paths.items():
        store.put_facts(read_facts(parse_json(path.read_bytes(), path.name), path.name), tickers=[ticker])
    library = FactLibrary(store.path)
    asked = run(theirs, ALL_OF_THEIRS, json.dumps({ticker: str(path) for ticker, path in paths.items()}))
    kinds: Counter[str] = Counter()
    for ticker, metric, year, part, value in asked:
        kind = explain(library, ticker, metric, year, part, value)
        kinds[kind] += 1
        if kind == UNEXPLAINED:
            print(f"  {ticker} {metric} {year} {part}: edgartools {value}")
    for kind, count in kinds.most_common():
        if kind not in ("neither has it", UNEXPLAINED):
            print(f"{count:5} {kind}")
    return report("disagreements left unexplained", kinds[UNEXPLAINED], bound=0)


def explain(library, ticker, metric, year, part, theirs):
    """Return the reason why edgartools' direct getter and our resolver return different values."""
    source, word = CompanyFigures(library, library.find_company(ticker)), find_metric(metric)

    def ask(of_year, of_part, of_word=word):
        period = str(of_year) if of_part == "FY" else f"{of_year}-{of_part}"
        found = source.select(of_word, read_period(period)).headline
        return found[0] if len(found) == 1 else None

    ours = ask(year, part)
    if theirs is None:
        return (
            "neither has it" if ours is None else f"edgartools has no {'fourth quarter' if part == 'Q4' else 'value'}"
        )
    if ours is not None and ours.value == theirs:
        return "agree"
    figures = source.series(word).figures
    stating = [f for f in figures if theirs == f.value or theirs in {each.fact.value for each in f.values}]
    if ours is None:
        cost = ask(year, part, find_metric("CostOfRevenue"))
        if metric == "GrossProfit" and cost is not None and not stating:
            return "edgartools computes a gross profit that is not reported"
    elif theirs in {revision.fact.value for revision in ours.values}:
        return "edgartools gives an older vintage"
    elif any(figure.end == ours.end and figure.start < ours.start for figure in stating):
        return "edgartools gives the year to date as the quarter"
    if any(figure.fiscal_year != year for figure in stating):
        return "edgartools names the year by the filing's fy"
    return UNEXPLAINED


if __name__ == "__main__":
    sys.exit(main())
