"""Which companies there are, and which figures a company reports."""

from typing import Any

from fingerpost.filings.concepts import list_metrics
from fingerpost.filings.fact import Company
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.questions import get_company
from fingerpost.filings.reply import Reply, nothing, source_of


def company_info(library: FactLibrary, ticker: str | None) -> Reply:
    """Return one company, or all of them.

    Raises:
        DataNotFound: there is none of that ticker.
    """
    if ticker is not None:
        company = get_company(library, ticker, f"No company info found for {ticker}")
        return Reply([_row(company)], source=source_of(company))
    companies = library.list_companies()
    if not companies:
        raise nothing("No company info found for any company", {})
    return Reply([_row(company) for company in companies], source=source_of(*companies))


def metrics(library: FactLibrary, ticker: str, category: str | None, as_of: str | None = None) -> Reply:
    """Return the metric words that a company has figures for, and the tags behind them; then its other tags.

    Raises:
        DataNotFound: there are none in the category.
    """
    nobody = f"No metrics found for {ticker}" if category is None else f"No metrics found for category: {category}"
    company = get_company(library, ticker, nobody)
    filed = library.list_concepts(company)
    if as_of is not None:
        known = library.list_concepts_known(company, as_of)
        filed = {concept: label for concept, label in filed.items() if concept in known}
    rows: list[dict[str, Any]] = []
    named = set()
    for metric in list_metrics():
        for concept in metric.concepts:
            if concept in filed and category in (None, metric.statement):
                rows.append(
                    {
                        "xbrl_tag": concept,
                        "standard_metric_name": metric.name,
                        "category": metric.statement,
                        "description": filed[concept],
                    }
                )
            named.add(concept)
    if category in (None, "other"):
        rows += [
            {"xbrl_tag": concept, "standard_metric_name": None, "category": "other", "description": label}
            for concept, label in filed.items()
            if concept not in named
        ]
    if not rows:
        raise nothing(nobody, {}, source_of(company))
    return Reply(rows, source=source_of(company))


def _row(company: Company) -> dict[str, Any]:
    return {
        "ticker": company.ticker,
        "tickers": list(company.tickers),
        "name": company.name,
        "cik": company.padded_cik,
        "sic": company.sic,
        "sector": None,
        "industry": company.industry,
        "exchange": company.exchange,
        "currency": company.currency,
        "dataset": company.dataset,
        "first_period_end": company.first_end,
        "complete_through": company.complete_through,
    }
