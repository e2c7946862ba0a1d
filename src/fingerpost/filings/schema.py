"""The tables of the facts file, and how it is opened."""

import sqlite3
from pathlib import Path

from fingerpost.store.sqlite import SqliteFile

APPLICATION_ID = 0x46504643
_VERSION = 1

MAIN_TICKERS = "CREATE TABLE IF NOT EXISTS main_tickers (cik INTEGER PRIMARY KEY, ticker TEXT NOT NULL)"
TABLES = """
CREATE TABLE companies (
    cik INTEGER PRIMARY KEY, ticker TEXT NOT NULL, name TEXT NOT NULL, sic TEXT, industry TEXT, exchange TEXT,
    currency TEXT NOT NULL, dataset TEXT NOT NULL, retrieved_at TEXT, complete_through TEXT NOT NULL,
    first_end TEXT NOT NULL
);
CREATE TABLE tickers (ticker TEXT NOT NULL, cik INTEGER NOT NULL, PRIMARY KEY (ticker, cik)) WITHOUT ROWID;
CREATE TABLE listed (
    ticker TEXT NOT NULL, cik INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (ticker, cik)
) WITHOUT ROWID;
CREATE TABLE concepts (
    id INTEGER PRIMARY KEY, cik INTEGER NOT NULL, name TEXT NOT NULL, label TEXT NOT NULL, UNIQUE (cik, name)
);
CREATE TABLE reports (
    id INTEGER PRIMARY KEY, cik INTEGER NOT NULL, accession TEXT NOT NULL, form TEXT NOT NULL, filed TEXT NOT NULL,
    UNIQUE (cik, accession, form, filed)
);
CREATE TABLE reported (
    concept INTEGER NOT NULL, unit TEXT NOT NULL, start_date TEXT NOT NULL, end_date TEXT NOT NULL, value NOT NULL,
    report INTEGER NOT NULL
);
CREATE INDEX reported_by_concept ON reported (concept);
CREATE TABLE fiscal_years (
    cik INTEGER NOT NULL, end_date TEXT NOT NULL, fiscal_year INTEGER NOT NULL, PRIMARY KEY (cik, end_date)
) WITHOUT ROWID;
CREATE TABLE filings (
    cik INTEGER NOT NULL, accession_number TEXT NOT NULL, filing_type TEXT NOT NULL, filing_date TEXT NOT NULL,
    report_date TEXT NOT NULL, document TEXT NOT NULL, description TEXT NOT NULL, PRIMARY KEY (cik, accession_number)
) WITHOUT ROWID;
CREATE TABLE filing_lists (cik INTEGER PRIMARY KEY, is_complete INTEGER NOT NULL, oldest TEXT NOT NULL);
CREATE TABLE sections (
    id INTEGER PRIMARY KEY, cik INTEGER NOT NULL, accession_number TEXT NOT NULL, filing_type TEXT NOT NULL,
    filing_date TEXT NOT NULL, position INTEGER NOT NULL, section_type TEXT NOT NULL, title TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX sections_by_filing ON sections (accession_number);
CREATE VIRTUAL TABLE section_words USING fts5 (
    title, text, content = 'sections', content_rowid = 'id', tokenize = 'porter unicode61'
);
CREATE VIEW facts AS
    SELECT companies.ticker AS ticker, companies.cik AS cik, concepts.name AS concept, concepts.label AS label,
        reported.unit AS unit, nullif(reported.start_date, '') AS start_date, reported.end_date AS end_date,
        reported.value AS value, reports.accession AS accession_number, reports.form AS filing_type,
        reports.filed AS filing_date
    FROM reported
    JOIN concepts ON concepts.id = reported.concept
    JOIN reports ON reports.id = reported.report
    JOIN companies ON companies.cik = concepts.cik;
"""


def create(connection: sqlite3.Connection) -> None:
    connection.executescript(f"{TABLES} PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {_VERSION};")


def facts_file(path: Path) -> SqliteFile:
    """Return how the facts file at a path is opened; its connections may move between threads, one at a time."""
    return SqliteFile(
        path=path,
        holds="filings",
        application_id=APPLICATION_ID,
        any_thread=True,
        remedy="move it away and load again",
        # The original tool's own sentence.
        unavailable="Database connection failed: {error}",
    )


def is_empty(file: SqliteFile, connection: sqlite3.Connection) -> bool:
    """Whether nothing was laid out yet.

    Raises:
        SettingsInvalid: the file is another program's, or of another version of ours.
    """
    if file.is_empty(connection):
        return True
    if connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
        raise file.unusable(f"is of another version; {file.remedy}")
    return False
