"""Claims: each relation at its bound, and no verdict if the figures do not decide."""

import pytest

from fingerpost.errors import DataNotFound, ParameterError
from fingerpost.filings.claims import verify_claim
from fingerpost.filings.query_params import Claim
from fingerpost.filings.store import FactStore
from fingerpost.filings.tools.sec_financial_data import SecFinancialData
from tests.filings.drawing import company_file, facts, library_of

APPLE = {"ticker": "AAPL", "metric": "Revenue", "period": "2022"}
DRAWN = {"ticker": "DRWN", "metric": "Revenue", "period": "2022", "relation": "equals"}
YEARS = {"2021-12-31": 2021, "2022-12-31": 2022}
TWO_YEARS = """
Revenues 2021-01-01 2021-12-31 100 k21 10-K 2022-02-15
Revenues 2022-01-01 2022-12-31 120 k22 10-K 2023-02-15
"""


def judge(library, **fields):
    return verify_claim(library, Claim(**fields))


def verdicts(library, *values, **fields):
    return [judge(library, **(DRAWN | fields), value=value).extra["data"]["verdict"] for value in values]


@pytest.fixture
def draw(tmp_path):
    return lambda drawing, years=YEARS: library_of(tmp_path / "f.sqlite", facts(drawing), years)


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"relation": "equals", "value": 394.3, "unit": "USD billion"}, "confirmed"),
        ({"relation": "equals", "value": 394.2, "unit": "USD billion"}, "contradicted"),
        ({"relation": "equals", "value": 394328000000}, "confirmed"),
        ({"relation": "equals", "value": 394300000000}, "contradicted"),
        ({"relation": "equals", "value": 394300000000, "tolerance": 28000000}, "confirmed"),
        ({"relation": "equals", "value": 394300000000, "tolerance": 27999999}, "contradicted"),
        ({"relation": "equals", "value": 394328}, "cannot_judge"),
        ({"relation": "equals", "value": 394328, "unit": "million USD"}, "confirmed"),
        ({"relation": "equals", "value": 394.3, "unit": "$ bn"}, "confirmed"),
        ({"relation": "equals", "value": 394328000, "unit": "US$ in thousands"}, "confirmed"),
        ({"relation": "equals", "value": 394.3, "unit": "EUR billion"}, "cannot_judge"),
        ({"relation": "equals", "value": 394.3, "unit": "billion shares"}, "cannot_judge"),
        ({"relation": "about", "value": 358.5, "unit": "USD billion"}, "cannot_judge"),
        ({"relation": "about", "value": 358.4, "unit": "USD billion"}, "contradicted"),
        ({"relation": "about", "value": 390, "unit": "USD billion", "tolerance": 5}, "confirmed"),
        ({"relation": "more_than", "value": 394327, "unit": "USD million"}, "confirmed"),
        ({"relation": "more_than", "value": 394328.0, "unit": "USD million"}, "contradicted"),
        ({"relation": "less_than", "value": 394329, "unit": "USD million"}, "confirmed"),
        ({"relation": "less_than", "value": 394328, "unit": "USD million"}, "contradicted"),
        ({"relation": "grew_by", "value": 7.8}, "confirmed"),
        ({"relation": "grew_by", "value": 7.7, "unit": "%"}, "contradicted"),
        ({"relation": "grew_by", "value": 0.078, "unit": "ratio"}, "confirmed"),
        ({"relation": "grew_by", "value": 28.5, "unit": "USD billion"}, "confirmed"),
        ({"relation": "grew_by", "value": 28.5, "unit": "bn"}, "confirmed"),
        ({"relation": "grew_by", "value": 28_511_000_000}, "cannot_judge"),
        ({"relation": "grew_by", "value": 52, "base_period": "2019"}, "confirmed"),
        ({"relation": "is_record"}, "confirmed"),
        ({"relation": "is_record", "metric": "NetIncome", "period": "2019"}, "contradicted"),
        ({"relation": "is_record", "period": "2018"}, "cannot_judge"),
        ({"relation": "ranks", "value": 1, "among": ["NVDA"]}, "confirmed"),
        ({"relation": "ranks", "value": 2, "among": ["NVDA"]}, "contradicted"),
        ({"relation": "equals", "metric": None, "formula": "net_margin", "value": 25.3, "unit": "%"}, "confirmed"),
        ({"relation": "equals", "metric": "net_margin", "value": 25.3}, "cannot_judge"),
        ({"relation": "grew_by", "metric": "net_margin", "value": -0.6, "unit": "%"}, "cannot_judge"),
        ({"relation": "equals", "metric": None, "formula": "Revenue / (Assets - Assets)", "value": 1}, "cannot_judge"),
    ],
)
def test_every_relation_at_its_bound(sample, fields, verdict):
    """Apple's fiscal 2022: 394,328 million after 365,817 and, in 2019, 260,174; no growth before 2018 is known."""
    assert judge(sample, **(APPLE | fields)).extra["data"]["verdict"] == verdict


