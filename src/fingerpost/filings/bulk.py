"""The whole of EDGAR's figures as Parquet files: where they lie, and one company out of them by DuckDB."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fingerpost.errors import SettingsInvalid, StorageUnavailable
from fingerpost.filings.companyfacts import FactsFile
from fingerpost.filings.fact import Fact

if TYPE_CHECKING:
    import duckdb

CURRENT = "current.json"
_MEMORY = "256MB"
_TRIES = 3

# The columns of each kind of file. A figure is a whole number or a fraction; the other column is empty.
COLUMNS = {
    "companies": {
        "cik": "BIGINT",
        "name": "VARCHAR",
        "currency": "VARCHAR",
        "complete_through": "VARCHAR",
        "first_end": "VARCHAR",
    },
    "labels": {"cik": "BIGINT", "concept": "VARCHAR", "label": "VARCHAR"},
    "years": {"cik": "BIGINT", "end_date": "VARCHAR", "fiscal_year": "BIGINT"},
    "facts": {
        "cik": "BIGINT",
        "concept": "VARCHAR",
        "unit": "VARCHAR",
        "start_date": "VARCHAR",
        "end_date": "VARCHAR",
        "whole": "BIGINT",
        "fraction": "DOUBLE",
        "accession": "VARCHAR",
        "form": "VARCHAR",
        "filed": "VARCHAR",
    },
}


def folder_beside(facts_file: Path) -> Path:
    """Return where the archive's figures lie, given the facts file."""
    return facts_file.with_name("filings_bulk")


def connect(scratch: Path) -> "duckdb.DuckDBPyConnection":
    """Return a DuckDB of our own, in bounded memory, which fetches nothing.

    Raises:
        SettingsInvalid: the extra is not installed.
    """
    try:
        # An extra; and it takes longer to load than a question takes to answer.
        import duckdb
    except ImportError as error:
        raise SettingsInvalid(
            "The figures of the whole archive need DuckDB", hint="Install it: pip install 'fingerpost[bulk]'"
        ) from error
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": _MEMORY,
        "threads": "2",
        "temp_directory": str(scratch),
        "autoinstall_known_extensions": "false",
    }
    return duckdb.connect(":memory:", config=settings)


@dataclass(frozen=True, slots=True)
class BulkCompany:
    """One company out of the archive, and when the archive was taken in."""

    file: FactsFile
    retrieved_at: str


class BulkFigures:
    """The reading side. A new archive is seen at once; ``current.json`` names the files that are in force."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._connection: duckdb.DuckDBPyConnection | None = None

    @property
    def identity(self) -> int:
        """A number that changes with each archive; 0 without one."""
        try:
            return (self.folder / CURRENT).stat().st_mtime_ns
        except OSError:
            return 0

    def find_company(self, cik: int) -> BulkCompany | None:
        """Return a company's figures, or None where the archive has none of it, or there is no archive.

        Raises:
            SettingsInvalid: there is an archive, and no DuckDB.
            StorageUnavailable: a file cannot be read.
        """
        for attempt in range(_TRIES):
            seen = self.identity
            if not seen:
                return None
            connection = self._connected()
            duckdb = sys.modules["duckdb"]
            try:
                return self._read(connection, cik)
            except (duckdb.Error, OSError, ValueError) as error:
                # A newer archive may have taken the files' place meanwhile.
                if self.identity == seen or attempt == _TRIES - 1:
                    raise StorageUnavailable(
                        f"The archive's figures cannot be read: {error}", hint="Run: fingerpost filings bulk ARCHIVE"
                    ) from error
        return None

    def close(self) -> None:
        """Let go of DuckDB."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _connected(self) -> "duckdb.DuckDBPyConnection":
        if self._connection is None:
            self._connection = connect(self.folder / "scratch")
        return self._connection

    def _read(self, connection: "duckdb.DuckDBPyConnection", cik: int) -> BulkCompany | None:
        current = json.loads((self.folder / CURRENT).read_bytes())
        generation = self.folder / str(current["generation"])

        def rows(kind: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
            return connection.execute(
                f"SELECT {', '.join(columns)} FROM read_parquet(?) WHERE cik = ?",  # noqa: S608  (names of our own)
                [str(generation / f"{kind}-*.parquet"), cik],
            ).fetchall()

        companies = rows("companies", ("name", "currency", "complete_through", "first_end"))
        if not companies:
            return None
        name, currency, complete_through, first_end = companies[0]
        columns = tuple(COLUMNS["facts"])[1:]
        file = FactsFile(
            cik=cik,
            name=name,
            facts=[
                Fact(concept, unit, start, end, fraction if whole is None else whole, accession, form, filed)
                for concept, unit, start, end, whole, fraction, accession, form, filed in rows("facts", columns)
            ],
            labels=dict(rows("labels", ("concept", "label"))),
            fiscal_years=dict(rows("years", ("end_date", "fiscal_year"))),
            currency=currency,
            complete_through=complete_through,
            first_end=first_end,
        )
        return BulkCompany(file, str(current["retrieved_at"]))
