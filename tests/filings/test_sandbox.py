"""A caller's SQL may read our figures, and nothing else."""

import asyncio
import os
import re
import sqlite3
import sys
import time
from contextlib import closing

import pytest

from fingerpost.errors import ParameterError, SourceLimited
from fingerpost.filings import sandbox
from fingerpost.filings.query_params import CustomSqlParams
from fingerpost.filings.sandbox_process import MAX_ROWS
from fingerpost.filings.store import FactStore
from tests.filings.drawing import facts, library_of

# The limit is 2 s; without it the slowest takes most of a minute.
STOPPED_WITHIN_S = 10.0


def run_sql(library, query, as_of=None):
    params = CustomSqlParams.model_construct(sql_query=query, as_of=as_of)
    return asyncio.run(sandbox.run_sql(library, params, "ann"))


REFUSED = [
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('out.txt', 'x')",
    "SELECT load_extension('x')",
    "ATTACH 'other.sqlite' AS other",
    "DETACH main",
    "PRAGMA table_info(facts)",
    "SELECT * FROM pragma_database_list",
    "PRAGMA writable_schema = ON",
    "VACUUM INTO 'copy.sqlite'",
    "INSERT INTO companies SELECT * FROM companies",
    "UPDATE companies SET name = 'x'",
    "DELETE FROM tickers",
    "DROP TABLE companies",
    "CREATE TABLE x (a)",
    "CREATE TEMP TABLE x (a)",
    "BEGIN",
    "SELECT 1; DROP TABLE companies",
    "SELECT * FROM sections",
    "SELECT * FROM reported",
    "SELECT * FROM sqlite_master",
    "SELECT count(*) FROM sections",
    "SELECT count(*) FROM main.sqlite_master",
    "WITH SQLite_Schema AS (SELECT 1) SELECT count(*) FROM SQLite_Schema",
    "SELECT zeroblob(1000000000)",
    "SELEC 1",
    "",
]


@pytest.mark.parametrize("query", REFUSED)
def test_other_statements_are_refused_with_a_sentence(sample, query, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match=r"^Error executing custom SQL: ") as caught:
        run_sql(sample, query)

    assert (caught.value.details["field"], list(tmp_path.iterdir())) == ("sql_query", [])


ENDLESS = [
    "WITH RECURSIVE t (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM t) SELECT count(*) FROM t",
    "SELECT count(*) FROM facts a, facts b, facts c, facts d",
    "WITH RECURSIVE t (a) AS (SELECT 1 UNION SELECT a + 1 FROM t) SELECT max(a) FROM t",
    "WITH RECURSIVE t (a, b) AS (SELECT 1, printf('%90000d', 1) UNION SELECT a + 1, b FROM t) SELECT max(a) FROM t",
    "SELECT max(instr(replace(printf('%99000d',cik),' ','a'), replace(printf('%49000d',cik),' ','a')||'b')) FROM facts",
]


@pytest.mark.parametrize("query", ENDLESS)
def test_an_endless_query_is_stopped_in_time(sample, query):
    began = time.monotonic()
    with pytest.raises(ParameterError, match=r"^Error executing custom SQL: "):
        run_sql(sample, query)

    assert time.monotonic() - began < STOPPED_WITHIN_S


def test_figures_can_be_queried(sample):
    query = (
        "WITH y AS (SELECT ticker, value, row_number() OVER (PARTITION BY ticker ORDER BY end_date DESC) AS n"
        " FROM facts WHERE concept LIKE 'US-GAAP:assets') SELECT ticker, value FROM y JOIN companies USING (ticker)"
        " WHERE n = 1 AND name LIKE 'app%'"
    )

    assert run_sql(sample, query).results == [{"ticker": "AAPL", "value": 359241000000}]
    assert run_sql(sample, "WITH y AS (SELECT 1) SELECT count(*) AS n FROM y, y AS z").results == [{"n": 1}]


