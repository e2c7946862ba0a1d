"""Read companies, rows and figures from the facts file, or from the shipped sample if there is none."""

import json
import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from rapidfuzz import fuzz, process

from fingerpost.filings.companyfacts import Filing
from fingerpost.filings.concepts import Metric, find_concept, find_metric
from fingerpost.filings.figure import (
    ANNUAL_FORMS,
    LATEST_FIGURES,
    PERIODIC_FORMS,
    Company,
    Fact,
    Figure,
    FigureOptions,
    Series,
)
from fingerpost.filings.period_filter import (
    LAST_DAY,
    NEWEST,
    NEWEST_FOUR_QUARTERS,
    NEWEST_YEAR,
    PeriodFilter,
    Selection,
    select_figures,
)
from fingerpost.filings.periods import QUARTERS, FiscalCalendar
from fingerpost.filings.reply import missing_entry, no_result, row_of, source_of
from fingerpost.filings.resolver import count_in_shares, resolve
from fingerpost.filings.revisions import SPLIT_CONCEPT, WITNESS_CONCEPTS, Split, is_in_shares, list_splits
from fingerpost.filings.store import facts_file, is_empty, new_sample, plain_ticker
from fingerpost.runtime.company_names import begins_with, build_name_key, find_tickers

_CACHE_SIZE = 4_096
# Of 100, by rapidfuzz's ratio.
_LIKENESS = 60
_SUGGESTED = 3
# A list of this size is EDGAR's whole list, not a few companies that a user named.
_ALL_LISTED = 1_000
_T = TypeVar("_T")

# A report's own period ends are on this share of its commonest end's figures; an odd later end is of a single event.
_COMMON_SHARE = 0.2
_PERIOD_ENDS = """
    SELECT reports.accession, reported.end_date, count(*) FROM concepts
    JOIN reported ON reported.concept = concepts.id JOIN reports ON reports.id = reported.report
    WHERE concepts.cik = ? AND reports.accession IN (SELECT value FROM json_each(?))
        AND reported.start_date <> '' AND reported.end_date <= reports.filed
    GROUP BY reports.accession, reported.end_date
"""
# One of these has the newest period; a report that was filed late may be on an older one.
_NEWEST_REPORTS = 4


