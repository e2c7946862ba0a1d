"""The query types that compute or judge, and what a call of figures is checked for, as a caller meets them."""

import pytest

from fingerpost.contract.check import validate_call
from fingerpost.contract.spec import ToolRegistry
from fingerpost.errors import ParameterError
from fingerpost.filings.tools.sec_financial_data import SecFinancialData

EXAMPLE = {"ticker": "AAPL", "metrics": ["Revenue"], "start_date": "2022-01-01", "end_date": "2022-12-31"}


@pytest.fixture
def figures(sample):
    """The tool over the table that ships."""
    return SecFinancialData(sample)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"start_date": None}, "start_date"),
        ({"end_date": None}, "end_date"),
        ({"start_date": None, "end_date": None}, "start_date"),
        ({"metrics": "Revenue"}, "metrics"),
        ({"metrics": []}, "metrics"),
        ({"metrics": ["Revenue", 5]}, "metrics"),
        ({"ticker": None}, "ticker"),
        ({"start_date": ""}, "start_date"),
    ],
)
def test_validate_call_names_the_first_field_that_is_wrong(figures, changed, field):
    """S64: a missing day is a field too, and one metric is no list of metrics."""
    params = {name: value for name, value in (EXAMPLE | changed).items() if value is not None}
    with ToolRegistry.only(figures.spec), pytest.raises(ParameterError) as caught:
        validate_call("sec_financial_data", "financial_facts", params)

    assert caught.value.details["field"] == field


def test_a_fiscal_period_stands_instead_of_both_days(figures):
    """Ours, beyond the contract (rule F3)."""
    with ToolRegistry.only(figures.spec):
        assert (
            validate_call(
                "sec_financial_data", "financial_facts", {"ticker": "AAPL", "metrics": ["Revenue"], "period": "2022"}
            )
            is None
        )


async def test_a_verdict_is_an_answer_that_says_why(figures):
    """Also the one that the figures do not decide."""
    asked = {"ticker": "AAPL", "metric": "Revenue", "period": "2022", "relation": "equals", "value": 394.3}
    for unit, verdict in (("USD billion", "confirmed"), ("EUR billion", "cannot_judge")):
        answer = await figures.answer({"query_type": "verify_claim", "parameters": asked | {"unit": unit}}, user=None)

        assert (answer.is_error, answer.body["data"]["verdict"]) == (False, verdict)
        assert answer.text.startswith(f"{verdict}: {answer.body['explanation']}.")


async def test_a_calculation_says_its_formula_and_its_filings_in_the_text(figures):
    """Who reads no structure has the same."""
    asked = {"ticker": "Apple", "expression": "FCF", "period": 2022}
    answer = await figures.answer({"query_type": "calculate", "parameters": asked}, user=None)

    assert answer.body["data"] == {"FCF": 111443000000}
    assert answer.text.startswith(
        "AAPL FCF fiscal 2022 FY (to 2022-09-24): 111443000000 USD = OperatingCashFlow - CapitalExpenditure"
        " = 122151000000 - 10708000000 = 111443000000, from 10-K 0000320193-22-000108 of 2022-10-28; "
    )


@pytest.mark.parametrize("asked", [{}, {"period": "2022", "periods": ["2021"]}, {"periods": []}])
async def test_a_calculation_takes_one_period_or_several(figures, asked):
    """Not neither, and not both."""
    answer = await figures.execute("calculate", {"ticker": "AAPL", "expression": "FCF", **asked})

    assert answer["error_code"] == "ParameterError"


async def test_a_query_that_finds_nothing_by_another_ticker_says_the_main_one(figures):
    """In the notes, and in the text."""
    query = {"sql_query": "SELECT value FROM facts WHERE ticker = 'aapl'"}
    answer = await figures.answer({"query_type": "custom_sql", "parameters": query}, user=None)

    assert answer.body["notes"] == ["'aapl' is in the tables as 'AAPL'; ask for that"]
    assert answer.body["notes"][0] in answer.text


@pytest.mark.parametrize(
    ("query_type", "rest"),
    [("financial_facts", "Ask for fewer metrics or a shorter period."), ("verify_claim", "Claim one period.")],
)
def test_each_query_type_says_how_to_get_its_own_rest(figures, query_type, rest):
    """Not what another one would need."""
    assert figures.rest_of({"query_type": query_type}) == rest


def test_an_answer_of_no_query_type_says_how_to_get_less(figures):
    """A failure may name none that there is."""
    assert figures.rest_of({"query_type": "none"}) == "Ask for less."
