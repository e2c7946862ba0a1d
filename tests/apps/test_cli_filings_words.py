"""``fingerpost filings`` as people type it: periods, forms, and where an option stands."""

import json

import pytest

from fingerpost.apps.cli.filings_words import (
    find_last_day,
    find_reports,
    join_periods,
    read_period,
    read_words,
    say_period,
    say_unseen,
)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2022", "2022"),
        ("fy2022", "2022"),
        ("2022-Q2", "2022-Q2"),
        ("2022q2", "2022-Q2"),
        ("q2-2022", "2022-Q2"),
        ("Q22022", "2022-Q2"),
        ("2022-Q5", None),
        ("2020-2022", None),
        ("22", None),
    ],
)
def test_a_period_as_it_is_written(written, meant):
    """A fiscal year, or a quarter with the year on either side."""
    assert read_period(written) == meant


@pytest.mark.parametrize(
    ("words", "joined"),
    [
        (["AAPL", "revenue", "2022", "Q2"], ["AAPL", "revenue", "2022-Q2"]),
        (["AAPL", "revenue", "Q2", "2022"], ["AAPL", "revenue", "2022-Q2"]),
        (["AAPL", "FY", "2022"], ["AAPL", "2022"]),
        (["AAPL", "Q2", "FY", "2022"], ["AAPL", "2022-Q2"]),
        (["AAPL", "eps", "2021", "2022"], ["AAPL", "eps", "2021", "2022"]),
    ],
)
def test_two_words_of_one_period_are_one(words, joined):
    """Two years are two."""
    assert join_periods(words) == joined


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["revenue", "2020-2022"], "fingerpost filings AAPL revenue 2022."),
        (["EPS", "2021", "2022"], "fingerpost filings AAPL EPS 2022."),
        (["net", "income", "Q2"], "fingerpost filings AAPL net income 2022."),
        (["revenue", "2022"], None),
        (["revenue"], None),
    ],
)
def test_another_period_is_answered_with_one_that_can_be_typed(words, told):
    """With the words that were typed around it."""
    said = say_period("AAPL", words)

    assert (said if told is None else told in said) == (None if told is None else True)


@pytest.mark.parametrize(
    "words", [["revenue", "2020-2022"], ["EPS", "2021", "2022"], ["revenue,", "eps", "2021", "2022"]]
)
def test_the_terminal_says_how_a_period_is_written(invoke, words):
    """Where some figures are answered too."""
    ended = invoke("filings", "AAPL", *words)

    assert "The period is one fiscal year or quarter, as 2022 or 2022-Q2: fingerpost filings AAPL" in str(ended)


@pytest.mark.parametrize("period", [["2022", "Q2"], ["Q2", "2022"], ["q2-2022"]])
def test_a_quarter_is_answered_however_it_is_written(invoke, period):
    """As 2022-Q2 is."""
    assert invoke("filings", "AAPL", "revenue", *period) == invoke("filings", "AAPL", "revenue", "2022-Q2")


def test_json_may_stand_before_the_company(invoke):
    """As behind it."""
    assert invoke("filings", "--json", "AAPL", "revenue", "2022") == invoke(
        "filings", "AAPL", "revenue", "2022", "--json"
    )


def test_a_form_lists_filings_of_that_form(invoke):
    """All of them."""
    listed = json.loads(invoke("filings", "AAPL", "10-k", "--json").stdout)["results"]

    assert {row["filing_type"] for row in listed} == {"10-K"}


def test_a_year_lists_its_reports(invoke):
    """The sample knows no fiscal year of a filing, so it is the calendar's, and that is said."""
    told = invoke("filings", "AAPL", "2022").stdout

    assert [line.split()[1][:4] for line in told.splitlines() if line.startswith("10-")] == ["2022"] * 4
    assert "Filed in the calendar year 2022: their fiscal periods are not known here; `fingerpost filings sync" in told


def test_a_year_as_json_is_the_same_reports(invoke):
    """In the envelope of the tool."""
    body = json.loads(invoke("filings", "AAPL", "2022-Q2", "--json").stdout)

    assert (body["total_results"], len(body["results"])) == (4, 4)


def test_a_year_without_reports_says_so(invoke):
    """With the line that lists all."""
    ended = invoke("filings", "AAPL", "1999")

    assert (ended.returncode, ended.stderr) == (
        1,
        "No report of AAPL for 1999 is known here.\nAll: fingerpost filings AAPL.\n",
    )
    assert invoke("filings", "AAPL", "1999", "--json").returncode == 1


def test_a_list_that_is_cut_says_so(invoke):
    """With how many there are."""
    assert (
        "The newest 20 of 22 are shown; the reports of one year: fingerpost filings AAPL 2019\n"
        in invoke("filings", "AAPL").stdout
    )


def filing(day, year, period):
    """Return a row of a list of filings."""
    return {"filing_date": day, "fiscal_year": year, "fiscal_period": period}


def test_reports_are_chosen_by_their_fiscal_period_where_it_is_known():
    """Fiscal 2022 began in 2021."""
    rows = [filing("2022-10-28", 2022, "FY"), filing("2022-01-28", 2022, "Q1"), filing("2022-01-03", 2021, "FY")]

    assert find_reports(rows, "2022") == rows[:2]
    assert find_reports(rows, "2022-Q1") == rows[1:2]


def test_words_in_another_order_are_forms_too():
    """A comma parts them as it parts figures."""
    assert read_words(["10-k,", "10-Q", "2022"]) == ([], ["10-K", "10-Q"], "2022")


@pytest.mark.parametrize(("period", "day"), [("2010", "2012-12-31"), ("2010-Q4", "2012-12-31"), ("9998", "9999-12-31")])
def test_what_was_filed_long_after_a_period_takes_no_place_of_its_reports(period, day):
    """A list ends at 48 KB, some 160 filings: the newest of a company that files often are not asked for."""
    assert find_last_day(period) == day


@pytest.mark.parametrize(
    ("left_out", "told"),
    [
        ([], None),
        ([{"part": "notes", "shown": 1, "total": 2, "rest": ""}], None),
        (
            [{"part": "results", "shown": 160, "total": 1_200, "rest": ""}],
            "1,040 older filings were not looked through for 2010; name one form, such as 10-K",
        ),
    ],
)
def test_a_list_that_was_cut_before_it_was_looked_through_says_so(left_out, told):
    """What is not in it may be behind it."""
    assert say_unseen({"results": [], "left_out": left_out}, "2010") == told


def test_a_long_number_is_no_period_and_takes_no_time():
    """Twenty characters are the most that are looked at; thirty took a minute."""
    assert say_period("AAPL", ["2" * 60 + "x"]) is None
