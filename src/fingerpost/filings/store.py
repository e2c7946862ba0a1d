"""What was loaded, in one SQLite file: figures, companies, lists of filings, sections of text."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path

from fingerpost.filings import sample, schema
from fingerpost.filings.companyfacts import FactsFile, SubmissionsFile
from fingerpost.filings.figure import EDGAR, SAMPLE
from fingerpost.store.sqlite import connect_memory, use_write_ahead_log


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a filing's text; ``section_type`` is a short name such as ``risk_factors``."""

    cik: int
    accession: str
    form: str
    filed: str
    section_type: str
    title: str
    text: str


def plain_ticker(text: str) -> str:
    """Return a ticker as EDGAR writes it: ``brk.b`` is ``BRK-B``."""
    return text.strip().upper().replace(".", "-").replace("/", "-")


class FactStore:
    """The writing side of the facts file; a new one begins with the sample that ships with the package."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = schema.facts_file(path)

    def put_facts(
        self, file: FactsFile, *, tickers: Iterable[str] = (), retrieved_at: str | None = None, dataset: str = EDGAR
    ) -> None:
        with self._writing() as connection:
            insert_facts(connection, file, tickers=tickers, retrieved_at=retrieved_at, dataset=dataset)

    def put_newer_facts(self, files: Iterable[FactsFile], *, retrieved_at: str | None) -> None:
        """Replace the figures of companies, in one transaction, except where those that are there are newer."""
        with self._writing() as connection:
            for file in files:
                query = "SELECT complete_through FROM companies WHERE cik = ?"
                there = connection.execute(query, (file.cik,)).fetchone()
                if there is None or there[0] <= file.complete_through:
                    insert_facts(connection, file, tickers=[], retrieved_at=retrieved_at, dataset=EDGAR)

    def put_submissions(self, file: SubmissionsFile) -> None:
        with self._writing() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO tickers (ticker, cik) VALUES (?, ?)",
                [(plain_ticker(each), file.cik) for each in file.tickers],
            )
            ticker = plain_ticker(file.tickers[0]) if file.tickers else None
            connection.execute(
                "UPDATE companies SET name = ?, ticker = coalesce(?, ticker), sic = ?, industry = ?, exchange = ?"
                " WHERE cik = ?",
                (file.name, ticker, file.sic, file.industry, file.exchange, file.cik),
            )
            _put_listed(connection, [(each, file.cik, file.name) for each in file.tickers])
            connection.execute("DELETE FROM filings WHERE cik = ?", (file.cik,))
            connection.executemany(
                "INSERT OR REPLACE INTO filings"
                " (cik, accession_number, filing_type, filing_date, report_date, document, description)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(file.cik, *astuple(filing)) for filing in file.filings],
            )
            if ticker is not None:
                connection.execute(
                    "INSERT OR REPLACE INTO main_tickers (cik, ticker) VALUES (?, ?)", (file.cik, ticker)
                )
            oldest = min((row.filed for row in file.filings), default="")
            connection.execute(
                "INSERT OR REPLACE INTO filing_lists (cik, is_complete, oldest) VALUES (?, ?, ?)",
                (file.cik, file.is_complete, oldest),
            )

    def put_tickers(self, rows: Sequence[tuple[str, int, str]]) -> None:
        """Remember which companies there are, so that a ticker without figures is told from one that does not exist.

        Of a company's tickers the first is its main one, as in EDGAR's own list: the later ones are other classes
        of shares, preferred stock and notes.
        """
        with self._writing() as connection:
            _put_listed(connection, rows)
            connection.execute(
                "INSERT OR IGNORE INTO tickers (ticker, cik)"
                " SELECT ticker, cik FROM listed WHERE cik IN (SELECT cik FROM companies)"
            )
            main = {cik: plain_ticker(ticker) for ticker, cik, _ in reversed(rows)}
            connection.executemany(
                "INSERT OR REPLACE INTO main_tickers (cik, ticker) VALUES (?, ?)", list(main.items())
            )
            connection.execute(
                "UPDATE companies SET ticker = (SELECT ticker FROM main_tickers WHERE main_tickers.cik = companies.cik)"
                " WHERE cik IN (SELECT cik FROM main_tickers)"
            )

    def put_sections(self, sections: Sequence[Section]) -> None:
        """Replace the text of the filings that the sections belong to."""
        with self._writing() as connection:
            for accession in {section.accession for section in sections}:
                old = connection.execute(
                    "SELECT id, title, text FROM sections WHERE accession_number = ?", (accession,)
                ).fetchall()
                connection.executemany(
                    "INSERT INTO section_words (section_words, rowid, title, text) VALUES ('delete', ?, ?, ?)", old
                )
                connection.execute("DELETE FROM sections WHERE accession_number = ?", (accession,))
            for position, section in enumerate(sections, 1):
                row = connection.execute(
                    "INSERT INTO sections (cik, accession_number, filing_type, filing_date, section_type, title, text,"
                    " position) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (*astuple(section), position),
                ).lastrowid
                connection.execute(
                    "INSERT INTO section_words (rowid, title, text) VALUES (?, ?, ?)",
                    (row, section.title, section.text),
                )

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._file.opened() as connection:
            use_write_ahead_log(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            if schema.is_empty(self._file, connection):
                schema.create(connection)
            # Files that were laid out before it lack it.
            connection.execute(schema.MAIN_TICKERS)
            connection.execute("BEGIN IMMEDIATE")
            if not connection.execute("SELECT count(*) FROM companies").fetchone()[0]:
                insert_sample(connection)
            yield connection
            connection.execute("COMMIT")


def new_sample() -> sqlite3.Connection:
    """Return a database in memory that holds the shipped sample and nothing else."""
    connection = connect_memory()
    schema.create(connection)
    connection.execute(schema.MAIN_TICKERS)
    connection.execute("BEGIN")
    insert_sample(connection)
    connection.execute("COMMIT")
    return connection


def insert_sample(connection: sqlite3.Connection) -> None:
    """Write the shipped sample into a database; companies that have figures keep theirs."""
    for entry in sample.read_sample():
        if connection.execute("SELECT 1 FROM companies WHERE cik = ?", (entry.file.cik,)).fetchone():
            continue
        insert_facts(connection, entry.file, tickers=entry.tickers, retrieved_at=None, dataset=SAMPLE)
        connection.execute(
            "UPDATE companies SET sic = ?, industry = ?, exchange = ? WHERE cik = ?",
            (entry.sic, entry.industry, entry.exchange, entry.file.cik),
        )


def insert_facts(
    connection: sqlite3.Connection,
    file: FactsFile,
    *,
    tickers: Iterable[str],
    retrieved_at: str | None,
    dataset: str,
) -> None:
    cik = file.cik
    own = [plain_ticker(ticker) for ticker in tickers]
    own += [row[0] for row in connection.execute("SELECT ticker FROM tickers WHERE cik = ? ORDER BY ticker", (cik,))]
    own += [row[0] for row in connection.execute("SELECT ticker FROM listed WHERE cik = ? ORDER BY ticker", (cik,))]
    main = connection.execute("SELECT ticker FROM main_tickers WHERE cik = ?", (cik,)).fetchone()
    before = connection.execute(
        "SELECT ticker, sic, industry, exchange FROM companies WHERE cik = ?", (cik,)
    ).fetchone()
    ticker, sic, industry, exchange = before or (None, None, None, None)
    if ticker is None or ticker.startswith("CIK"):
        ticker = next(iter(own), f"CIK{cik:010d}")
    _forget(connection, cik)
    connection.executemany("INSERT OR IGNORE INTO tickers (ticker, cik) VALUES (?, ?)", [(each, cik) for each in own])
    company = {
        "cik": cik,
        "ticker": main[0] if main else ticker,
        "name": file.name,
        "sic": sic,
        "industry": industry,
        "exchange": exchange,
        "currency": file.currency,
        "dataset": dataset,
        "retrieved_at": retrieved_at,
        "complete_through": file.complete_through,
        "first_end": file.first_end,
    }
    columns = f"({', '.join(company)}) VALUES (:{', :'.join(company)})"
    connection.execute(f"INSERT INTO companies {columns}", company)
    next_concept = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM concepts").fetchone()[0]
    concepts = {name: next_concept + place for place, name in enumerate(file.labels)}
    connection.executemany(
        "INSERT INTO concepts (id, cik, name, label) VALUES (?, ?, ?, ?)",
        [(number, cik, name, file.labels[name]) for name, number in concepts.items()],
    )
    next_report = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM reports").fetchone()[0]
    keys = dict.fromkeys((fact.accession, fact.form, fact.filed) for fact in file.facts)
    reports = {key: next_report + place for place, key in enumerate(keys)}
    connection.executemany(
        "INSERT INTO reports (id, cik, accession, form, filed) VALUES (?, ?, ?, ?, ?)",
        [(number, cik, *key) for key, number in reports.items()],
    )
    connection.executemany(
        "INSERT INTO reported (concept, unit, start_date, end_date, value, report) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (concepts[concept], unit, start, end, value, reports[accession, form, filed])
            for concept, unit, start, end, value, accession, form, filed in file.facts
        ],
    )
    connection.executemany(
        "INSERT INTO fiscal_years (cik, end_date, fiscal_year) VALUES (?, ?, ?)",
        [(cik, end, year) for end, year in file.fiscal_years.items()],
    )


def _put_listed(connection: sqlite3.Connection, rows: Iterable[tuple[str, int, str]]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO listed (ticker, cik, name) VALUES (?, ?, ?)",
        [(plain_ticker(ticker), cik, name) for ticker, cik, name in rows],
    )


def _forget(connection: sqlite3.Connection, cik: int) -> None:
    connection.execute("DELETE FROM reported WHERE concept IN (SELECT id FROM concepts WHERE cik = ?)", (cik,))
    for table in ("concepts", "reports", "fiscal_years", "companies"):
        connection.execute(f"DELETE FROM {table} WHERE cik = ?", (cik,))  # noqa: S608  (names of our own)
