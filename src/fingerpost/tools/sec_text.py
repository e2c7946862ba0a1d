"""Texts of answers about filings: the headline, then what is missing, what else must be said, and whose data it is."""

from collections.abc import Callable, Mapping
from typing import Any

Body = Mapping[str, Any]

_SHOWN = 6


def tell_rows(one: Callable[[Body], str], *, between: str = "; ") -> Callable[[Body], str]:
    """Return a text of an answer's first rows, each told by ``one`` without a full stop."""

    def tell(body: Body) -> str:
        rows = body["results"]
        parts = [between.join(map(one, rows[:_SHOWN])) + "." if rows else "No rows."]
        if len(rows) > _SHOWN:
            parts.append(f"And {len(rows) - _SHOWN} more rows.")
        return _with_sources(body, parts)

    return tell


def tell_metrics(body: Body) -> str:
    """Return how many tags there are, and the words for them."""
    rows = body["results"]
    words = dict.fromkeys(row["standard_metric_name"] for row in rows if row["standard_metric_name"])
    return _with_sources(body, [f"{len(rows)} tags; metric words: {', '.join(words)}."])


def tell_verdict(body: Body) -> str:
    """Return the verdict and its reason."""
    return _with_sources(body, [f"{body['data']['verdict']}: {body['explanation']}."])


def tell_row_count(body: Body) -> str:
    """Return how many rows a query gave."""
    return _with_sources(body, [f"{len(body['results'])} rows{' (there are more)' if body['truncated'] else ''}."])


def _with_sources(body: Body, parts: list[str]) -> str:
    missing = list(body.get("missing", {}).items())[:_SHOWN]
    parts = parts + [f"Missing {name}: {entry['message']}. {entry['next_step']}." for name, entry in missing]
    parts += [f"{note}." for note in body.get("notes", ())]
    source = body.get("source")
    if source is not None:
        note = f" {source['note']}." if "note" in source else ""
        parts.append(f"Source: SEC filings, {source['dataset']}, complete through {source['complete_through']}.{note}")
    return " ".join(parts)


def _sentence(row: Mapping[str, Any]) -> str:
    name = row.get("metric_name") or row["ratio_name"]
    period = f"fiscal {row['fiscal_year']} {row['fiscal_period'] or ''}".strip()
    how = "" if row["kind"] in ("reported", "original") else f", {row['kind']}"
    return (
        f"{row['ticker']} {name} {period} (to {row['end_date']}): {row['value']} {row['unit']}{how},"
        f" {row['filing_type']} {row['accession_number']} of {row['filing_date']}"
    )


def _calculation(row: Mapping[str, Any]) -> str:
    period = f"fiscal {row['fiscal_year']} {row['fiscal_period']}"
    filings = dict.fromkeys(f"{each['filing_type']} {each['accession_number']}" for each in row["inputs"])
    notes = "".join(f" ({note})" for note in row.get("notes", ()))
    formula = "" if row["formula"] == row["expression"] else f" = {row['formula']}"
    return (
        f"{row['ticker']} {row['expression']} {period}: {row['value']} {row['unit']}{formula} = {row['filled_in']},"
        f" from {', '.join(filings) or 'no filing'}{notes}"
    )


tell_calculations = tell_rows(_calculation, between=". ")
tell_figures = tell_rows(_sentence, between=". ")
tell_companies = tell_rows(lambda row: f"{row['ticker']}: {row['name']} (CIK {row['cik']})")
