"""Read companies and figures from the facts file, or from the bundled sample if no file exists."""

import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic_core import from_json, to_json

from fingerpost import clock
from fingerpost.errors import ParameterError
from fingerpost.filings.concepts import RECIPE, TAXONOMIES, Metric, find_metric, index_concepts
from fingerpost.filings.figure import (
    ANNUAL_FORMS,
    LATEST_FIGURES,
    PERIODIC_FORMS,
    Company,
    Fact,
    Figure,
    FigureOptions,
    Filing,
    MetricFigures,
)
from fingerpost.filings.formula import OPERATORS, list_lookups, read_formula
from fingerpost.filings.period_filter import LAST_DAY, NEWEST, NEWEST_TTM, NEWEST_YEAR, PeriodFilter, select_figures
from fingerpost.filings.periods import QUARTERS, FiscalCalendar, find_newest_common
from fingerpost.filings.reply import build_missing, build_not_found, build_row, build_source
from fingerpost.filings.resolver import resolve
from fingerpost.filings.revisions import SPLIT_CONCEPT, SPLIT_EVIDENCE_CONCEPTS, Split, is_in_shares, list_splits
from fingerpost.filings.store import build_facts_file, create_sample, has_tables, normalize_ticker
from fingerpost.runtime.company_names import begins_with, build_name_key, find_tickers

_CACHE_SIZE = 2_048
# The minimum rapidfuzz ratio, out of 100.
_CUTOFF = 60
_MAX_SUGGESTIONS = 3
_COMPANIES = """
    SELECT cik, ticker, (SELECT json_group_array(ticker) FROM tickers WHERE tickers.cik = companies.cik), name, sic,
        industry, exchange, currency, dataset, retrieved_at, complete_through, first_end,
        EXISTS (SELECT 1 FROM reports WHERE reports.cik = companies.cik AND form LIKE '10-Q%')
    FROM companies
"""
_T = TypeVar("_T")

_PERIOD_ENDS = """
    SELECT reports.accession, reported.end_date, count(*) FROM concepts
    JOIN reported ON reported.concept = concepts.id JOIN reports ON reports.id = reported.report
    WHERE concepts.cik = ? AND reports.accession IN (SELECT value FROM json_each(?))
        AND reported.start_date <> '' AND reported.end_date <= reports.filed
    GROUP BY reports.accession, reported.end_date
"""
# Whether at least three quarters of the figures filed up to a day were reported again later, with differences of at
# most 1 %. Most filers repeat over 80 %; Vertiv, which merged with a shell company, repeated half.
_REPEATED = """
    SELECT coalesce(4 * sum(high - low <= 0.01 * size) >= 3 * count(*), 0) FROM (
        SELECT min(value) AS low, max(value) AS high, max(abs(value)) AS size FROM concepts
        JOIN reported ON reported.concept = concepts.id JOIN reports ON reports.id = reported.report
        WHERE concepts.cik = ?1 AND filed <= ?2 AND unit NOT LIKE '%shares'
        GROUP BY reported.concept, unit, start_date, end_date HAVING min(filed) <= day AND max(filed) > day
    )
"""
# Check several reports, because the last report may have been filed late, for an older period.
_NEWEST_REPORTS = 4


def _parse_cik(text: str) -> int | None:
    digits = normalize_ticker(text).removeprefix("CIK").lstrip("0")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 10 else None


