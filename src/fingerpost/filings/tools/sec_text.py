"""Format responses about SEC filings as text: one line per row, then missing values, notes and the source.

The text contains every figure and date in the structured content (rule A11); long text is truncated later.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fingerpost.contract.envelope import format_source
from fingerpost.errors import as_sentence

Body = Mapping[str, Any]


def format_table(body: Body) -> str:
    rows = body["results"]
    truncation = " (there are more: use LIMIT and OFFSET)" if body.get("truncated") else ""
    lines = [f"{len(rows):,} row{'' if len(rows) == 1 else 's'}{truncation}."]
    if rows:
        lines.append(" | ".join(rows[0]))
        cells = ([value if isinstance(value, str) else json.dumps(value) for value in row.values()] for row in rows)
        lines += map(" | ".join, cells)
    return with_sources(body, lines)


def format_verdict(body: Body) -> str:
    data = body["data"]
    names = ("claimed", "value", "difference", "tolerance")
    values = [f"{name} {data[name]}" for name in names if data.get(name) is not None]
    lines = [f"{data['verdict']}: {body['explanation']}."]
    if values:
        lines.append(f"{', '.join(values)} ({data['unit']}).")
    if data.get("end_date"):
        lines.append(f"Period: {format_span(data)}.")
    if (statement := data.get("true_statement")) and statement not in body["explanation"]:
        lines.append(f"Filed: {statement}.")
    lines += [f"{_format_figure(row)}." for row in body.get("results", ())]
    return with_sources(body, lines)


def format_statement(body: Body) -> str:
    """Format a statement with its periods side by side, then each figure with its filing."""
    columns = {name: points for name, points in body["data"].items() if isinstance(points, list)}
    ends = sorted({point["end_date"] for points in columns.values() for point in points})
    lines = [f"Periods ending: {' | '.join(ends)}."] if ends else []
    for name, points in columns.items():
        values = {point["end_date"]: f"{point['value']:,}" for point in points}
        lines.append(f"{name}: {' | '.join(values.get(end, '-') for end in ends)}.")
    return "\n".join([*lines, format_figures(body)])


def format_figures(body: Body) -> str:
    lines = [f"{name}: {value:,}." for name, value in _list_headlines(body.get("data"))]
    lines += [f"{_format_figure(row)}." for row in body["results"]]
    return with_sources(body, lines or ["No rows."])


def with_sources(body: Body, lines: list[str]) -> str:
    lines = lines + [_format_missing(name, entry) for name, entry in (body.get("missing") or {}).items()]
    lines += [f"{note}." for note in body.get("notes") or ()]
    source = body.get("source")
    return "\n".join(lines if source is None else [*lines, format_source(source)])


def _format_missing(name: str, entry: Body) -> str:
    step, similar = entry["next_step"], ", ".join(entry.get("did_you_mean") or ())
    suggestion = "" if similar in step else f" Did you mean {similar}?"
    return f"Missing {name}: {as_sentence(entry['message'])} {as_sentence(step)}{suggestion}"


def _list_headlines(data: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in (data or {}).items():
        if isinstance(value, Mapping):
            yield from _list_headlines(value, f"{name} ")
        elif isinstance(value, int | float):
            yield f"{prefix}{name}", value


def format_span(row: Body) -> str:
    start = f"{row['start_date']} " if row.get("start_date") else ""
    return f"{start}to {row['end_date']}"


def format_filing(row: Body) -> str:
    return f"{row['filing_type']} {row['accession_number']} of {row['filing_date']}"


def _format_figure(row: Body) -> str:
    period = f"fiscal {row['fiscal_year']} {row['fiscal_period'] or ''}".strip()
    kind = "" if row["kind"] == "reported" else f", {row['kind']}"
    confidence = ", low confidence" if row.get("confidence") == "low" else ""
    tag = f", tag {row['xbrl_tag']}" if row.get("xbrl_tag") else ""
    value = f"{row['value']:,} {row['unit']}{kind}{confidence}"
    parts = [f"{row['ticker']} {row['metric_name']} {period} ({format_span(row)}): {value}, {format_filing(row)}{tag}"]
    if row.get("formula"):
        parts.append(f"= {row['formula']}")
    for key, label, format_item in _EVIDENCE:
        if row.get(key):
            parts.append(f"{label} {', '.join(map(format_item, row[key]))}")
    return "; ".join(parts + list(row.get("notes") or ()))


def _format_input(part: Body) -> str:
    filing = f"{part['accession_number']} of {part['filing_date']}"
    kind = "" if part["kind"] == "reported" else f" {part['kind']}"
    return f"{part['xbrl_tag']} {part['value']:,} {part['unit']}{kind} ({format_span(part)}, {filing})"


_EVIDENCE: tuple[tuple[str, str, Callable[[Body], str]], ...] = (
    ("inputs", "from", _format_input),
    ("revisions", "previously reported:", lambda row: f"{row['value']:,} {row['kind']} by {format_filing(row)}"),
    ("alternatives", "other tags:", lambda row: f"{row['xbrl_tag']} {row['value']:,} in {row['accession_number']}"),
)
