"""``segments``: break down a figure by segment, product, region or another axis, from XBRL instances."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from fingerpost.filings import segments
from fingerpost.filings.concepts import RECIPE, find_metric, suggest_metrics
from fingerpost.filings.figure import ANNUAL_FORMS, EDGAR, cite_filing
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.period_filter import LAST_DAY, NEWEST_TTM, NEWEST_YEAR, PeriodFilter
from fingerpost.filings.periods import QUARTERS, FiscalCalendar
from fingerpost.filings.query_params import Day, FiscalPeriod, StepParams, Ticker, Word
from fingerpost.filings.reasons import open_company
from fingerpost.filings.reply import Reply, build_missing, build_not_found, build_source
from fingerpost.filings.segments import Breakdown, Report
from fingerpost.filings.tools import sec_shapes as shape
from fingerpost.filings.tools.sec_query import StepModel
from fingerpost.filings.tools.sec_text import format_filing, format_span, with_sources
from fingerpost.filings.xbrl import InstanceFact

_NO_INSTANCE_STEP = "Run: fingerpost filings sync {} --segments 3, or fingerpost filings load NAME_htm.xml"
_MAX_LISTED = 12


class SegmentsParams(StepParams):
    ticker: Ticker
    metric: Annotated[Word, Field(description="such as Revenue, OperatingIncome, or a tag")]
    axis: Annotated[Word | None, Field(description="segment, product, region, customer, or an axis in the filing")] = (
        None
    )
    period: FiscalPeriod
    as_of: Day | None = None


class SegmentRow(shape.FiledRow):
    """The value for one member of an axis, labeled with the company's own name for the member."""

    metric_name: str
    axis: str
    axis_tag: str
    member: str
    member_tag: str
    role: Literal["part", "reconciling", "overlapping"]
    fiscal_period: str
    xbrl_tag: str


class SumCheck(StepModel):
    """The sum over an axis, compared with the total in the same filing; ``omitted`` counts values not in the rows."""

    axis: str
    fiscal_year: int
    fiscal_period: str
    unit: str
    sum: shape.Value
    total: shape.Value | None = None
    difference: shape.Value | None = None
    omitted: int
    accession_number: str


class SegmentsAnswer(shape.ValuesAnswer):
    sums: list[SumCheck]


Facts = Mapping[Report, Mapping[PeriodFilter, Sequence[InstanceFact]]]
"""A company's loaded reports, newest first, each with its facts about the metric by period."""


def list_segments(library: FactLibrary, params: SegmentsParams) -> Reply:
    not_found = f"No segments found for {params.ticker}"
    source = open_company(library, params.ticker, not_found)
    reports = segments.list_reports(library, library.list_ciks(source.company), params.as_of or LAST_DAY)
    if not reports:
        step = _NO_INSTANCE_STEP.format(source.company.ticker)
        entry = build_missing("not_loaded", "no filing with segment data is loaded", step)
        if segments.list_reports(library, library.list_ciks(source.company), LAST_DAY):
            message = f"the filings with segment data were filed after {params.as_of}"
            entry = build_missing("hidden_by_as_of", message, "Use a later as_of, or omit it")
        raise build_not_found(not_found, {"segments": entry})
    name, concepts = _find_concepts(reports, params.metric)
    if not concepts:
        message = f"{params.metric} is not a known metric, and no loaded filing breaks down a tag with that name"
        step = "Use a metric such as Revenue, or a tag in the filing; calculated metrics have no segments"
        entry = build_missing("unknown_metric", message, step, suggest_metrics(params.metric, _list_tags(reports)))
        raise build_not_found(not_found, {params.metric: entry})
    facts = {report: report.read_facts(concepts, source.calendar) for report in reports}
    reply = Reply([], extra={"sums": []})
    company = replace(source.company, dataset=EDGAR, retrieved_at=None, complete_through=reports[0].filed)
    reply.source = build_source(company, as_of=params.as_of)
    data: dict[str, dict[str, Any]] = defaultdict(lambda: defaultdict(list))
    periods = _list_periods(params.period, reports, source.calendar)
    if params.period.newest:
        newest = source.with_options(as_of=params.as_of).find_newest(params.period.newest) or periods[0]
        if (newest.year, newest.quarter or QUARTERS) > (periods[0].year, periods[0].quarter or QUARTERS):
            note = f"No segments are loaded for the newest report, {newest.label}: this is {periods[0].label}"
            reply.notes.append(note)
    for period in periods:
        breakdowns, other_axes = _find_breakdowns(facts, period, params.axis)
        if not breakdowns:
            entry = _explain_period(facts, name, period, params.axis)
            reply.missing[f"{params.metric} {period.period}"] = entry
        for breakdown in breakdowns:
            names = {"ticker": source.company.ticker, "metric_name": name}
            rows = [names | _build_row(breakdown, row, period) for row in breakdown.rows]
            reply.results += rows
            reply.extra["sums"].append(_build_check(breakdown, period))
            if breakdown.is_crossed:
                subject = f"{breakdown.axis_label}, {period.label}"
                reply.notes.append(f"{subject}: rows are stated only within members of other axes")
            for row in rows:
                data[row["axis"]][row["member"]].append({"end_date": row["end_date"], "value": row["value"]})
        if other_axes:
            reply.notes.append(f"{period.label} has other axes, selected with axis: {', '.join(other_axes)}")
    if params.period.count == 1:
        for members in data.values():
            members |= {member: points[0]["value"] for member, points in members.items() if len(points) == 1}
    reply.data = data
    reply.notes = list(dict.fromkeys(reply.notes + _list_notes(reply)))
    return reply.require_rows(not_found)


