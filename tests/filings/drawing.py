"""Companies drawn as text: one fact per line, in dates and dollars."""

from dataclasses import replace

import pytest

from fingerpost.errors import DataNotFound
from fingerpost.filings.companyfacts import FactsFile
from fingerpost.filings.figure import Fact, FigureOptions
from fingerpost.filings.library import CompanyFigures, FactLibrary
from fingerpost.filings.period_filter import PeriodFilter, read_period
from fingerpost.filings.store import FactStore
from fingerpost.filings.tools.sec_financial_data import SecFinancialData
from fingerpost.filings.tools.sec_query import read_params


def facts(drawing, unit="USD"):
    """Return the facts of a drawing: tag, start (- for an instant), end, value, accession, form, filed day."""
    found = []
    for line in filter(str.strip, drawing.splitlines()):
        tag, start, end, value, accession, form, filed = line.split()
        concept = tag if ":" in tag else f"us-gaap:{tag}"
        number = float(value) if "." in value else int(value)
        found.append(Fact(concept, unit, "" if start == "-" else start, end, number, accession, form, filed))
    return found


def company_file(drawn, years=None, *, cik=7, name="Drawn Inc.", currency="USD"):
    """Return drawn facts as a file; ``years`` is each fiscal year's end and name."""
    return FactsFile(
        cik=cik,
        name=name,
        facts=list(drawn),
        labels={fact.concept: fact.concept for fact in drawn},
        fiscal_years=dict(years or {}),
        currency=currency,
        complete_through=max(fact.filed for fact in drawn),
        first_end=min(fact.end for fact in drawn),
    )


def companyfacts(drawing, *, cik=7, name="Drawn Inc."):
    """Return a drawing as EDGAR's file; each report calls its year by the figures' end."""
    raw = {}
    for fact in facts(drawing):
        taxonomy, _, tag = fact.concept.partition(":")
        row = {"end": fact.end, "val": fact.value, "accn": fact.accession, "form": fact.form, "filed": fact.filed}
        row |= {"fy": int(fact.end[:4]), "fp": "FY"} | ({"start": fact.start} if fact.start else {})
        concept = raw.setdefault(taxonomy, {}).setdefault(tag, {"label": tag, "units": {}})
        concept["units"].setdefault(fact.unit, []).append(row)
    return {"cik": cik, "entityName": name, "facts": raw}


def submissions(*rows, cik=7, name="Drawn Inc.", **fields):
    """Return EDGAR's list of filings; a row has accession, form, filed day, last day, document and description."""
    columns = ("accessionNumber", "form", "filingDate", "reportDate", "primaryDocument", "primaryDocDescription")
    recent = {column: [row[place] for row in rows] for place, column in enumerate(columns)}
    return {"cik": str(cik), "name": name, "filings": {"recent": recent}, **fields}


def library_of(path, drawn, years=None, *, ticker="DRWN", currency="USD"):
    file = company_file(drawn, years, currency=currency)
    FactStore(path).put_facts(file, tickers=[ticker], retrieved_at="2024-01-01T00:00:00Z")
    return FactLibrary(path)


def figures_of(library, ticker="DRWN", **options):
    return CompanyFigures(library, library.find_company(ticker), FigureOptions(**options))


def ask(library, query_type, **fields):
    query = next(query for query in SecFinancialData.queries if query.name == query_type)
    return query.answer(library, read_params(query.params, fields))


def refusal(library, query_type, **fields):
    with pytest.raises(DataNotFound) as caught:
        ask(library, query_type, **fields)
    return caught.value


def window(period=None, *, first="0001-01-01", last="9999-12-31"):
    return replace(read_period(period) if period else PeriodFilter(), first=first, last=last)