class FactLibrary:
    """Reads companies from the facts file, and caches resolved values until the file changes.

    Every method may raise SettingsInvalid (another program wrote the file) or StorageUnavailable (the file is busy).
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        # The sample has no file; this path appears only in errors.
        self._file = build_facts_file(path or Path("sample"))
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._opened_identity: tuple[int, int] | None = None
        self._data_version = -1
        self._cache: dict[tuple[Any, ...], Any] = {}

    def find_company(self, text: str) -> Company | None:
        """Find a company by ticker, CIK or name; prefer the CIK with the newest filing.

        If the text is a ticker, it becomes the company's ``ticker``. The result is None if no company matches, or if a
        name is ambiguous.
        """
        matches = filter(None, map(self._find_by_ticker, self._list_candidates(text)))
        return self.get_cached(("company", text), lambda: next(matches, None))

    def list_companies(self) -> list[Company]:
        return self.get_cached(("companies",), lambda: self._query_companies("ORDER BY ticker, cik"))

    def find_listed_company(self, text: str) -> tuple[str, int, str] | None:
        """Find a company in the loaded list of tickers; return (ticker, CIK, name), or None if it is not listed."""
        query = "SELECT ticker, cik, name FROM listed WHERE ticker = ?"
        return next((row for ticker in self._list_candidates(text) for row in self.rows(query, ticker)), None)

    def list_ticker_owners(self, ticker: str) -> list[tuple[int, str]]:
        """Return (CIK, name) of each company with the given ticker, highest CIK first."""
        return self.rows(
            "SELECT cik, companies.name FROM tickers JOIN companies USING (cik) WHERE tickers.ticker = ?1"
            " UNION SELECT cik, name FROM listed WHERE ticker = ?1 ORDER BY cik DESC",
            normalize_ticker(ticker),
        )

    def suggest_tickers(self, text: str) -> list[str]:
        from rapidfuzz import fuzz, process

        key = build_name_key(text)
        names = self._list_all_companies()
        by_prefix = [ticker for ticker, _, name in names if len(key) > 1 and begins_with(name, key)]
        tickers = [ticker for ticker, _, _ in names]
        requested = normalize_ticker(text)
        similar = process.extract(requested, tickers, scorer=fuzz.ratio, limit=_MAX_SUGGESTIONS, score_cutoff=_CUTOFF)
        suggestions = [*find_tickers(text, names), *sorted(by_prefix, key=len), *(ticker for ticker, *_ in similar)]
        return list(dict.fromkeys(suggestions))[:_MAX_SUGGESTIONS]

    def list_filings(self, company: Company) -> list[tuple[int, Filing]]:
        """Return (CIK, filing) for all CIKs of a company, newest first; list each joint filing once."""
        # A joint filing is listed under the company's own CIK if possible, otherwise under the lowest CIK.
        ciks = sorted(self.list_ciks(company), key=lambda cik: (cik == company.cik, -cik))
        matches = {filing.accession: (cik, filing) for cik in ciks for filing in self.list_filings_by_cik(cik)}
        return sorted(matches.values(), key=lambda row: (row[1].filed, row[1].accession), reverse=True)

    def list_ciks(self, company: Company) -> list[int]:
        """Return all CIKs of the company's tickers, including those of predecessors with older figures.

        Companies that had the same ticker at different times, according to EDGAR's lists, are not treated as one
        company.
        """
        query = (
            "SELECT DISTINCT other.cik FROM tickers AS own JOIN tickers AS other ON other.ticker = own.ticker"
            " WHERE own.cik = ?1 AND (other.cik = ?1 OR (SELECT count(*) FROM listed WHERE listed.ticker = own.ticker"
            " AND listed.cik IN (?1, other.cik)) < 2) ORDER BY other.cik"
        )
        ciks = self.get_cached(("ciks", company.cik), lambda: [cik for (cik,) in self.rows(query, company.cik)])
        return ciks or [company.cik]

    def find_ciks(self, text: str) -> list[int]:
        """Find a company's CIKs by ticker, CIK or name, even if only the text of its filings is loaded."""
        if (company := self.find_company(text)) is not None:
            return self.list_ciks(company)
        listed = self.find_listed_company(text)
        owners = [cik for cik, _name in self.list_ticker_owners(text if listed is None else listed[0])]
        query = "SELECT DISTINCT cik FROM sections WHERE cik = ?"
        return owners or [cik for (cik,) in self.rows(query, _parse_cik(text))]

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            self._cache = {}

    def _list_all_companies(self) -> list[tuple[str, int, str]]:
        """Return (ticker, CIK, name) for companies with figures, then for companies in the list of tickers."""
        return self.rows(
            "SELECT ticker, cik, name FROM companies UNION ALL"
            " SELECT * FROM (SELECT ticker, cik, name FROM listed ORDER BY length(ticker), ticker)"
        )

    def _list_candidates(self, text: str) -> Iterator[str]:
        """Yield the text as a ticker, then the ticker of the company with that name, if there is exactly one."""
        yield normalize_ticker(text)
        if len(matches := find_tickers(text, self._list_all_companies())) == 1:
            yield matches[0]

    def _find_by_ticker(self, normalized: str) -> Company | None:
        matches = self._query_companies(
            "WHERE cik IN (SELECT cik FROM tickers WHERE ticker = ?1) OR ticker = ?1"
            " ORDER BY complete_through DESC, cik DESC",
            normalized,
        ) or self._query_companies("WHERE cik = ?", _parse_cik(normalized))
        if not matches:
            return None
        return replace(matches[0], ticker=normalized) if normalized in matches[0].tickers else matches[0]

    def _query_companies(self, clause: str, *values: Any) -> list[Company]:
        return [
            Company(cik, ticker, tuple(sorted(from_json(tickers))) or (ticker,), *columns)
            for cik, ticker, tickers, *columns in self.rows(_COMPANIES + clause, *values)
        ]

    def list_filings_by_cik(self, cik: int) -> list[Filing]:
        rows = self.rows(
            "SELECT accession_number, filing_type, filing_date, report_date, document, description FROM filings"
            " WHERE cik = ?",
            cik,
        ) or self.rows("SELECT accession, form, filed FROM reports WHERE cik = ?", cik)
        return [Filing(*row) for row in rows]

    def get_cached(self, key: tuple[Any, ...], build: Callable[[], _T], *, refresh: bool = True) -> _T:
        """Return a cached value, or call ``build`` and cache its result until the file changes.

        Without ``refresh``, changes to the file since the library's last query are not detected.
        """
        with self._lock:
            if refresh:
                with self._file.translating_sqlite_errors():
                    self._refresh()
            # If the file changes while a value is built, the value belongs to the old cache, which is dropped.
            cache = self._cache
            if key not in cache:
                value = build()
                if len(cache) >= _CACHE_SIZE:
                    cache.clear()
                cache[key] = value
            return cast("_T", cache[key])

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock, self._file.translating_sqlite_errors():
            connection = self._refresh()
            return connection.execute(query, values).fetchall()

    def _refresh(self) -> sqlite3.Connection:
        """Reopen the file if it was created, replaced or removed; clear the cache after a write."""
        try:
            status = None if self.path is None else self.path.stat()
        except FileNotFoundError:
            status = None
        identity = status and (status.st_dev, status.st_ino)
        connection = self._connection
        if connection is None or identity != self._opened_identity:
            self.close()
            self._connection, self._opened_identity = connection, _ = self._open(identity)
        data_version = connection.execute("PRAGMA data_version").fetchone()[0]
        if data_version != self._data_version:
            self._cache = {}
            self._data_version = data_version
        return connection

    def _open(self, identity: tuple[int, int] | None) -> tuple[sqlite3.Connection, tuple[int, int] | None]:
        """Open the file, or the sample (with identity None) if the file does not exist or has no tables."""
        if identity is not None:
            connection = self._file.connect("ro")
            if has_tables(self._file, connection):
                return connection, identity
            connection.close()
        return create_sample(), None


