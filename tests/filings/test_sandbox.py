"""Somebody else's SQL: it may read our figures, and nothing more."""

import time

import pytest

from fingerpost.errors import ParameterError
from fingerpost.filings.sandbox import MAX_ROWS, run_sql
from fingerpost.filings.store import FactStore
from tests.filings.drawing import company_file, facts, library_of

# The clock is 1.5 s, and a process has to start; without it the slowest takes most of a minute.
STOPPED_WITHIN_S = 10.0

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
    "SELECT zeroblob(1000000000)",
    "SELEC 1",
    "",
]


@pytest.mark.parametrize("query", REFUSED)
def test_what_is_no_plain_reading_is_refused_with_a_sentence(query, tmp_path, monkeypatch):
    """Files, writes, attaches, pragmas, schemas and oversized values; nothing appears on the disk."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match=r"^Error executing custom SQL: ") as caught:
        run_sql(None, query)

    assert (caught.value.details["field"], list(tmp_path.iterdir())) == ("sql_query", [])


ENDLESS = [
    "WITH RECURSIVE t (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM t) SELECT count(*) FROM t",
    "SELECT count(*) FROM facts a, facts b, facts c, facts d",
    "WITH RECURSIVE t (a) AS (SELECT 1 UNION SELECT a + 1 FROM t) SELECT max(a) FROM t",
    "WITH RECURSIVE t (a, b) AS (SELECT 1, printf('%90000d', 1) UNION SELECT a + 1, b FROM t) SELECT max(a) FROM t",
    "SELECT max(instr(replace(printf('%99000d',cik),' ','a'), replace(printf('%49000d',cik),' ','a')||'b')) FROM facts",
    "SELECT replace(printf('%99000d', 1), ' ', 'a') LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%b'",
]


@pytest.mark.parametrize("query", ENDLESS)
def test_what_does_not_end_is_stopped_in_time(query):
    """Recursion, a join of everything with everything, memory, a backtracking pattern, and built-in functions alone."""
    began = time.monotonic()
    with pytest.raises(ParameterError, match=r"^Error executing custom SQL: "):
        run_sql(None, query)

    assert time.monotonic() - began < STOPPED_WITHIN_S


def test_figures_can_be_queried(sample):
    """Joins, windows, common tables and LIKE work."""
    query = (
        "WITH y AS (SELECT ticker, value, row_number() OVER (PARTITION BY ticker ORDER BY end_date DESC) AS n"
        " FROM facts WHERE concept LIKE 'US-GAAP:assets') SELECT ticker, value FROM y JOIN companies USING (ticker)"
        " WHERE n = 1 AND name LIKE 'app%'"
    )

    assert run_sql(sample.path, query).rows == [{"ticker": "AAPL", "value": 359241000000}]


def test_columns_of_one_name_are_both_there():
    """A row is an object, and would lose one of them."""
    assert run_sql(None, "SELECT 1 AS a, 2 AS a").rows == [{"a": 1, "a_2": 2}]


@pytest.mark.parametrize(("rows", "truncated"), [(MAX_ROWS, False), (MAX_ROWS + 1, True)])
def test_more_rows_than_the_most_are_said_to_be_there(rows, truncated):
    """A boundary pair."""
    found = run_sql(
        None, f"WITH RECURSIVE t (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM t LIMIT {rows}) SELECT a FROM t"
    )

    assert (len(found.rows), found.truncated) == (MAX_ROWS, truncated)


def test_as_of_hides_what_was_filed_later():
    """By whichever name the table is called."""
    newest = run_sql(None, "SELECT max(filing_date) AS day FROM facts", "2022-06-30").rows[0]["day"]
    with pytest.raises(ParameterError, match="prohibited"):
        run_sql(None, "SELECT * FROM main.facts", "2022-06-30")

    assert newest <= "2022-06-30"


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
    """A fiscal year that had not ended, and how far the figures reach today, are of later days too."""
    drawn = facts("""
    Assets - 2021-12-31 5 k21 10-K 2022-02-01
    Assets - 2022-12-31 6 k22 10-K 2023-02-01
    """)
    library = library_of(tmp_path / "f.sqlite", drawn, {"2021-12-31": 2021, "2022-12-31": 2022})

    assert (run_sql(library.path, query, "2022-06-30").rows[0]["day"] or "") <= "2022-06-30"


@pytest.fixture
def classes(tmp_path):
    """A company with three tickers, its own first in the list, and another one."""
    library = library_of(tmp_path / "f.sqlite", facts("Assets - 2022-12-31 5 k 10-K 2023-02-01"), ticker="ABC-B")
    store = FactStore(library.path)
    other = company_file(facts("Assets - 2022-12-31 7 o 10-K 2023-02-01"), cik=8, name="Other Inc.")
    store.put_facts(other, tickers=["OTH"])
    store.put_tickers([("ABC", 7, "Drawn Inc."), ("ABC-B", 7, "Drawn Inc."), ("AAB", 7, "Drawn Inc.")])
    return library


@pytest.mark.parametrize("ticker", ["ABC", "ABC-B", "AAB", "abc.b"])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT value FROM facts WHERE ticker = '{}'",
        "SELECT value FROM facts WHERE ticker IN ('{}', 'NONE')",
        "SELECT value FROM facts JOIN companies USING (ticker) WHERE companies.ticker = '{}'",
        "SELECT value FROM (SELECT DISTINCT ticker, value FROM facts) WHERE ticker = '{}'",
        "SELECT value FROM facts WHERE cik = (SELECT cik FROM companies WHERE '{}' = ticker)",
        "SELECT max(value) AS value FROM facts GROUP BY ticker HAVING ticker = '{}'",
    ],
)
@pytest.mark.parametrize("as_of", [None, "2024-01-01"])
def test_any_ticker_of_a_company_finds_its_figures_once(classes, ticker, query, as_of):
    """Classes of shares are one company: none of them finds nothing, and no figure is there twice."""
    assert run_sql(classes.path, query.format(ticker), as_of).rows == [{"value": 5}]


def test_a_figure_is_shown_under_the_main_ticker(classes):
    """The first in EDGAR's own list, whichever the figures were loaded under."""
    found = run_sql(classes.path, "SELECT DISTINCT ticker FROM facts WHERE ticker IN ('AAB', 'OTH') ORDER BY ticker")

    assert (found.rows, found.notes) == (
        [{"ticker": "ABC"}, {"ticker": "OTH"}],
        ("'AAB' was read as 'ABC', under which the company stands in the tables",),
    )


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("SELECT tickr FROM facts", "did you mean ticker? facts has ticker, cik, concept, label, unit,"),
        ("SELECT f.metric FROM facts AS f", "facts has ticker, cik, concept,"),
        ("SELECT symbol FROM companies", "companies has cik, ticker, name, sic,"),
        ("SELECT x", "tickers has ticker, cik"),
    ],
)
def test_a_column_that_does_not_exist_is_answered_with_those_that_do(query, named):
    """Of the tables that the query names; of all where it names none."""
    with pytest.raises(ParameterError) as caught:
        run_sql(None, query)

    assert named in caught.value.message