def _find_concepts(reports: Iterable[Report], text: str) -> tuple[str, tuple[str, ...]]:
    metric = find_metric(text) if ":" not in text else None
    if metric is not None and metric.kind != RECIPE:
        return metric.name, metric.concepts
    wanted = text.strip().lower()
    tags = [tag for tag in _list_tags(reports) if wanted in (tag.lower(), tag.lower().partition(":")[2])]
    return (tags[0], tuple(tags)) if tags else (text, ())


def _list_tags(reports: Iterable[Report]) -> list[str]:
    query = "SELECT DISTINCT concept FROM instance_facts WHERE instance = ? AND members <> '' ORDER BY concept"
    return list(dict.fromkeys(tag for report in reports for (tag,) in report.library.rows(query, report.number)))


def _list_periods(period: PeriodFilter, reports: Iterable[Report], calendar: FiscalCalendar) -> list[PeriodFilter]:
    """Return the fiscal periods of a query; ``latest`` is the period of the newest loaded report."""
    if period.newest == NEWEST_TTM:
        message = "the last four quarters have no segments, because filings do not report fourth quarters"
        entry = build_missing("not_derivable", message, "Specify a fiscal year")
        raise build_not_found("No segments found", {"ttm": entry})
    if not period.newest:
        return period.list_periods()
    candidates = [each for each in reports if each.form in ANNUAL_FORMS or period.newest != NEWEST_YEAR]
    if not candidates:
        entry = build_missing("not_loaded", "no annual report with segments is loaded", "Specify the period")
        raise build_not_found("No segments found", {period.newest: entry})
    newest = max(candidates, key=lambda each: each.period_end)
    year, quarter = calendar.find_period(newest.period_end)
    return [PeriodFilter(year=year, quarter=None if newest.form in ANNUAL_FORMS else quarter)]


def _find_breakdowns(facts: Facts, period: PeriodFilter, axis: str | None) -> tuple[list[Breakdown], list[str]]:
    """Return the period's breakdowns from the newest filing that has any, and the other axes in that filing.

    All rows for a period come from one filing, so that their names and basis are consistent.
    """
    for report, by_period in facts.items():
        period_facts = by_period.get(period, ())
        axes = segments.list_axes(period_facts)
        selected_axes = segments.match_axes(axis, axes, report.labels)
        breakdowns = [each for each in segments.build_breakdowns(report, period_facts) if each.axis in selected_axes]
        if breakdowns:
            unselected = [each for each in axes if each not in selected_axes] if axis is None else []
            return breakdowns, [report.labels.get(each, each) for each in unselected]
    return [], []


