"""``sec_financial_data``: figures of companies, each with the filing that states it (contract 002, ruling F3)."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from fingerpost.filings import claims, directory, questions, ratios, statements
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.reply import Reply
from fingerpost.filings.sandbox import run_sql
from fingerpost.tools import sec_params as ask
from fingerpost.tools import sec_shapes as shape
from fingerpost.tools.sec_query import QueryKind, QueryTool

_NO_VINTAGE = "Who a company is has no vintage: as_of changed nothing"
_SHOWN = 6


class SecFinancialData(QueryTool):
    """Reported figures, told apart by vintage."""

    name = "sec_financial_data"
    title = "Company figures"
    description = (
        "Figures that companies reported to the SEC, each with accession number, filing date, tag, unit and period. "
        'query_type financial_facts: {ticker, metrics: ["Revenue"], period: "2022" or "2022-Q2" (fiscal), or '
        "start_date and end_date of period ends}; data.Revenue is the number. Others: time_series {ticker, metric, "
        "period: annual|quarterly}, compare {tickers, metrics, period}, statement {ticker, statement: income|balance|"
        "cash_flow, period}, financial_ratios, fact_history (restated, split or rounded), verify_claim {claim}, "
        "company_info, companies, metrics {ticker}, custom_sql {sql_query}. All take as_of. Never invents: read "
        "missing and source, and say them. For lists of filings take sec_graph_query, for text sec_semantic_search."
    )
    kinds: ClassVar[Mapping[str, QueryKind]] = {
        "financial_facts": QueryKind(
            ask.FinancialFactsQuery, shape.FactsAnswer, "figures of a company in a window or fiscal period"
        ),
        "company_info": QueryKind(ask.CompanyInfoParams, shape.CompaniesAnswer, "who a company is; all without ticker"),
        "companies": QueryKind(ask.CompaniesParams, shape.CompaniesAnswer, "every company that has figures"),
        "metrics": QueryKind(ask.MetricsParams, shape.MetricsAnswer, "which figures a company reports"),
        "time_series": QueryKind(ask.TimeSeriesParams, shape.SeriesAnswer, "one metric over time"),
        "financial_ratios": QueryKind(ask.FinancialRatiosParams, shape.RatiosAnswer, "margins, returns, coverage"),
        "fact_history": QueryKind(
            ask.FactHistoryParams, shape.HistoryAnswer, "each value that was stated, the kind of each change named"
        ),
        "compare": QueryKind(ask.CompareParams, shape.CompareAnswer, "the same metrics at several companies"),
        "statement": QueryKind(ask.StatementParams, shape.StatementAnswer, "a whole statement of one period"),
        "verify_claim": QueryKind(ask.VerifyClaimParams, shape.ClaimAnswer, "whether a stated figure is true"),
        "custom_sql": QueryKind(
            ask.CustomSqlParams, shape.SqlAnswer, "a SELECT over facts, companies, tickers, filings, fiscal_years"
        ),
    }
    aliases: ClassVar[Mapping[str, str]] = {"all companies": "companies"}

    def __init__(self, library: FactLibrary) -> None:
        self._library = library
        self._questions: Mapping[str, Callable[[Any], Reply]] = {
            "financial_facts": self._facts,
            "company_info": self._company_info,
            "companies": self._companies,
            "metrics": self._metrics,
            "time_series": self._time_series,
            "financial_ratios": self._ratios,
            "fact_history": self._history,
            "compare": self._compare,
            "statement": self._statement,
            "verify_claim": self._claim,
            "custom_sql": self._sql,
        }

    def reply(self, query_type: str, params: Any) -> Reply:
        """Return the reply to one question."""
        return self._questions[query_type](params)

    def say(self, query_type: str, body: Mapping[str, Any]) -> str:
        """Return the headline rows, each with its filing, then what is missing and whose data it is."""
        rows = body["results"]
        if query_type == "verify_claim":
            parts = [f"{body['data']['verdict']}: {body['explanation']}."]
        elif query_type == "custom_sql":
            parts = [f"{len(rows)} rows{' (there are more)' if body['truncated'] else ''}."]
        elif query_type in ("companies", "company_info"):
            parts = ["; ".join(f"{row['ticker']}: {row['name']} (CIK {row['cik']})" for row in rows[:_SHOWN]) + "."]
        elif query_type == "metrics":
            words = dict.fromkeys(row["standard_metric_name"] for row in rows if row["standard_metric_name"])
            parts = [f"{len(rows)} tags; metric words: {', '.join(words)}."]
        else:
            parts = [f"{_sentence(row)}." for row in rows[:_SHOWN]]
        if len(rows) > _SHOWN and query_type not in ("custom_sql", "metrics", "verify_claim"):
            parts.append(f"And {len(rows) - _SHOWN} more rows.")
        parts += [
            f"Missing {name}: {entry['message']}. {entry['next_step']}." for name, entry in _first(body, "missing")
        ]
        parts += [f"{note}." for note in body.get("notes", ())]
        source = body.get("source")
        if source is not None:
            note = f" {source['note']}." if "note" in source else ""
            parts.append(
                f"Source: SEC filings, {source['dataset']}, complete through {source['complete_through']}.{note}"
            )
        return " ".join(parts)

    def _facts(self, params: ask.FinancialFactsQuery) -> Reply:
        return questions.financial_facts(self._library, params.ticker, params.metrics, params.window, params.view)

    def _company_info(self, params: ask.CompanyInfoParams) -> Reply:
        return _timeless(directory.company_info(self._library, params.ticker), params.as_of)

    def _companies(self, params: ask.CompaniesParams) -> Reply:
        return _timeless(directory.company_info(self._library, None), params.as_of)

    def _metrics(self, params: ask.MetricsParams) -> Reply:
        return directory.metrics(self._library, params.ticker, params.category, params.as_of)

    def _time_series(self, params: ask.TimeSeriesParams) -> Reply:
        return questions.time_series(
            self._library, params.ticker, params.metric, params.window, params.frequency, params.view
        )

    def _ratios(self, params: ask.FinancialRatiosParams) -> Reply:
        return ratios.financial_ratios(self._library, params.ticker, params.ratios, params.window, params.view)

    def _history(self, params: ask.FactHistoryParams) -> Reply:
        return questions.fact_history(self._library, params.ticker, params.metric, params.window, params.view)

    def _compare(self, params: ask.CompareParams) -> Reply:
        return questions.compare(self._library, params.tickers, params.metrics, params.window, params.view)

    def _statement(self, params: ask.StatementParams) -> Reply:
        return statements.statement(self._library, params.ticker, params.statement, params.window, params.view)

    def _claim(self, params: ask.VerifyClaimParams) -> Reply:
        claim = claims.read_claim(self._library, params.claim, params.ticker, params.metric, params.period)
        return claims.verify_claim(self._library, claim, params.view)

    def _sql(self, params: ask.CustomSqlParams) -> Reply:
        found = run_sql(self._library.path, params.sql_query, params.as_of)
        return Reply(found.rows, extra={"truncated": found.truncated})


def _timeless(reply: Reply, as_of: str | None) -> Reply:
    if as_of is not None:
        reply.extra["notes"] = [_NO_VINTAGE]
    return reply


def _first(body: Mapping[str, Any], field: str) -> list[tuple[str, Any]]:
    return list(body.get(field, {}).items())[:_SHOWN]


def _sentence(row: Mapping[str, Any]) -> str:
    name = row.get("metric_name") or row["ratio_name"]
    period = f"fiscal {row['fiscal_year']} {row['fiscal_period'] or ''}".strip()
    how = "" if row["kind"] in ("reported", "original") else f", {row['kind']}"
    return (
        f"{row['ticker']} {name} {period} (to {row['end_date']}): {row['value']} {row['unit']}{how},"
        f" {row['filing_type']} {row['accession_number']} of {row['filing_date']}"
    )
