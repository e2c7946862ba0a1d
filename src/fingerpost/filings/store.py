"""Write the facts file: a SQLite database of companies, facts, and filings with their text and segments."""

import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain, count, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json

from fingerpost.filings.companyfacts import FactsFile, SubmissionsFile, TickerList
from fingerpost.filings.figure import EDGAR, SAMPLE, Fact, Filing
from fingerpost.filings.sections import split_paragraphs, split_sections
from fingerpost.filings.xbrl import Instance
from fingerpost.store.sqlite import SqliteFile, connect_memory, use_write_ahead_log

_APPLICATION_ID = 0x46504643
_VERSION = 4
PACKAGED_YEAR = 2026
_ROWS_PER_INSERT = 50
# The zlib ``wbits`` value for gzip files.
_GZIP = 31


def build_facts_file(path: Path) -> SqliteFile:
    return SqliteFile(
        path=path,
        contents="filings",
        application_id=_APPLICATION_ID,
        advice="move it out of the way and load again",
        # The original tool uses this message.
        unavailable="Database connection failed: {error}",
    )


def has_tables(file: SqliteFile, connection: sqlite3.Connection) -> bool:
    """Whether the file has tables; raise SettingsInvalid if another program or version wrote them."""
    if file.is_empty(connection):
        return False
    if connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
        raise file.unusable(f"was written by another version of fingerpost; {file.advice}")
    return True


def _create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables in the current transaction; ``executescript`` would commit that transaction first."""
    versions = f"PRAGMA application_id = {_APPLICATION_ID};\nPRAGMA user_version = {_VERSION}"
    tables = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
    for statement in f"{tables}{versions}".split(";\n"):
        connection.execute(statement)


def normalize_ticker(text: str) -> str:
    """Return a ticker in EDGAR's spelling: ``brk.b`` becomes ``BRK-B``."""
    return text.strip().upper().replace(".", "-").replace("/", "-")