LONG_ROW = ", ".join(f"x AS a{number}" for number in range(30))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        # A row is an object, and would lose one of two columns of one name.
        ("SELECT 1 AS a, 2 AS a", "two columns have the same name; rename one with AS"),
        (f"WITH t(x) AS (SELECT hex(zeroblob(49999))) SELECT {LONG_ROW} FROM t", "the first row alone is too long"),
        ("SELECT tickr FROM facts", "no such column: tickr. Queries may only read companies (cik,"),
    ],
)
def test_a_query_that_cannot_be_answered_names_its_fault(sample, query, message):
    with pytest.raises(ParameterError, match=f"^Error executing custom SQL: {re.escape(message)}"):
        run_sql(sample, query)


@pytest.mark.parametrize(("rows", "truncated"), [(MAX_ROWS, False), (MAX_ROWS + 1, True)])
def test_rows_beyond_the_maximum_are_reported(sample, rows, truncated):
    counted = f"WITH RECURSIVE t (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM t LIMIT {rows}) SELECT a FROM t"
    found = run_sql(sample, counted)

    assert (len(found.results), found.extra["truncated"]) == (MAX_ROWS, truncated)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT max(filing_date) AS day FROM facts",
        "SELECT max(filing_date) AS day FROM filings",
        "SELECT max(end_date) AS day FROM fiscal_years",
        "SELECT max(complete_through) AS day FROM companies",
        "SELECT max(facts.end_date) AS day FROM facts JOIN companies USING (cik)",
    ],
)
def test_as_of_shows_no_later_day_in_any_table(tmp_path, query):
    drawn = facts("""
    Assets - 2021-12-31 5 k21 10-K 2022-02-01
    Assets - 2022-12-31 6 k22 10-K 2023-02-01
    """)
    library = library_of(tmp_path / "f.sqlite", drawn, {"2021-12-31": 2021, "2022-12-31": 2022})

    assert (run_sql(library, query, "2022-06-30").results[0]["day"] or "") <= "2022-06-30"


def test_another_ticker_of_a_company_is_in_the_table_of_tickers(tmp_path):
    library = library_of(tmp_path / "f.sqlite", facts("Assets - 2022-12-31 5 k 10-K 2023-02-01"), ticker="ABC-B")
    FactStore(library.path).put_tickers([("ABC", 7, "Drawn Inc."), ("ABC-B", 7, "Drawn Inc.")])
    joined = "SELECT value FROM facts JOIN tickers USING (cik) WHERE tickers.ticker = 'ABC-B'"

    found = [run_sql(library, query).results for query in ("SELECT value FROM facts WHERE ticker = 'ABC'", joined)]
    assert found == [[{"value": 5}]] * 2


def test_an_empty_result_explains_the_main_ticker(sample):
    note = "The tables list companies under their main ticker; the tickers table lists the others by cik"

    assert run_sql(sample, "SELECT 1 FROM facts WHERE ticker = 'x'").notes == [note]
    assert run_sql(sample, "SELECT 1 AS n").notes == []


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("WITH facts AS (SELECT * FROM reported) SELECT * FROM facts", "no such table: main.reported. "),
        ("WITH facts AS (SELECT * FROM main.facts) SELECT * FROM facts", "no such table: main.facts. "),
        ("SELECT * FROM (SELECT * FROM main.filings) AS filings", "no such table: main.filings. "),
        ("SELECT * FROM sqlite_temp_master", "access to temp.sqlite_temp_master.type is prohibited. "),
    ],
)
def test_a_subquery_with_the_name_of_a_view_sees_no_later_day(sample, query, message):
    """The main database is empty, so tables without a view do not exist there; SQLite's own tables are denied."""
    with pytest.raises(ParameterError, match=f"^Error executing custom SQL: {re.escape(message)}"):
        run_sql(sample, query, "2020-01-01")