def _explain_period(facts: Facts, name: str, period: PeriodFilter, axis: str | None) -> dict[str, Any]:
    """Explain why a period has no breakdown, and list its other axes or, if it has none, the available periods."""
    axes: dict[str, set[str]] = defaultdict(set)
    for report, by_period in facts.items():
        for other_period, period_facts in by_period.items():
            axes[other_period.period].update(each.axis for each in segments.build_breakdowns(report, period_facts))
    available = sorted((each for each in axes if axes[each]), reverse=True)
    by = f" by {axis or ', '.join(segments.AXIS_WORDS)}"
    message = f"no loaded filing breaks down {name} for {period.label}{by}"
    stated = [by_period.get(period, ()) for by_period in facts.values()]
    if period.quarter == QUARTERS:
        message += "; filings do not report fourth quarters"
    elif axis and segments.match_axes(
        axis, [each for period_facts in stated for each in segments.list_axes(period_facts)], {}
    ):
        message += " alone, only by several axes at once"
    step = "Load more filings, or name another metric"
    if period.period in available:
        step = f"Available axes: {', '.join(sorted(axes[period.period]))}"
    elif available:
        step = f"Available periods: {', '.join(available[:_MAX_LISTED])}"
    return build_missing("not_reported", message, step)


def _build_row(breakdown: Breakdown, row: segments.BreakdownRow, period: PeriodFilter) -> dict[str, Any]:
    report, labels = breakdown.report, breakdown.report.labels
    same_label = [each for each in breakdown.rows if labels.get(each.member) == labels.get(row.member)]
    return _describe(breakdown, period) | {
        "axis_tag": breakdown.axis,
        # Two members may have the same label.
        "member": labels.get(row.member, row.member) if len(same_label) == 1 else row.member,
        "member_tag": row.member,
        "role": row.role,
        "value": row.value,
        "start_date": breakdown.start or None,
        "end_date": breakdown.end,
        "xbrl_tag": breakdown.concept,
        **cite_filing(report.cik, report.accession, report.form, report.filed),
    }


def _build_check(breakdown: Breakdown, period: PeriodFilter) -> dict[str, Any]:
    return _describe(breakdown, period) | {
        "sum": breakdown.sum,
        "total": breakdown.total,
        "difference": breakdown.difference,
        "omitted": breakdown.omitted,
        "accession_number": breakdown.report.accession,
    }


def _describe(breakdown: Breakdown, period: PeriodFilter) -> dict[str, Any]:
    quarter = f"Q{period.quarter}" if period.quarter else "FY"
    return {"axis": breakdown.axis_label, "fiscal_year": period.year, "fiscal_period": quarter, "unit": breakdown.unit}


def _list_notes(reply: Reply) -> list[str]:
    """Return warnings about facts that are not in the rows, and about members that change between filings."""
    notes = [
        f"{check['axis']}, {check['fiscal_year']} {check['fiscal_period']}: {check['omitted']} values for several"
        " members, or before eliminations, are not in the rows"
        for check in reply.extra["sums"]
        if check["omitted"]
    ]
    members: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in reply.results:
        members[row["axis"]][row["accession_number"]].add(row["member_tag"])
    notes += [
        f"{axis}: the filings use different members; they are not joined, because no filing reports both"
        for axis, filings in members.items()
        if len({frozenset(each) for each in filings.values()}) > 1
    ]
    return notes


def format_segments(body: Mapping[str, Any]) -> str:
    lines = []
    for check in body["sums"]:
        total = ", no total in the filing" if check["total"] is None else f", total {check['total']:,}"
        difference = f", difference {check['difference']:,}" if check["difference"] else ""
        period = f"{check['fiscal_year']} {check['fiscal_period']}"
        lines.append(f"{check['axis']}, fiscal {period}: sum {check['sum']:,} {check['unit']}{total}{difference}.")
    lines += [f"{_format_row(row)}." for row in body["results"]]
    return with_sources(body, lines)


def _format_row(row: Mapping[str, Any]) -> str:
    role = "" if row["role"] == segments.PART else f", {row['role']}"
    period = f"fiscal {row['fiscal_year']} {row['fiscal_period']} ({format_span(row)})"
    return (
        f"{row['ticker']} {row['metric_name']}, {row['axis']}: {row['member']} {period}:"
        f" {row['value']:,} {row['unit']}{role}, {format_filing(row)}, tag {row['xbrl_tag']}"
    )