class FactStore:
    """Writes the facts file; a new file starts with the bundled sample."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = build_facts_file(path)

    def put_facts(
        self,
        file: FactsFile,
        *,
        tickers: Iterable[str] = (),
        predecessor_of: str | None = None,
        retrieved_at: str | None = None,
        fetched: tuple[str, str | None, str | None] | None = None,
        replaces_newer: bool = True,
    ) -> None:
        """Replace a company's figures; ``predecessor_of`` is the ticker of the company's successor.

        ``fetched`` holds the URL of the figures and the response's ETag and Last-Modified. Newer stored figures are not
        replaced unless ``replaces_newer`` is true.
        """
        with self._transaction() as connection:
            query = "SELECT 1 FROM companies WHERE cik = ? AND complete_through > ?"
            if not replaces_newer and connection.execute(query, (file.cik, file.complete_through)).fetchone():
                return
            _put_facts(connection, file, [*tickers, *filter(None, [predecessor_of])], retrieved_at, EDGAR)
            # Otherwise, ``FactLibrary.list_ciks`` would treat the predecessor as a separate company.
            listing = (normalize_ticker(predecessor_of or ""), file.cik)
            connection.execute("DELETE FROM listed WHERE ticker = ? AND cik = ?", listing)
            if fetched is not None:
                columns = "fetched (url, etag, last_modified, retrieved_at)"
                _insert_rows(connection, columns, [(*fetched, retrieved_at)], "OR REPLACE")

    def put_submissions(self, file: SubmissionsFile) -> bool:
        """Store a company's list of filings. If the company has figures, update its details and return True."""
        tickers = [normalize_ticker(ticker) for ticker in file.tickers]
        ticker = tickers[0] if tickers else None
        with self._transaction() as connection:
            _insert_rows(connection, "tickers (ticker, cik)", [(ticker, file.cik) for ticker in tickers], "OR IGNORE")
            updated = connection.execute(
                "UPDATE companies SET name = ?, ticker = coalesce(?, ticker), sic = ?, industry = ?, exchange = ?"
                " WHERE cik = ?",
                (file.name, ticker, file.sic, file.industry, file.exchange, file.cik),
            )
            _put_ticker_list(connection, [(ticker, file.cik, file.name) for ticker in tickers])
            connection.execute("DELETE FROM filings WHERE cik = ?", (file.cik,))
            columns = "cik, accession_number, filing_type, filing_date, report_date, document, description"
            filings = [(file.cik, *filing) for filing in file.filings]
            _insert_rows(connection, f"filings ({columns})", filings, "OR REPLACE")
            connection.execute("DELETE FROM name_changes WHERE cik = ?", (file.cik,))
            days = [(file.cik, day) for day in file.name_changes]
            _insert_rows(connection, "name_changes (cik, day)", days, "OR IGNORE")
            if ticker is not None:
                _insert_rows(connection, "main_tickers (cik, ticker)", [(file.cik, ticker)], "OR REPLACE")
            oldest = min((row.filed for row in file.filings), default="")
            rows = [(file.cik, file.is_complete, oldest)]
            _insert_rows(connection, "filing_lists (cik, is_complete, oldest)", rows, "OR REPLACE")
        return updated.rowcount > 0

    def put_tickers(self, rows: Sequence[tuple[str, int, str]]) -> None:
        """Store EDGAR's list of tickers; a company's first ticker is its main ticker."""
        with self._transaction() as connection:
            _put_ticker_list(connection, rows)
            connection.execute(
                "INSERT OR IGNORE INTO tickers (ticker, cik)"
                " SELECT ticker, cik FROM listed WHERE cik IN (SELECT cik FROM companies)"
            )
            main_ticker = {cik: normalize_ticker(ticker) for ticker, cik, _ in reversed(rows)}
            _insert_rows(connection, "main_tickers (cik, ticker)", main_ticker.items(), "OR REPLACE")
            connection.execute(
                "UPDATE companies SET ticker = (SELECT ticker FROM main_tickers WHERE main_tickers.cik = companies.cik)"
                " WHERE cik IN (SELECT cik FROM main_tickers)"
            )

    def put_text(self, cik: int, filing: Filing, text: str) -> int:
        """Replace a filing's text; return the number of its sections."""
        sections = split_sections(text, filing.form)
        with self._transaction() as connection:
            _delete_text(connection, filing.accession)
            first_id = _next_id(connection, "sections")
            columns = "id, position, cik, accession_number, filing_type, filing_date, section_type, title, text"
            numbered = [(first_id + index, index + 1, cik, *filing[:3], *row) for index, row in enumerate(sections)]
            _insert_rows(connection, f"sections ({columns})", numbered)
            paragraphs = [
                (section_id, start + 1, end - start)
                for section_id, section in enumerate(sections, first_id)
                for start, end in split_paragraphs(section.text)
            ]
            _insert_rows(connection, "paragraphs (section, start, length)", paragraphs)
            connection.execute(
                "INSERT INTO paragraph_words (rowid, title, text) SELECT id, title, text FROM paragraph_texts"
                " WHERE section >= ?",
                (first_id,),
            )
        return len(sections)

    def put_failed_fetch(self, ticker: str, failed_at: str, message: str) -> None:
        with self._transaction() as connection:
            row = (ticker, failed_at, message)
            _insert_rows(connection, "failed_fetches (ticker, failed_at, message)", [row], "OR REPLACE")

    def put_instance(self, instance: Instance, labels: Mapping[str, str], filing: Filing) -> int:
        """Store a report's dimensional facts, and the totals of their concepts; return the number of facts."""
        dimensional_concepts = {fact.concept for fact in instance.facts if fact.members}
        facts = [fact for fact in instance.facts if fact.concept in dimensional_concepts]
        names = {name for fact in facts for pair in fact.members for name in pair}
        with self._transaction() as connection:
            query = "SELECT id FROM instances WHERE accession_number = ?"
            for old_id in connection.execute(query, (filing.accession,)).fetchall():
                for table in ("instances WHERE id", "instance_facts WHERE instance", "instance_labels WHERE instance"):
                    connection.execute(f"DELETE FROM {table} = ?", old_id)  # noqa: S608
            number = _next_id(connection, "instances")
            columns = "id, cik, accession_number, filing_type, filing_date, report_date"
            row = (number, instance.cik, *filing[:3], instance.period_end)
            _insert_rows(connection, f"instances ({columns})", [row])
            columns = "instance, concept, unit, start_date, end_date, value, members"
            members = (to_json(dict(fact.members)).decode() if fact.members else "" for fact in facts)
            rows = [(number, *fact[:-1], text) for fact, text in zip(facts, members, strict=True)]
            _insert_rows(connection, f"instance_facts ({columns})", rows)
            label_rows = [(number, name, labels[name]) for name in sorted(names & labels.keys())]
            _insert_rows(connection, "instance_labels (instance, name, label)", label_rows)
        return len(facts)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._file.opened() as connection:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("BEGIN IMMEDIATE")
            if not has_tables(self._file, connection):
                _create_tables(connection)
            if not connection.execute("SELECT count(*) FROM companies").fetchone()[0]:
                _put_sample(connection)
            yield connection
            connection.execute("COMMIT")
            # Enable the log last, because it would contain a second copy of everything in a new file.
            use_write_ahead_log(connection)