class FactLibrary:
    """Find companies; cache resolved values until the file changes.

    Every method may raise SettingsInvalid (the file is not ours) or StorageUnavailable (it is busy).
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._file = None if path is None else facts_file(path)
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._opened: tuple[int, int] | None = None
        self._seen = -1
        self._cache: dict[tuple[Any, ...], Any] = {}

    def find_company(self, text: str) -> Company | None:
        """Return the company of a ticker, CIK or name, or None; of several CIKs, the newest one.

        Its ``ticker`` is the requested one. A name that several companies share resolves to None.
        """
        return self.cached(("company", text), lambda: self._find_company(text))

    def list_companies(self) -> list[Company]:
        return self.cached(("companies",), lambda: self._companies("ORDER BY ticker, cik"))

    def find_listed(self, text: str) -> tuple[str, int, str] | None:
        """Return (ticker, CIK, name) of a company in a loaded list of tickers, or None."""
        named = self._list_named(text)
        for ticker in (plain_ticker(text), *(named if len(named) == 1 else ())):
            if rows := self.rows("SELECT ticker, cik, name FROM listed WHERE ticker = ?", ticker):
                return rows[0]
        return None

    def list_owners(self, ticker: str) -> list[tuple[int, str]]:
        """Return (CIK, name) of the companies with a ticker, the newest CIK first."""
        return self.rows(
            "SELECT cik, companies.name FROM tickers JOIN companies USING (cik) WHERE tickers.ticker = ?1"
            " UNION SELECT cik, name FROM listed WHERE ticker = ?1 ORDER BY cik DESC",
            plain_ticker(ticker),
        )

    def suggest_tickers(self, text: str) -> list[str]:
        key = build_name_key(text)
        names = self._list_known()
        begun = [ticker for ticker, _, name in names if len(key) > 1 and begins_with(name, key)]
        tickers = [ticker for ticker, _, _ in names]
        near = process.extract(plain_ticker(text), tickers, scorer=fuzz.ratio, limit=_SUGGESTED, score_cutoff=_LIKENESS)
        spelled = [ticker for ticker, _score, _place in near]
        return list(dict.fromkeys([*self._list_named(text), *sorted(begun, key=len), *spelled]))[:_SUGGESTED]

    def list_filings(self, company: Company) -> list[tuple[int, Filing]]:
        """Return (CIK, filing) of every CIK, newest first; a joint filing is listed once, under the company's own."""
        found: dict[str, tuple[int, Filing]] = {}
        for cik in sorted(self.list_ciks(company), key=lambda cik: (cik != company.cik, cik)):
            for filing in self._filings_of(cik):
                found.setdefault(filing.accession, (cik, filing))
        return sorted(found.values(), key=lambda pair: (pair[1].filed, pair[1].accession), reverse=True)

    def list_ciks(self, company: Company) -> list[int]:
        """Return every CIK of the company's tickers; a predecessor has the older years."""
        rows = self.rows(
            "SELECT DISTINCT other.cik FROM tickers AS own JOIN tickers AS other ON other.ticker = own.ticker"
            " WHERE own.cik = ? ORDER BY other.cik",
            company.cik,
        )
        return [cik for (cik,) in rows] or [company.cik]

    def find_filing_list(self, cik: int) -> tuple[bool, str] | None:
        """Return whether the loaded list of filings is complete, and its oldest day; None without a list."""
        rows = self.rows("SELECT is_complete, oldest FROM filing_lists WHERE cik = ?", cik)
        return (bool(rows[0][0]), rows[0][1]) if rows else None

    def find_file(self) -> Path | None:
        (_, _, name), *_ = self.rows("PRAGMA database_list")
        return Path(name) if name else None

    def close(self) -> None:
        with self._lock:
            self._close()

    def _list_known(self) -> list[tuple[str, int, str]]:
        """Return (ticker, CIK, name) of every company with figures, then of every listed one."""
        return self.rows(
            "SELECT ticker, cik, name FROM companies UNION ALL"
            " SELECT * FROM (SELECT ticker, cik, name FROM listed ORDER BY length(ticker), ticker)"
        )

    def _list_named(self, text: str) -> list[str]:
        """Return the tickers that a company name may mean; one if it is clear."""
        listed = self.rows("SELECT count(*) FROM listed")[0][0]
        return find_tickers(text, self._list_known(), is_complete=listed >= _ALL_LISTED)

    def _find_company(self, text: str) -> Company | None:
        company = self._find_by_ticker(text)
        if company is None and len(named := self._list_named(text)) == 1:
            company = self._find_by_ticker(named[0])
        return company

    def _find_by_ticker(self, text: str) -> Company | None:
        wanted = plain_ticker(text)
        digits = wanted.removeprefix("CIK").lstrip("0")
        found = self._companies(
            "WHERE cik IN (SELECT cik FROM tickers WHERE ticker = :ticker) OR ticker = :ticker"
            " ORDER BY complete_through DESC, cik DESC",
            ticker=wanted,
        )
        if not found and digits.isdigit() and len(digits) <= 10:
            found = self._companies("WHERE cik = :cik", cik=int(digits))
        if not found:
            return None
        return replace(found[0], ticker=wanted) if wanted in found[0].tickers else found[0]

    def _companies(self, which: str, **values: Any) -> list[Company]:
        with self._lock, self._translating_sqlite_errors():
            cursor = self._refresh().cursor()
            cursor.row_factory = sqlite3.Row
            rows = cursor.execute(f"SELECT * FROM companies {which}", values).fetchall()  # noqa: S608
        companies = []
        for row in rows:
            tickers = self.rows("SELECT ticker FROM tickers WHERE cik = ? ORDER BY ticker", row["cik"])
            named = tuple(ticker for (ticker,) in tickers) or (row["ticker"],)
            companies.append(Company(tickers=named, **row))
        return companies

    def _filings_of(self, cik: int) -> list[Filing]:
        rows = self.rows(
            "SELECT accession_number, filing_type, filing_date, report_date, document, description FROM filings"
            " WHERE cik = ?",
            cik,
        ) or self.rows("SELECT accession, form, filed, '', '', '' FROM reports WHERE cik = ?", cik)
        return [Filing(*row) for row in rows]

    def cached(self, key: tuple[Any, ...], make: Callable[[], _T]) -> _T:
        """Return a cached value; ``make`` is called once, until the file changes."""
        with self._lock:
            with self._translating_sqlite_errors():
                self._refresh()
            if key not in self._cache:
                value = make()
                if len(self._cache) >= _CACHE_SIZE:
                    self._cache.clear()
                self._cache[key] = value
            found: _T = self._cache[key]
            return found

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock, self._translating_sqlite_errors():
            connection = self._refresh()
            return connection.execute(query, values).fetchall()

    def _translating_sqlite_errors(self) -> AbstractContextManager[None]:
        # The sample is in memory, so it has no file to report.
        return nullcontext() if self._file is None else self._file.translating_sqlite_errors()

    def _refresh(self) -> sqlite3.Connection:
        """Reopen a file that was created, replaced or removed; clear the cache after a write."""
        identity = self._identity()
        connection = self._connection
        if connection is None or identity != self._opened:
            self._close()
            connection = self._connection = self._open(identity)
            self._opened = identity
            self._seen = -1
        if identity is not None:
            seen = connection.execute("PRAGMA data_version").fetchone()[0]
            if seen != self._seen:
                self._cache.clear()
                self._seen = seen
        return connection

    def _identity(self) -> tuple[int, int] | None:
        if self.path is None:
            return None
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def _open(self, identity: tuple[int, int] | None) -> sqlite3.Connection:
        if self._file is None or identity is None:
            return new_sample()
        connection = self._file.connect("ro")
        if not is_empty(self._file, connection):
            return connection
        connection.close()
        return new_sample()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        self._cache.clear()