ANNUAL = "10-K 0000320193-22-000108 of 2022-10-28"


def test_a_reported_value_is_stated_and_a_derived_one_names_its_filings(sample):
    year = judge(sample, **APPLE, relation="equals", value=394.3, unit="USD billion")
    quarter = judge(sample, **(APPLE | {"period": "2022-Q4"}), relation="equals", value=90.1, unit="USD billion")
    margin = judge(
        sample, ticker="AAPL", formula="NetIncome / Revenue", period="2022", relation="less_than", value=26, unit="%"
    )
    growth = judge(sample, **APPLE, relation="grew_by", value=7.8)

    assert year.extra["explanation"] == (
        f"Apple Inc. states Revenue of 394328000000 USD for fiscal 2022 in {ANNUAL}, which matches the claim"
    )
    assert quarter.extra["explanation"] == (
        "Revenue of Apple Inc. for fiscal 2022 Q4 is 90146000000 USD, derived as FY - 9M from"
        f" {ANNUAL} and 10-Q 0000320193-22-000070 of 2022-07-29, which matches the claim"
    )
    assert f"derived as NetIncome / Revenue from {ANNUAL}" in margin.extra["explanation"]
    assert "the growth derived from them is 7.794 percent" in growth.extra["explanation"]
    assert [row["fiscal_year"] for row in growth.results] == [2022, 2021]


def test_the_claimed_and_the_filed_value_have_one_unit(sample):
    money = judge(sample, **APPLE, relation="equals", value=394.3, unit="USD billion").extra["data"]
    growth = judge(sample, **APPLE, relation="grew_by", value=7).extra["data"]
    undecided = judge(sample, **APPLE, relation="equals", value=394328).extra["data"]

    filed = {
        "start_date": "2021-09-26", "end_date": "2022-09-24",
        "true_statement": f"Apple Inc. states Revenue of 394328000000 USD for fiscal 2022 in {ANNUAL}",
    }  # fmt: skip
    assert undecided == {"verdict": "cannot_judge"} | filed
    assert money == filed | {
        "verdict": "confirmed", "claimed": 394300000000, "value": 394328000000, "difference": -28000000,
        "tolerance": 50000000, "unit": "USD",
    }  # fmt: skip
    shown = [round(growth["value"], 2), *(growth[name] for name in ("claimed", "tolerance", "unit"))]
    assert shown == [7.79, 7, 0.5, "percent"]


def test_a_value_that_was_restated_is_of_a_stale_vintage(draw):
    library = draw(
        TWO_YEARS
        + """
        Revenues 2021-01-01 2021-12-31 100 k23 10-K 2024-02-15
        Revenues 2022-01-01 2022-12-31 130 k23 10-K 2024-02-15
        """
    )

    assert verdicts(library, 130, 120, 119) == ["confirmed", "stale_vintage", "contradicted"]
    assert verdicts(library, 20, relation="grew_by") == ["stale_vintage"]
    assert judge(library, **DRAWN, as_of="2023-12-31", value=120).extra["data"]["verdict"] == "confirmed"


def test_a_claim_confirmed_by_a_neighbouring_tag_is_not_contradicted(draw):
    library = draw(TWO_YEARS + "SalesRevenueNet 2022-01-01 2022-12-31 110 k22 10-K 2023-02-15")

    assert verdicts(library, 120, 110, 111) == ["confirmed", "cannot_judge", "contradicted"]


@pytest.mark.parametrize(
    ("drawing", "fields", "why"),
    [
        (
            TWO_YEARS.replace("Revenues 2021", "ifrs-full:Revenue 2021"),
            {"relation": "grew_by", "value": 20},
            "two frameworks",
        ),
        (
            """
            Revenues 2022-01-01 2022-12-31 120 k22 10-K 2023-02-15
            Revenues 2022-01-01 2022-09-30 80 q22 10-Q 2022-11-01
            Revenues 2022-01-01 2022-09-30 90 q23 10-Q 2023-11-01
            """,
            {"period": "2022-Q4", "value": 30},
            "FY 120 USD (us-gaap:Revenues in 10-K k22 of 2023-02-15) and 9M 90 USD",
        ),
        (TWO_YEARS.replace(" 100 ", " 0 "), {"relation": "grew_by", "value": 20}, "is undefined when"),
    ],
)
def test_a_derived_value_needs_one_basis(draw, drawing, fields, why):
    reply = judge(draw(drawing), **(DRAWN | fields))

    assert reply.extra["data"]["verdict"] == "cannot_judge"
    assert "growth" not in reply.extra["data"].get("true_statement", "")
    assert why in reply.extra["explanation"]