@cache
def read_packaged_tickers() -> TickerList:
    """Return EDGAR's ticker list from ``PACKAGED_YEAR``, with each company's main ticker first."""
    path = Path(__file__).parent / "sample" / f"tickers_{PACKAGED_YEAR}.json.gz"
    return [(ticker, cik, name) for ticker, cik, name in from_json(zlib.decompress(path.read_bytes(), _GZIP))]


def _find_packaged_tickers(connection: sqlite3.Connection, cik: int) -> list[str]:
    """Return a company's packaged tickers, except those that now belong to another company."""
    query = "SELECT cik FROM tickers WHERE ticker = ?1 AND cik <> ?2 UNION SELECT cik FROM listed WHERE ticker = ?1"
    own = [ticker for ticker, owner, _ in read_packaged_tickers() if owner == cik]
    return [ticker for ticker in own if not connection.execute(query, (ticker, cik)).fetchone()]


def read_sample() -> list[tuple[FactsFile, dict[str, Any]]]:
    """Return the facts and company details in ``sample/figures.json``."""
    content = (Path(__file__).parent / "sample" / "figures.json").read_bytes()
    return [
        (FactsFile(facts=[Fact(*fact) for fact in company["facts"]], **company["file"]), company["listing"])
        for company in from_json(content)
    ]


def create_sample() -> sqlite3.Connection:
    connection = connect_memory()
    connection.execute("BEGIN")
    _create_tables(connection)
    _put_sample(connection)
    connection.execute("COMMIT")
    return connection


def _put_sample(connection: sqlite3.Connection) -> None:
    for file, listing in read_sample():
        _put_facts(connection, file, listing["tickers"], None, SAMPLE)
        connection.execute(
            "UPDATE companies SET sic = :sic, industry = :industry, exchange = :exchange WHERE cik = :cik",
            {**listing, "cik": file.cik},
        )


