"""The small table of public figures that ships with the package, so that a first question needs no network.

``sample/figures.txt`` is made of lines: ``company``, ``year`` (a fiscal year's end and name), ``filing``
(a number, accession, form, filed day), ``concept`` (name, unit, label), and under each concept its figures:
start (``-`` for an instant), end, value, and the number of the filing that states it.
"""

from dataclasses import dataclass, field
from pathlib import Path

from fingerpost.filings.companyfacts import FactsFile
from fingerpost.filings.figure import Fact, plain_number


@dataclass(slots=True)
class SampleCompany:
    """One company of the sample."""

    cik: int
    name: str
    tickers: list[str]
    sic: str
    industry: str
    exchange: str
    currency: str
    facts: list[Fact] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    fiscal_years: dict[str, int] = field(default_factory=dict)

    @property
    def file(self) -> FactsFile:
        return FactsFile(
            cik=self.cik,
            name=self.name,
            facts=self.facts,
            labels=self.labels,
            fiscal_years=self.fiscal_years,
            currency=self.currency,
            complete_through=max(fact.filed for fact in self.facts),
            first_end=min(fact.end for fact in self.facts),
        )


def read_sample() -> list[SampleCompany]:
    text = (Path(__file__).parent / "sample" / "figures.txt").read_text(encoding="utf-8")
    companies: list[SampleCompany] = []
    filings: dict[str, tuple[str, str, str]] = {}
    concept = unit = ""
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        match word:
            case "" | "#":
                continue
            case "company":
                cik, name, tickers, sic, industry, exchange, currency = rest.split(" | ")
                companies.append(SampleCompany(int(cik), name, tickers.split(), sic, industry, exchange, currency))
                filings = {}
            case "year":
                end, year = rest.split()
                companies[-1].fiscal_years[end] = int(year)
            case "filing":
                number, accession, *form, filed = rest.split(" ")
                filings[number] = (accession, " ".join(form), filed)
            case "concept":
                concept, unit, label = rest.split(" ", 2)
                companies[-1].labels[concept] = label
            case _:
                end, value, number = rest.split()
                start = "" if word == "-" else word
                amount = plain_number(float(value)) if "." in value else int(value)
                companies[-1].facts.append(Fact(concept, unit, start, end, amount, *filings[number]))
    return companies
