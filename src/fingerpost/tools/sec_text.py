"""Texts of answers about figures: the headline rows, then what is missing and whose data it is."""

from collections.abc import Callable, Mapping
from typing import Any

Body = Mapping[str, Any]

_SHOWN = 6


def tell_figures(body: Body) -> str:
    """Return the first rows, each with its filing."""
    return _told(body, [f"{_sentence(row)}." for row in body["results"][:_SHOWN]] + _more(body))


def tell_companies(body: Body) -> str:
    """Return the first companies."""
    shown = [f"{row['ticker']}: {row['name']} (CIK {row['cik']})" for row in body["results"][:_SHOWN]]
    return _told(body, [f"{'; '.join(shown)}.", *_more(body)])


def tell_metrics(body: Body) -> str:
    """Return how many tags there are, and the words for them."""
    rows = body["results"]
    words = dict.fromkeys(row["standard_metric_name"] for row in rows if row["standard_metric_name"])
    return _told(body, [f"{len(rows)} tags; metric words: {', '.join(words)}."])


def tell_verdict(body: Body) -> str:
    """Return the verdict and its reason."""
    return _told(body, [f"{body['data']['verdict']}: {body['explanation']}."])


def tell_row_count(body: Body) -> str:
    """Return how many rows a query gave."""
    return _told(body, [f"{len(body['results'])} rows{' (there are more)' if body['truncated'] else ''}."])


def tell_rows(one: Callable[[Body], str]) -> Callable[[Body], str]:
    """Return a text of the first rows, each told by ``one``, and of what is incomplete."""

    def tell(body: Body) -> str:
        rows = body["results"]
        more = f" And {len(rows) - _SHOWN} more." if len(rows) > _SHOWN else ""
        notes = "".join(f" {note}." for note in body.get("notes", ()))
        return "; ".join(one(row) for row in rows[:_SHOWN]) + "." + more + notes

    return tell


def _told(body: Body, parts: list[str]) -> str:
    missing = list(body.get("missing", {}).items())[:_SHOWN]
    parts = parts + [f"Missing {name}: {entry['message']}. {entry['next_step']}." for name, entry in missing]
    parts += [f"{note}." for note in body.get("notes", ())]
    source = body.get("source")
    if source is not None:
        note = f" {source['note']}." if "note" in source else ""
        parts.append(f"Source: SEC filings, {source['dataset']}, complete through {source['complete_through']}.{note}")
    return " ".join(parts)


def _more(body: Body) -> list[str]:
    left_out = len(body["results"]) - _SHOWN
    return [f"And {left_out} more rows."] if left_out > 0 else []


def _sentence(row: Mapping[str, Any]) -> str:
    name = row.get("metric_name") or row["ratio_name"]
    period = f"fiscal {row['fiscal_year']} {row['fiscal_period'] or ''}".strip()
    how = "" if row["kind"] in ("reported", "original") else f", {row['kind']}"
    return (
        f"{row['ticker']} {name} {period} (to {row['end_date']}): {row['value']} {row['unit']}{how},"
        f" {row['filing_type']} {row['accession_number']} of {row['filing_date']}"
    )
