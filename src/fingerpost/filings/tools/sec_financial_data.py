"""``sec_financial_data``: query company figures, each with its filing (plan-step contract, rule F3)."""

from functools import partial

from fingerpost.filings import claims, query_params, questions
from fingerpost.filings.sandbox import run_sql
from fingerpost.filings.tools import sec_shapes as shape
from fingerpost.filings.tools import sec_text as text
from fingerpost.filings.tools import segment_query
from fingerpost.filings.tools.sec_query import QueryTool, QueryType, define_query_tool

_FIGURES = partial(QueryType, shape=shape.ValuesAnswer, results=list[shape.FigureRow], data=dict[str, shape.Headline])
_TABLE = partial(QueryType, shape=shape.SourcedAnswer, text=text.format_table)
_QUERIES = (
    _FIGURES(
        name="financial_facts",
        params=query_params.FinancialFactsQuery,
        answer=questions.financial_facts,
        continuation_hint="Request fewer metrics or a shorter period.",
    ),
    _FIGURES(
        name="time_series",
        params=query_params.TimeSeriesParams,
        answer=questions.time_series,
        data=dict[str, list[shape.Point]],
        continuation_hint="For the rest, send start_date and end_date.",
        usage="time_series {ticker, metric, period: annual|quarterly}",
    ),
    _FIGURES(
        name="compare",
        params=query_params.CompareParams,
        answer=questions.compare,
        data=dict[str, dict[str, shape.Headline]],
        continuation_hint="Request fewer tickers, metrics or years.",
        usage="compare {tickers, metrics, period}",
    ),
    _FIGURES(
        name="statement",
        params=query_params.StatementParams,
        answer=questions.statement,
        shape=shape.StatementAnswer,
        text=text.format_statement,
        continuation_hint="For the rest, request the metrics with financial_facts.",
        usage="statement {ticker, statement: income|balance|cash_flow, period: 2022 or 2020..2022}",
    ),
    _FIGURES(
        name="financial_ratios",
        params=query_params.FinancialRatiosParams,
        answer=questions.financial_ratios,
        continuation_hint="Specify the ratios or a period.",
        usage="financial_ratios {ticker, ratios, period}",
    ),
    _FIGURES(
        name="calculate",
        params=query_params.CalculateParams,
        answer=questions.calculate,
        continuation_hint="Use a shorter period.",
        usage="calculate {ticker, expression: free_cash_flow or 365*avg(Inventory)/CostOfRevenue, period}",
    ),
    QueryType(
        name="segments",
        params=segment_query.SegmentsParams,
        answer=segment_query.list_segments,
        shape=segment_query.SegmentsAnswer,
        results=list[segment_query.SegmentRow],
        data=dict[str, dict[str, shape.Headline]],
        text=segment_query.format_segments,
        continuation_hint="Specify an axis or a shorter period.",
        usage="segments {ticker, metric, axis: segment|product|region, period}",
    ),
    QueryType(
        name="verify_claim",
        params=query_params.Claim,
        answer=claims.verify_claim,
        shape=shape.ClaimAnswer,
        results=list[shape.FigureRow],
        text=text.format_verdict,
        continuation_hint="Send a claim about one period.",
        usage="verify_claim {ticker, metric or formula, period, relation, value, unit}",
    ),
    *(
        _TABLE(
            name=name,
            params=query_params.CompanyInfoParams,
            answer=questions.company_info,
            results=list[shape.CompanyRow],
            continuation_hint="Give a ticker; for the rest, use custom_sql with LIMIT and OFFSET.",
            usage=name,
        )
        for name in ("company_info", "companies")
    ),
    _TABLE(
        name="metrics",
        params=query_params.MetricsParams,
        answer=questions.metrics,
        results=list[shape.MetricRow],
        continuation_hint="Send a category, or use custom_sql with LIMIT and OFFSET.",
        usage="metrics {ticker}",
    ),
    _TABLE(
        name="custom_sql",
        params=query_params.CustomSqlParams,
        answer=run_sql,
        shape=shape.SqlAnswer,
        results=list[dict[str, shape.Cell]],
        continuation_hint="For the rest, send the same query with LIMIT and OFFSET.",
        usage="custom_sql {sql_query}",
    ),
)


class SecFinancialData(QueryTool):
    queries = _QUERIES
    definition = define_query_tool(
        "sec_financial_data",
        "Company figures",
        _QUERIES,
        intro=(
            "Figures that companies reported to the SEC, each with accession number, filing date, tag, unit and "
            'period. query_type financial_facts: {ticker, metrics: ["Revenue"], period: "2022" or "2022-Q2" (fiscal), '
            "or start_date and end_date for period ends}; data.Revenue is the number. Others: "
        ),
        outro=(
            ". All take as_of. Never invents figures: read missing and source, and report them."
            " For lists of filings use sec_graph_query, for text sec_semantic_search."
        ),
        # Companies that are not loaded are fetched from EDGAR.
        open_world=True,
    )