@dataclass(frozen=True, slots=True)
class CompanyFigures:
    library: FactLibrary
    company: Company
    options: FigureOptions = LATEST_FIGURES

    def with_options(self, **changes: Any) -> "CompanyFigures":
        return replace(self, options=replace(self.options, **changes))

    @property
    def provenance(self) -> dict[str, Any]:
        """The source of the figures; notes name the other companies that have had the same ticker."""
        # The key contains the date, because the notes depend on which reports are overdue today.
        key = ("provenance", self.options.as_of, clock.now().date())
        return dict(self.cached(self._build_provenance, *key))

    def _build_provenance(self) -> dict[str, Any]:
        source = build_source(self.company, as_of=self.options.as_of)
        notes = [source.get("note"), *self._list_owner_notes()]
        if any(notes):
            source["note"] = "; ".join(filter(None, notes))
        return source

    def _list_owner_notes(self) -> Iterator[str]:
        joined = dict(self._rows("SELECT cik, name FROM companies WHERE cik = ?"))
        for cik, name in (dict(self.library.list_ticker_owners(self.company.ticker)) | joined).items():
            if cik in joined and cik != self.company.cik:
                yield f"Includes figures that {name} (CIK {cik}) filed under the same ticker"
            elif cik not in joined:
                yield f"Excludes figures of {name} (CIK {cik}), another company that has had the same ticker"

    def build_row(self, figure: Figure) -> dict[str, Any]:
        return build_row(self.company, figure, self.options)

    def cached(self, build: Callable[[], _T], *key: Any) -> _T:
        # No refresh, because each answer begins with a query for its company, which changes with the file.
        return self.library.get_cached((*key, self.company), build, refresh=False)

    def list_concepts(self, as_of: str | None = None) -> dict[str, str]:
        """Return the company's tags with their labels, excluding those first filed after ``as_of``."""
        query = """
            SELECT name, label FROM concepts WHERE cik = ?1 AND (?2 IS NULL OR EXISTS (
                SELECT 1 FROM reported JOIN reports ON reports.id = report WHERE concept = concepts.id AND filed <= ?2
            )) ORDER BY name
        """
        return self.cached(lambda: dict(self._rows(query, as_of)), "concepts", as_of)

    def find_metric(self, text: str) -> Metric | None:
        """Return the metric for a name, for one of this company's tags, or for an expression that combines them."""
        # Names are compared without punctuation, but ``-Revenue`` is an expression.
        is_name = ":" not in text and not text.startswith(("-", "\u2212"))
        standard_metric = find_metric(text) if is_name else None
        return standard_metric or self._find_concept(text) or self._find_expression(text)

    def _find_concept(self, text: str) -> Metric | None:
        """Return a metric for one of the company's tags, written as ``us-gaap:Tag`` or as the bare tag."""
        index = self.cached(lambda: index_concepts(self.list_concepts()), "concept_index")
        prefix, _, tag = text.strip().lower().rpartition(":")
        return index.get((TAXONOMIES.get(prefix, prefix), tag))

    def _find_expression(self, text: str) -> Metric | None:
        if not any(operator in text for operator in OPERATORS):
            return None
        try:
            words = [lookup.name for lookup in list_lookups(read_formula(text))]
        except ParameterError:
            return None
        # In text that contains no metric, a hyphen is part of an unknown name, not a minus sign.
        is_formula = any(find_metric(word) or self._find_concept(word) for word in words)
        return Metric(text, "", RECIPE, expression=text) if is_formula else None

    @property
    def calendar(self) -> FiscalCalendar:
        query = "SELECT end_date, fiscal_year FROM fiscal_years WHERE cik = ?"
        return self.cached(lambda: FiscalCalendar(dict(self._rows(query)).items()), "calendar")

    @property
    def name_changes(self) -> list[str]:
        """Dates of name changes after which filings do not repeat earlier figures (decision 0205); empty if unknown."""
        as_of = self.options.as_of or LAST_DAY
        query = f"SELECT day FROM name_changes WHERE cik = ?1 AND NOT ({_REPEATED})"  # noqa: S608
        return self.cached(lambda: sorted(day for (day,) in self._rows(query, as_of)), "name_changes", as_of)

    @property
    def splits(self) -> list[Split]:
        return self.cached(
            lambda: list_splits(self._facts((SPLIT_CONCEPT,)), self._facts(SPLIT_EVIDENCE_CONCEPTS)), "splits"
        )

    def series(self, metric: Metric) -> MetricFigures:
        def read() -> MetricFigures:
            facts = self._facts(metric.concepts)
            # Skip the slow search for splits unless figures are in shares.
            has_share_figures = any(is_in_shares(fact.unit) for fact in facts)
            return resolve(
                metric,
                facts,
                calendar=self.calendar,
                splits=self.splits if has_share_figures else (),
                sic=self.company.sic,
                currency=self.company.currency,
                options=self.options,
                name_changes=self.name_changes,
            )

        return self.cached(read, "series", metric.concepts, metric.name, self.options)

    def resolve_period(self, period: PeriodFilter) -> PeriodFilter:
        """Replace ``latest``, ``latest-annual`` and ``ttm`` with the fiscal period of the newest report."""
        if not period.newest:
            return period
        newest = self.find_newest(period.newest)
        if newest is None:
            as_of = self.options.as_of
            report_type = "annual report" if period.newest == NEWEST_YEAR else "annual or quarterly report"
            message = f"no {report_type} of {self.company.name}{f' filed by {as_of}' if as_of else ''} is loaded"
            is_hidden = as_of and self.with_options(as_of=None).find_newest(period.newest)
            entry = build_missing("hidden_by_as_of" if is_hidden else "not_reported", message, "Specify the period")
            raise build_not_found(
                f"No financial facts found for {self.company.ticker}", {period.newest: entry}, self.provenance
            )
        return replace(newest, is_trailing=period.newest == NEWEST_TTM)

    def find_newest(self, keyword: str = NEWEST) -> PeriodFilter | None:
        as_of = self.options.as_of

        def find() -> PeriodFilter | None:
            reports = sorted(
                (filed, form, accession)
                for filed, form, accession in self._rows("SELECT filed, form, accession FROM reports WHERE cik = ?")
                if form in (ANNUAL_FORMS if keyword == NEWEST_YEAR else PERIODIC_FORMS)
                and not form.endswith("/A")
                and filed <= (as_of or LAST_DAY)
            )[-_NEWEST_REPORTS:]
            ends: dict[str, Counter[str]] = defaultdict(Counter)
            accessions = to_json([accession for *_, accession in reports]).decode()
            for accession, end, count in self._rows(_PERIOD_ENDS, accessions):
                ends[accession][end] += count
            periods = [self._find_report_period(filed, form, ends[accession]) for filed, form, accession in reports]
            return max(periods, key=lambda period: (period.year or 0, period.quarter or QUARTERS), default=None)

        return self.cached(find, "newest", keyword, as_of)

    def _find_report_period(self, filed: str, form: str, ends: Counter[str]) -> PeriodFilter:
        is_annual = form in ANNUAL_FORMS
        year, quarter = self.calendar.find_report_period(filed, is_annual=is_annual)
        if ends:
            year, quarter = self.calendar.find_period(find_newest_common(ends))
        return PeriodFilter(year=year, quarter=None if is_annual or quarter == QUARTERS else quarter)

    def select(self, metric: Metric, period: PeriodFilter) -> MetricFigures:
        return self.cached(
            lambda: select_figures(self.series(metric), period, self.calendar),
            *("selection", metric.concepts, metric.name, period, self.options),
        )

    def _facts(self, concepts: Sequence[str]) -> list[Fact]:
        placeholders = ", ".join("?" * len(concepts))
        query = (
            "SELECT concepts.name, reported.unit, reported.start_date, reported.end_date, reported.value,"  # noqa: S608
            " reports.accession, reports.form, reports.filed FROM concepts"
            " JOIN reported ON reported.concept = concepts.id JOIN reports ON reports.id = reported.report"
            f" WHERE concepts.cik = ? AND concepts.name IN ({placeholders})"
        )
        return [Fact(*row) for row in self._rows(query, *concepts)]

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a query for each CIK of the company; the CIK is the query's first parameter."""
        return [row for cik in self.library.list_ciks(self.company) for row in self.library.rows(query, cik, *values)]