@dataclass(frozen=True, slots=True)
class CompanyFigures:
    library: FactLibrary
    company: Company
    options: FigureOptions = LATEST_FIGURES

    def with_options(self, **changes: Any) -> "CompanyFigures":
        return replace(self, options=replace(self.options, **changes))

    @property
    def provenance(self) -> dict[str, Any]:
        return source_of(self.company, as_of=self.options.as_of)

    def row_of(self, metric_name: str, figure: Figure) -> dict[str, Any]:
        return row_of(self.company, metric_name, figure, self.options)

    @property
    def concepts(self) -> dict[str, str]:
        return self.library.cached(
            ("concepts", self.company.cik),
            lambda: dict(self._rows("SELECT name, label FROM concepts WHERE cik = ? ORDER BY name")),
        )

    def list_concepts_known(self, as_of: str) -> set[str]:
        query = (
            "SELECT DISTINCT concepts.name FROM concepts JOIN reported ON reported.concept = concepts.id"
            " JOIN reports ON reports.id = reported.report WHERE concepts.cik = ? AND reports.filed <= ?"
        )
        return {name for (name,) in self._rows(query, as_of)}

    def find_metric(self, text: str) -> Metric | None:
        found = find_metric(text) if ":" not in text else None
        return found or find_concept(text, self.concepts)

    @property
    def calendar(self) -> FiscalCalendar:
        query = "SELECT end_date, fiscal_year FROM fiscal_years WHERE cik = ?"
        key = ("calendar", self.company.cik)
        return self.library.cached(key, lambda: FiscalCalendar(dict(self._rows(query)).items()))

    @property
    def splits(self) -> list[Split]:
        return self.library.cached(
            ("splits", self.company.cik),
            lambda: list_splits(self._facts((SPLIT_CONCEPT,)), self._facts(WITNESS_CONCEPTS)),
        )

    def series(self, metric: Metric) -> Series:
        def read() -> Series:
            facts = self._facts(metric.concepts)
            # Only figures in shares need splits, which take longer to find than the figures.
            in_shares = any(is_in_shares(fact.unit) for fact in facts)
            return resolve(
                metric,
                facts,
                calendar=self.calendar,
                splits=self.splits if in_shares else (),
                sic=self.company.sic,
                currency=self.company.currency,
                options=self.options,
            )

        return self.library.cached(("series", self.company.cik, metric.concepts, metric.name, self.options), read)

    def restate(self, figure: Figure, fact: Fact) -> Figure:
        splits = self.splits if is_in_shares(figure.unit) else ()
        return count_in_shares((figure.as_filed or figure).restated_by(fact), splits, self.options)

    def locate(self, period: PeriodFilter) -> PeriodFilter:
        """Return a period, or for ``latest`` and ``latest-annual`` the fiscal period of the newest such report."""
        if not period.newest:
            return period
        found = self.find_newest(period.newest)
        if found is None:
            as_of = self.options.as_of
            kind = "annual report" if period.newest == NEWEST_YEAR else "annual or quarterly report"
            message = f"no {kind} of {self.company.name} is here" + (f" filed by {as_of}" if as_of else "")
            is_hidden = as_of and self.with_options(as_of=None).find_newest(period.newest)
            entry = missing_entry("hidden_by_as_of" if is_hidden else "not_reported", message, "Name the period")
            raise no_result(
                f"No financial facts found for {self.company.ticker}", {period.newest: entry}, self.provenance
            )
        return replace(found, is_trailing=period.newest == NEWEST_FOUR_QUARTERS)

    def find_newest(self, kind: str = NEWEST) -> PeriodFilter | None:
        key = ("newest", self.company.cik, kind, self.options.as_of)
        return self.library.cached(
            key, lambda: self._find_newest(ANNUAL_FORMS if kind == NEWEST_YEAR else PERIODIC_FORMS)
        )

    def _find_newest(self, forms: Collection[str]) -> PeriodFilter | None:
        reports = sorted(
            (filed, form, accession)
            for filed, form, accession in self._rows("SELECT filed, form, accession FROM reports WHERE cik = ?")
            if form in forms and not form.endswith("/A") and filed <= (self.options.as_of or LAST_DAY)
        )[-_NEWEST_REPORTS:]
        ends: dict[str, Counter[str]] = defaultdict(Counter)
        for accession, end, count in self._rows(_PERIOD_ENDS, json.dumps([accession for *_, accession in reports])):
            ends[accession][end] += count
        periods = [self._period_of(filed, form, ends[accession]) for filed, form, accession in reports]
        return max(periods, key=lambda period: (period.year or 0, period.quarter or QUARTERS), default=None)

    def _period_of(self, filed: str, form: str, ends: Counter[str]) -> PeriodFilter:
        common = [end for end, count in ends.items() if count >= max(ends.values()) * _COMMON_SHARE]
        if common:
            year, quarter = self.calendar.place(max(common))
        else:
            year, quarter = self.calendar.place_of_report(filed, is_annual=form in ANNUAL_FORMS)
        return PeriodFilter(year=year, quarter=None if quarter == QUARTERS or form in ANNUAL_FORMS else quarter)

    def select(self, metric: Metric, period: PeriodFilter) -> Selection:
        key = ("found", self.company.cik, metric.concepts, metric.name, period, self.options)
        return self.library.cached(key, lambda: select_figures(self.series(metric), period, self.calendar))

    def _facts(self, concepts: Sequence[str]) -> list[Fact]:
        marks = ", ".join("?" * len(concepts))
        query = (
            "SELECT concepts.name, reported.unit, reported.start_date, reported.end_date, reported.value,"  # noqa: S608
            " reports.accession, reports.form, reports.filed FROM concepts"
            " JOIN reported ON reported.concept = concepts.id JOIN reports ON reports.id = reported.report"
            f" WHERE concepts.cik = ? AND concepts.name IN ({marks})"
        )
        return [Fact(*row) for row in self._rows(query, *concepts)]

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query for each CIK of the company; the CIK is its first value."""
        return [row for cik in self.library.list_ciks(self.company) for row in self.library.rows(query, cik, *values)]