def test_a_growth_over_two_filers_is_not_judged(tmp_path):
    older, newer = facts(TWO_YEARS)
    store = FactStore(tmp_path / "f.sqlite")
    store.put_facts(company_file([older], {"2021-12-31": 2021}, cik=6), tickers=["DRWN"])
    library = library_of(store.path, [newer], {"2022-12-31": 2022})

    reply = judge(library, **(DRAWN | {"relation": "grew_by"}), value=20)
    assert "two filers" in reply.extra["explanation"]


def test_a_growth_across_a_split_is_not_judged(tmp_path):
    drawing = TWO_YEARS.replace("Revenues", "EarningsPerShareDiluted").replace("100", "4.00").replace("120", "1.50")
    ratio = "StockholdersEquityNoteStockSplitConversionRatio1 2022-06-01 2022-06-01 4 k22 10-K 2023-02-15"
    library = library_of(tmp_path / "f.sqlite", facts(drawing, "USD/shares") + facts(ratio, "pure"), YEARS)
    claim = DRAWN | {"metric": "EPS", "relation": "grew_by", "value": 50}

    assert judge(library, **claim).extra["data"]["verdict"] == "cannot_judge"
    assert judge(library, **claim, vintage="split_adjusted").extra["data"]["verdict"] == "confirmed"


def test_an_absent_figure_is_missing_and_a_base_of_another_length_is_refused(sample):
    with pytest.raises(DataNotFound) as missing:
        judge(sample, **(APPLE | {"period": "2031"}), relation="equals", value=1)
    with pytest.raises(ParameterError) as refused:
        judge(sample, **APPLE, relation="grew_by", value=1, base_period="2021-Q1")

    assert (list(missing.value.details["missing"]), refused.value.details["field"]) == (["Revenue 2031"], "base_period")


JANUARY = """
Revenues 2022-02-01 2023-01-31 50  k23 10-K 2023-03-15
Revenues 2023-02-01 2024-01-31 60  k24 10-K 2024-03-15
Revenues 2024-02-01 2025-01-31 130 k25 10-K 2025-03-15
"""


def test_a_calendar_year_that_is_another_fiscal_year_is_not_contradicted(draw):
    """Fiscal 2024 ended in January; most of calendar 2024 is fiscal 2025."""
    library = draw(JANUARY, {"2023-01-31": 2023, "2024-01-31": 2024, "2025-01-31": 2025})

    assert verdicts(library, 60, 130, 50, period="2024") == ["confirmed", "cannot_judge", "contradicted"]
    assert verdicts(library, 60, period="2025") == ["contradicted"]
    assert judge(library, **(DRAWN | {"period": "2024"}), value=130).extra["explanation"] == (
        "fiscal 2024 ended on 2024-01-31; the claim is true of fiscal 2025, which ended on 2025-01-31 and falls"
        " mostly in calendar 2024: set period to the fiscal year that you mean"
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"metric": None}, "send either metric or formula"),
        ({"formula": "FCF"}, "send either metric or formula"),
        ({"value": None}, "relation equals needs value"),
        ({"relation": "is_record"}, "relation is_record takes no value"),
        ({"base_period": "2021"}, "relation equals takes no base_period"),
        ({"relation": "ranks", "among": ["NVDA"], "value": 1.5}, "value must be a rank"),
        ({"value": "394"}, "value must be"),
        ({"value": True}, "value must be"),
    ],
)
async def test_fields_that_do_not_belong_to_a_relation_are_refused(sample, changed, message):
    asked = APPLE | {"relation": "equals", "value": 394.3} | changed
    answer = await SecFinancialData(sample).execute("verify_claim", asked)

    assert answer["error_code"] == "ParameterError"
    assert message in answer["error"]


async def test_a_bare_text_is_refused_with_the_fields_to_send(sample):
    answer = await SecFinancialData(sample).execute("verify_claim", {"claim": "Apple's revenue was $394 billion"})

    told = (answer["error_code"], answer["error"])
    assert told == ("ParameterError", "verify_claim takes the fields of a claim, not a sentence")
    assert '{"ticker": "AAPL", "metric": "Revenue", "period": "2022", "relation": "equals"' in answer["hint"]