def test_an_analyzed_database_can_be_queried_except_for_its_statistics(tmp_path):
    """ANALYZE adds the table sqlite_stat1, and SQLite allows no view of that name."""
    library = library_of(tmp_path / "f.sqlite", facts("Assets - 2022-12-31 5 k 10-K 2023-02-01"))
    with closing(sqlite3.connect(library.path)) as connection:
        connection.execute("ANALYZE")
        connection.execute('CREATE TABLE "my notes" (note)')
        connection.commit()
        assert connection.execute("SELECT count(*) FROM sqlite_stat1").fetchone() != (0,)

    assert run_sql(library, "SELECT value FROM facts WHERE ticker = 'DRWN'").results == [{"value": 5}]
    with pytest.raises(ParameterError, match=r"access to \w+\.sqlite_stat1\.tbl is prohibited\. "):
        run_sql(library, "SELECT * FROM sqlite_stat1")
    with pytest.raises(ParameterError, match=r"^Error executing custom SQL: not authorized\. "):
        run_sql(library, "SELECT count(*) FROM sqlite_stat1")


async def test_the_process_of_a_cancelled_caller_is_killed(sample, tmp_path, monkeypatch):
    """The process holds a pipe open when it runs, and would never end."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = f"import os, signal; os.write(os.open({str(pipe)!r}, 1), b'.'); signal.pause()"
    monkeypatch.setattr(sandbox, "_COMMAND", (sys.executable, "-c", code))
    asked = asyncio.create_task(sandbox.run_sql(sample, CustomSqlParams(sql_query="SELECT 1"), "ann"))
    with await asyncio.to_thread(pipe.open, "rb", 0) as opened:
        await asyncio.to_thread(opened.read, 1)
        asked.cancel()
        await asyncio.wait([asked])

        assert (asked.cancelled(), await asyncio.to_thread(opened.read)) == (True, b"")


class Processes:
    """Counts the processes that run, and ends them when the test says so."""

    def __init__(self, monkeypatch):
        self.running, self.most, self.end = 0, 0, asyncio.Event()
        monkeypatch.setattr(sandbox, "_execute", self._execute)
        monkeypatch.setattr(sandbox, "compute", self._write)

    async def _execute(self, _sent):
        self.running += 1
        self.most = max(self.most, self.running)
        await self.end.wait()
        self.running -= 1
        return {"columns": ["a"], "rows": [[1]], "truncated": False}

    async def _write(self, *_given):
        return b""


@pytest.mark.parametrize(("callers", "most"), [(1, 2), (2, 4), (9, 6)])
async def test_more_queries_than_processes_wait(sample, monkeypatch, callers, most):
    processes, params = Processes(monkeypatch), CustomSqlParams(sql_query="SELECT 1")
    asking = [asyncio.create_task(sandbox.run_sql(sample, params, f"c{at % callers}")) for at in range(3 * callers)]
    while processes.running < most:  # noqa: ASYNC110  (ready tasks run meanwhile)
        await asyncio.sleep(0)
    processes.end.set()
    replies = await asyncio.gather(*asking)

    assert (len(replies), processes.most) == (3 * callers, most)


@pytest.mark.parametrize(
    ("callers", "message"),
    [
        (("ann",) * 3, "2 of your SQL queries are running, which is the limit"),
        (("ann", "ann", "ben", "ben", "cleo", "cleo", "dan"), "6 SQL queries are running, which is the limit"),
    ],
)
async def test_a_query_that_waits_too_long_is_refused_with_a_time_to_retry(sample, monkeypatch, callers, message):
    processes, params = Processes(monkeypatch), CustomSqlParams(sql_query="SELECT 1")
    asking = [asyncio.create_task(sandbox.run_sql(sample, params, caller)) for caller in callers[:-1]]
    while processes.running < len(asking):  # noqa: ASYNC110  (ready tasks run meanwhile)
        await asyncio.sleep(0)
    monkeypatch.setattr(sandbox, "_MAX_WAIT_S", 0)
    with pytest.raises(SourceLimited) as caught:
        await sandbox.run_sql(sample, params, callers[-1])
    processes.end.set()
    await asyncio.gather(*asking)

    assert (caught.value.message, caught.value.retry_after_s) == (message, 2.0)
