"""Print figures with their filings, and lists of filings."""

from collections.abc import Mapping
from typing import Any

from fingerpost.apps.cli.filings_words import is_fiscal_known, say_unseen
from fingerpost.apps.cli.fitting_table import new_table
from fingerpost.apps.cli.output import new_console, plain
from fingerpost.apps.cli.terminal_words import in_terminal_words
from fingerpost.apps.cli.typed_commands import typed


def print_figures(body: Mapping[str, Any]) -> None:
    """Print an answer of financial_facts or time_series."""
    console = new_console()
    table = new_table("figure", "period", "value", "filing", "filed")
    for column in table.columns[1:]:
        # A number or an accession number that is cut is none.
        column.no_wrap = True
    for row in body["results"]:
        period = f"{row['fiscal_year']} {row['fiscal_period'] or ''}".strip()
        how = "" if row["kind"] == "reported" else f" ({row['kind']})"
        value = f"{row['value']:,} {row['unit']}"
        filing = f"{row['filing_type']} {row['accession_number']}"
        table.add_row(*map(plain, (row["metric_name"] + how, period, value, filing)), row["filing_date"])
    if body["results"]:
        console.print(table)
    _print_below(body)


def print_filings(body: Mapping[str, Any], company: str, period: str | None) -> None:
    """Print an answer of company_filings, or what it has of a period."""
    rows = body["results"]
    table = new_table("form", "filed", "period", "filing")
    for row in rows:
        told = f"{row['fiscal_year'] or ''} {row['fiscal_period'] or ''}".strip()
        table.add_row(row["filing_type"], row["filing_date"], told, row["accession_number"])
    console = new_console()
    console.print(table)
    if period is not None and not is_fiscal_known(rows):
        told = f"Filed in the calendar year {period[:4]}: their fiscal periods are not known here"
        console.print(plain(f"{told}; `{typed('filings', 'sync', company)}` fetches them."), soft_wrap=True)
    elif period is None and len(rows) < body["total_results"]:
        reports = typed("filings", company, rows[-1]["filing_date"][:4])
        told = f"The newest {len(rows)} of {body['total_results']} are shown; the reports of one year: {reports}"
        console.print(plain(told), soft_wrap=True)
    unseen = None if period is None else say_unseen(body, period)
    if unseen is not None:
        console.print(plain(f"{unseen}."), soft_wrap=True)
    _print_below(body)


def _print_below(body: Mapping[str, Any]) -> None:
    console = new_console()
    for name, entry in (body.get("missing") or {}).items():
        meant = f" Did you mean {', '.join(entry['did_you_mean'])}?" if entry.get("did_you_mean") else ""
        console.print(
            plain(in_terminal_words(f"{name}: {entry['message']}. {entry['next_step']}.{meant}")), soft_wrap=True
        )
    for note in body.get("notes") or ():
        console.print(plain(f"{note}."), soft_wrap=True)
    source = body.get("source")
    if source:
        note = f" {source['note']}." if source.get("note") else ""
        text = f"SEC filings, {source['dataset']}, complete through {source['complete_through']}.{note}"
        console.print(plain(text), soft_wrap=True)
