"""Taking in the whole ``companyfacts`` archive: one company in memory at a time, all of it in force at once or none."""

import csv
import json
import re
import shutil
import sys
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from fingerpost.errors import FeedUnusable, StorageUnavailable
from fingerpost.filings.bulk import COLUMNS, CURRENT, connect, folder_beside
from fingerpost.filings.companyfacts import FactsFile, parse_json, read_facts
from fingerpost.filings.store import FactStore

if TYPE_CHECKING:
    import duckdb

_MEMBER = re.compile(r"(?:.*/)?CIK\d{10}\.json")
_FACTS_A_PART = 1_000_000
_LARGEST_MEMBER = 256 * 2**20
_WHOLE = range(-(2**63), 2**63)


@dataclass(slots=True)
class BulkLoaded:
    """What an archive held; ``skipped`` says why a company was left out, by its file."""

    companies: int = 0
    facts: int = 0
    skipped: dict[str, str] = field(default_factory=dict)


def load_archive(
    store: FactStore, archive: Path, *, retrieved_at: str, show: Callable[[int, int], None] | None = None
) -> BulkLoaded:
    """Put an archive in force; what came from an older one is forgotten. ``show`` is told (done, whole) companies.

    Raises:
        FeedUnusable: it is no such archive, is damaged, or no company in it can be read; the older one stays.
        SettingsInvalid: DuckDB is not installed.
        StorageUnavailable: another load is under way, or the disk is full.
    """
    folder = folder_beside(store.path)
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder), ExitStack() as cleaning:
        scratch = folder / "scratch"
        connection = cleaning.enter_context(connect(scratch))
        duckdb = sys.modules["duckdb"]
        _sweep(folder)
        building = folder / uuid.uuid4().hex
        building.mkdir()
        cleaning.callback(_sweep, folder)
        try:
            loaded = _convert(connection, archive, building, show)
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
            raise FeedUnusable(f"{archive.name} is not a zip archive, or damaged: {error}") from error
        except (OSError, duckdb.Error) as error:
            raise StorageUnavailable(f"{archive.name} could not be taken in: {error}") from error
        if not loaded.companies:
            raise FeedUnusable(f"{archive.name} holds no companyfacts file that can be read")
        _put_in_force(folder, building.name, retrieved_at)
        store.forget_bulk()
    return loaded


def _convert(
    connection: "duckdb.DuckDBPyConnection", archive: Path, building: Path, show: Callable[[int, int], None] | None
) -> BulkLoaded:
    loaded, seen = BulkLoaded(), set()
    with zipfile.ZipFile(archive) as opened, ExitStack() as parts:
        part = parts.enter_context(closing(_Part(connection, building, 0)))
        members = sorted(
            (each for each in opened.infolist() if _MEMBER.fullmatch(each.filename)), key=lambda each: each.filename
        )
        for done, member in enumerate(members, 1):
            try:
                file = _read(opened, member)
                if file.cik in seen:
                    raise FeedUnusable(f"{member.filename} repeats a company")
            except FeedUnusable as error:
                loaded.skipped[member.filename] = str(error)
            else:
                seen.add(file.cik)
                part.add(file)
                loaded.companies += 1
                loaded.facts += len(file.facts)
            if part.facts >= _FACTS_A_PART:
                part.finish()
                part = parts.enter_context(closing(_Part(connection, building, part.number + 1)))
            if show is not None:
                show(done, len(members))
        part.finish()
    return loaded


def _read(opened: zipfile.ZipFile, member: zipfile.ZipInfo) -> FactsFile:
    if member.file_size > _LARGEST_MEMBER:
        raise FeedUnusable(f"{member.filename} is larger than {_LARGEST_MEMBER // 2**20} MB")
    return read_facts(parse_json(opened.read(member), member.filename), member.filename)


class _Part:
    """Some companies on their way into Parquet files, by way of CSV files that are not kept."""

    def __init__(self, connection: "duckdb.DuckDBPyConnection", folder: Path, number: int) -> None:
        self.number = number
        self.facts = 0
        self._connection = connection
        self._paths = {kind: folder / f"{kind}-{number:05}.csv" for kind in COLUMNS}
        self._files = {
            kind: path.open("w", encoding="utf-8", errors="replace", newline="") for kind, path in self._paths.items()
        }
        self._rows = {
            kind: csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
            for kind, file in self._files.items()
        }

    def add(self, file: FactsFile) -> None:
        """Write one company."""
        cik = file.cik
        company = (cik, file.name, file.currency, file.complete_through, file.first_end)
        self._rows["companies"].writerow(company)
        self._rows["labels"].writerows((cik, concept, label) for concept, label in file.labels.items())
        self._rows["years"].writerows((cik, end, year) for end, year in file.fiscal_years.items())
        self._rows["facts"].writerows(
            (cik, concept, unit, start, end, *_two_columns(value), accession, form, filed)
            for concept, unit, start, end, value, accession, form, filed in file.facts
        )
        self.facts += len(file.facts)

    def finish(self) -> None:
        """Turn what was written into Parquet, sorted by company as it came."""
        self.close()
        for kind, path in self._paths.items():
            columns = COLUMNS[kind]
            chosen = ", ".join(
                f"coalesce({name}, '') AS {name}" if of == "VARCHAR" else name for name, of in columns.items()
            )
            read = (
                "read_csv($source, columns = $columns, auto_detect = false, header = false, delim = ',', quote = '\"',"
                " escape = '\"', new_line = '\\n', parallel = false)"
            )
            self._connection.execute(
                f"COPY (SELECT {chosen} FROM {read}) TO '{_quoted(path.with_suffix('.parquet'))}'"  # noqa: S608
                " (FORMAT parquet, COMPRESSION zstd)",
                {"source": str(path), "columns": columns},
            )
            path.unlink()

    def close(self) -> None:
        """Let go of the files."""
        for file in self._files.values():
            file.close()


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def _two_columns(value: float) -> tuple[int | None, float | None]:
    if isinstance(value, int) and value in _WHOLE:
        return value, None
    return None, float(value)


def _put_in_force(folder: Path, generation: str, retrieved_at: str) -> None:
    written = folder / f"{CURRENT}.new"
    written.write_text(json.dumps({"generation": generation, "retrieved_at": retrieved_at}), encoding="utf-8")
    written.replace(folder / CURRENT)


def _sweep(folder: Path) -> None:
    """Remove what is not in force: an older archive, or one that was never finished."""
    try:
        kept = json.loads((folder / CURRENT).read_bytes())["generation"]
    except (OSError, ValueError, KeyError):
        kept = None
    for path in folder.iterdir():
        if path.is_dir() and path.name not in (kept, "scratch"):
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    try:
        with FileLock(folder / "lock", blocking=False):
            yield
    except Timeout as error:
        raise StorageUnavailable("Another archive is being taken in") from error