def _put_facts(
    connection: sqlite3.Connection, file: FactsFile, tickers: Iterable[str], retrieved_at: str | None, dataset: str
) -> None:
    cik = file.cik
    query = (
        "SELECT 1 AS priority, ticker FROM main_tickers WHERE cik = ?1"
        " UNION ALL SELECT 2, ticker FROM companies WHERE cik = ?1 AND ticker NOT LIKE 'CIK%'"
        " UNION ALL SELECT 4, ticker FROM tickers WHERE cik = ?1"
        " UNION ALL SELECT 5, ticker FROM listed WHERE cik = ?1 ORDER BY priority, ticker"
    )
    ranked = [*connection.execute(query, (cik,)), *((3, normalize_ticker(ticker)) for ticker in tickers)]
    all_tickers = [ticker for _, ticker in sorted(ranked, key=itemgetter(0))]
    all_tickers = all_tickers or _find_packaged_tickers(connection, cik)
    connection.execute("DELETE FROM reported WHERE concept IN (SELECT id FROM concepts WHERE cik = ?)", (cik,))
    for table in ("concepts", "reports", "fiscal_years"):
        connection.execute(f"DELETE FROM {table} WHERE cik = ?", (cik,))  # noqa: S608  (fixed table names)
    _insert_rows(connection, "tickers (ticker, cik)", [(symbol, cik) for symbol in all_tickers], "OR IGNORE")
    company = {
        "cik": cik,
        "ticker": next(iter(all_tickers), f"CIK{cik:010d}"),
        "name": file.name,
        "currency": file.currency,
        "dataset": dataset,
        "retrieved_at": retrieved_at,
        "complete_through": file.complete_through,
        "first_end": file.first_end,
    }
    # Preserve the industry and the exchange, which come from the list of filings.
    updates = ", ".join(f"{column} = excluded.{column}" for column in company)
    connection.execute(
        f"INSERT INTO companies ({', '.join(company)}) VALUES (:{', :'.join(company)})"  # noqa: S608
        f" ON CONFLICT (cik) DO UPDATE SET {updates}",
        company,
    )
    concepts = {name: number for number, name in enumerate(file.labels, _next_id(connection, "concepts"))}
    rows = [(number, cik, name, file.labels[name]) for name, number in concepts.items()]
    _insert_rows(connection, "concepts (id, cik, name, label)", rows)
    reports: dict[tuple[str, str, str], int] = defaultdict(count(_next_id(connection, "reports")).__next__)
    facts = (
        (concepts[concept], unit, start, end, value, reports[accession, form, filed])
        for concept, unit, start, end, value, accession, form, filed in file.facts
    )
    _insert_rows(connection, "reported (concept, unit, start_date, end_date, value, report)", facts)
    report_rows = [(number, cik, *key) for key, number in reports.items()]
    _insert_rows(connection, "reports (id, cik, accession, form, filed)", report_rows)
    years = [(cik, end, year) for end, year in file.fiscal_years.items()]
    _insert_rows(connection, "fiscal_years (cik, end_date, fiscal_year)", years)


def _delete_text(connection: sqlite3.Connection, accession: str) -> None:
    condition = "WHERE section IN (SELECT id FROM sections WHERE accession_number = ?)"
    connection.execute(
        "INSERT INTO paragraph_words (paragraph_words, rowid, title, text)"  # noqa: S608
        f" SELECT 'delete', id, title, text FROM paragraph_texts {condition}",
        (accession,),
    )
    connection.execute(f"DELETE FROM paragraphs {condition}", (accession,))  # noqa: S608
    connection.execute("DELETE FROM sections WHERE accession_number = ?", (accession,))


def _put_ticker_list(connection: sqlite3.Connection, rows: Iterable[tuple[str, int, str]]) -> None:
    rows = [(normalize_ticker(ticker), cik, name) for ticker, cik, name in rows]
    _insert_rows(connection, "listed (ticker, cik, name)", rows, "OR REPLACE")


def _insert_rows(
    connection: sqlite3.Connection, columns: str, rows: Iterable[Sequence[Any]], conflict: str = ""
) -> None:
    """Insert rows into ``table (column, ...)``; ``conflict`` is SQLite's conflict clause, such as ``OR REPLACE``."""
    placeholders = f"({', '.join('?' * (columns.count(',') + 1))})"
    iterator = iter(rows)
    # One statement for many rows takes half as long as a statement per row.
    while batch := list(islice(iterator, _ROWS_PER_INSERT)):
        query = f"INSERT {conflict} INTO {columns} VALUES {', '.join([placeholders] * len(batch))}"  # noqa: S608
        connection.execute(query, [*chain.from_iterable(batch)])


def _next_id(connection: sqlite3.Connection, table: str) -> int:
    number: int = connection.execute(f"SELECT coalesce(max(id), 0) + 1 FROM {table}").fetchone()[0]  # noqa: S608
    return number
