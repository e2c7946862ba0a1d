"""Arithmetic with figures: the allowed formulas, and the contents of an answer."""

from fractions import Fraction

import pytest

from fingerpost.errors import DataNotFound, ParameterError
from fingerpost.filings.claims import verify_claim
from fingerpost.filings.concepts import find_metric, list_metrics
from fingerpost.filings.formula import Quantity, evaluate, list_lookups, read_formula
from fingerpost.filings.query_params import Claim
from tests.filings.drawing import ask, facts, library_of, refusal

TWO_YEARS = """
Revenues      2021-01-01 2021-12-31 100 k21 10-K 2022-02-01
Revenues      2022-01-01 2022-12-31 121 k22 10-K 2023-02-01
NetIncomeLoss 2021-01-01 2021-12-31 -10 k21 10-K 2022-02-01
NetIncomeLoss 2022-01-01 2022-12-31 11  k22 10-K 2023-02-01
Assets        -          2020-12-31 40  k21 10-K 2022-02-01
Assets        -          2021-12-31 50  k21 10-K 2022-02-01
Assets        -          2022-12-31 70  k22 10-K 2023-02-01
"""
NAMED = {"2020-12-31": 2020, "2021-12-31": 2021, "2022-12-31": 2022}


@pytest.fixture
def drawn(tmp_path):
    return library_of(tmp_path / "f.sqlite", facts(TWO_YEARS), NAMED)


def one(library, expression, period="2022", **options):
    return ask(library, "calculate", ticker="DRWN", expression=expression, period=period, **options).results[0]


def test_the_row_has_the_formula_and_every_input_with_its_filing(drawn):
    row = one(drawn, "Revenue / avg(Assets)")
    inputs = [f"{part['xbrl_tag']} {part['end_date'][:4]} {part['accession_number']}" for part in row["inputs"]]

    assert (row["value"], row["formula"], row["metric_name"]) == (121 / 60, *["Revenue / avg(Assets)"] * 2)
    assert inputs == ["us-gaap:Revenues 2022 k22", "us-gaap:Assets 2022 k22", "us-gaap:Assets 2021 k21"]
    assert [(part["value"], part["kind"]) for part in row["inputs"]] == [
        (121, "reported"), (70, "reported"), (50, "reported"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "value", "unit"),
    [
        ("-Revenue", -121, "USD"),
        ("-Revenue * 2", -242, "USD"),
        ("Revenue / (2 * 2)", 30.25, "USD"),
        ("prior(NetIncome) * 2", -20, "USD"),
        ("growth(Revenue)", 0.21, "ratio"),
        ("cagr(Assets, 2)", 0.3228756555322953, "ratio"),
        ("mean_of_years(Assets, 3)", 160 / 3, "USD"),
        ("+Revenue", 121, "USD"),
        ("Net Income / total assets", 11 / 70, "ratio"),
        ("us-gaap:Revenues / us-gaap:Assets", 121 / 70, "ratio"),
        ("return on average assets * 2", 22 / 60, "ratio"),
        ("Revenue \u00d7 2 \u2212 Assets", 172, "USD"),
        ("Revenue * Assets", 8470, "USD^2"),
        ("1 / Revenue", 1 / 121, "1/USD"),
    ],
)
def test_a_formula_has_a_value_and_a_unit(drawn, expression, value, unit):
    row = one(drawn, expression)

    assert (row["value"], row["unit"]) == (value, unit)


REFUSED = [
    "", "2 *", "Revenue ** 2", "Revenue // 2", "Revenue % 2", "Revenue if 1 else 2", "Revenue.real", "'x'", "True",
    "__import__('os')", "avg()", "avg(Revenue, Assets)", "cagr(Revenue)", "cagr(Revenue, 0)", "cagr(Revenue, 21)",
    "cagr(Revenue, 1.0)", "cagr(Revenue, Assets)", "mean_of_years(Revenue, True)", "sum(Revenue)", "avg(x=Revenue)",
    "[Revenue]", "Revenue > 1", "lambda: 1", "Revenue, Assets", "1j",
    "Revenue + 1", "Revenue - Revenue / Assets", "days * 2", "(" * 200, "+".join(["1"] * 200), "x" * 501,
]  # fmt: skip


@pytest.mark.parametrize("expression", REFUSED)
def test_an_invalid_formula_is_refused(drawn, expression):
    with pytest.raises(ParameterError) as caught:
        one(drawn, expression)

    assert caught.value.details["field"] == "expression"


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("Inventory / (Revenue + Goodwill)", "not_reported"),
        ("growth(Revenue) + growth(prior(Revenue))", "not_reported"),
        ("nonsense", "unknown_metric"),
        ("R&D/Revenue", "not_reported"),
        ("Revenue / (Assets - Assets)", "not_comparable"),
        ("growth(NetIncome)", "not_comparable"),
        ("cagr(NetIncome, 1)", "not_comparable"),
        # A value beyond all figures, in between too.
        *[
            (text, "not_comparable")
            for text in ("Revenue * 1e60 * 1e60 / 3", "Revenue / 1e60 / 1e60", "*".join(["Revenue", *["1e99"] * 30]))
        ],
    ],
)
def test_a_missing_value_has_a_reason(drawn, expression, reason):
    error = refusal(drawn, "calculate", ticker="DRWN", expression=expression, period="2022")

    assert {name: entry["reason"] for name, entry in error.details["missing"].items()} == {expression: reason}


def test_several_periods_are_a_series_and_a_missing_one_is_reported(drawn):
    reply = ask(drawn, "calculate", ticker="DRWN", expression="Revenue / Assets", period="2020..2022")

    assert (reply.data, reply.value_mode, list(reply.missing)) == (
        {"Revenue / Assets": [{"end_date": "2021-12-31", "value": 2}, {"end_date": "2022-12-31", "value": 121 / 70}]},
        "series",
        ["Revenue / Assets 2020"],
    )


def test_a_value_from_an_earlier_period_is_in_the_row_of_that_period(drawn):
    row = one(drawn, "prior(Revenue)")

    assert (row["fiscal_year"], row["end_date"], row["value"]) == (2022, "2022-12-31", 100)


QUARTERS = """
Revenues 2021-10-01 2021-12-31 8  q4 10-K 2022-02-01
Revenues 2021-01-01 2021-03-31 5  q1 10-Q 2021-05-01
Revenues 2022-01-01 2022-03-31 10 n1 10-Q 2022-05-01
Revenues 2021-01-01 2021-12-31 30 q4 10-K 2022-02-01
AccountsReceivableNetCurrent - 2021-12-31 4 q4 10-K 2022-02-01
AccountsReceivableNetCurrent - 2022-03-31 6 n1 10-Q 2022-05-01
"""


def test_a_quarter_counts_from_the_quarter_before_and_years_from_the_year_before(tmp_path):
    """Prior is the fourth quarter; a year's growth is from the first; a quarter has 91.25 days."""
    library = library_of(tmp_path / "f.sqlite", facts(QUARTERS), {"2021-12-31": 2021})

    found = [one(library, each, "2022-Q1")["value"] for each in ("prior(Revenue)", "revenue_growth", "dso")]
    assert found == [8, 1, 91.25 * 5 / 10]


SHARES = """
EarningsPerShareDiluted 2021-01-01 2021-12-31 6.00 k21 10-K 2022-02-01
EarningsPerShareDiluted 2022-01-01 2022-12-31 1.80 k22 10-K 2023-02-01
"""


def test_figures_in_old_and_new_shares_are_not_mixed(tmp_path):
    """1.80 after 6.00 over a split of four for one is growth of a fifth, once adjusted."""
    ratio = facts("StockholdersEquityNoteStockSplitConversionRatio1 - 2022-06-03 4 k22 10-K 2023-02-01", "pure")
    library = library_of(tmp_path / "f.sqlite", facts(SHARES, "USD/shares") + ratio, NAMED)

    error = refusal(library, "calculate", ticker="DRWN", expression="growth(EPS)", period="2022")
    (entry,) = error.details["missing"].values()
    assert list(entry.values()) == [
        "not_comparable", "Drawn Inc. split its shares between the filings that state the inputs",
        "Set vintage to split_adjusted",
    ]  # fmt: skip
    assert one(library, "growth(EPS)", vintage="split_adjusted")["value"] == 0.2
    assert one(library, "EPS")["unit"] == "USD/shares"


def test_vintages_go_through_to_the_inputs(tmp_path):
    restated = TWO_YEARS + "Revenues 2022-01-01 2022-12-31 110 ka 10-K/A 2023-06-01"
    library = library_of(tmp_path / "f.sqlite", facts(restated), NAMED)

    asked = ({}, {"vintage": "original"}, {"as_of": "2023-03-01"})
    assert [one(library, "Revenue * 2", **options)["value"] for options in asked] == [220, 242, 242]


@pytest.mark.parametrize("recipe", list_metrics(recipes=True), ids=lambda recipe: recipe.name)
def test_every_recipe_is_a_sound_formula(recipe):
    formula = read_formula(recipe.expression)
    units = {"SharesOutstanding": (("shares", 1),)}
    inputs = {
        each: Quantity(Fraction(3 + each.lag), units.get(each.name, (("USD", 1),))) for each in list_lookups(formula)
    }

    names = (recipe.name, *recipe.aliases, recipe.name.replace("_", " ").upper())
    evaluate(formula, inputs)
    assert all(find_metric(name) is recipe for name in names)
    assert all(find_metric(each.name).name == each.name for each in inputs)


def test_a_tag_matches_only_itself(tmp_path):
    tag = "RevenueFromContractWithCustomerExcludingAssessedTax"
    drawn = facts(f"{TWO_YEARS}\n{tag} 2022-01-01 2022-12-31 90 k22 10-K 2023-02-01")
    library = library_of(tmp_path / "f.sqlite", drawn, NAMED)
    row = one(library, f"us-gaap:{tag} / Revenue")

    assert (row["value"], row["inputs"][0]["xbrl_tag"]) == (90 / 121, f"us-gaap:{tag}")


@pytest.mark.parametrize(
    ("expression", "message"),
    [("Revenue - NetIncome - 1 * Assets / Assets", "which are different units")]
    + [(text, "contains a number that is too large") for text in ("1e400", "1e308 * 1e308", "1" + "0" * 101, "-1e400")]
    # Each function evaluates its argument several times: 2 to the 38th would never end.
    + [
        (text, "needs too many evaluations")
        for text in ("avg(" * 38 + "1" + ")" * 38, "mean_of_years(" * 6 + "days" + ", 20)" * 6)
    ],
)
def test_units_numbers_and_nesting_have_bounds(drawn, expression, message):
    with pytest.raises(ParameterError, match=message):
        one(drawn, expression)


# Years to June, a transition period of six months, then years to December.
MOVED = """
Revenues 2021-07-01 2022-06-30 80  k22 10-K  2022-08-15
Revenues 2022-07-01 2023-06-30 90  k23 10-K  2023-08-15
Revenues 2023-07-01 2024-06-30 100 k24 10-K  2024-08-15
Revenues 2024-07-01 2024-12-31 55  t24 10-KT 2025-02-15
Revenues 2025-01-01 2025-12-31 120 k25 10-K  2026-02-15
Assets   -          2024-06-30 10  k24 10-K  2024-08-15
Assets   -          2024-12-31 30  t24 10-KT 2025-02-15
Assets   -          2025-12-31 50  k25 10-K  2026-02-15
"""
RECAST = "Revenues 2024-01-01 2024-12-31 105 k25 10-K 2026-02-15"
MOVED_YEARS = {"2022-06-30": 2022, "2023-06-30": 2023, "2024-06-30": 2024, "2025-12-31": 2025}


@pytest.mark.parametrize("expression", ["revenue_growth", "change(Revenue)", "cagr(Revenue, 3)"])
def test_after_a_moved_year_end_no_year_is_the_one_before(tmp_path, expression):
    library = library_of(tmp_path / "f.sqlite", facts(MOVED), MOVED_YEARS)
    with pytest.raises(DataNotFound, match="no period comparable to the one ending 2025-12-31 ends") as caught:
        one(library, expression, "2025")
    (entry,) = caught.value.details["missing"].values()
    claim = Claim(ticker="DRWN", metric="Revenue", period="2025", relation="grew_by", value=20)

    assert entry["reason"] == "not_comparable"
    assert one(library, expression.replace("3", "2"), "2024")["fiscal_year"] == 2024
    assert verify_claim(library, claim).extra["data"] == {"verdict": "cannot_judge"}


def test_after_a_moved_year_end_the_balance_before_and_a_recast_year_are_found(tmp_path):
    """The balance at the end of the transition period, and calendar 2024, which fiscal 2024 hides."""
    library = library_of(tmp_path / "f.sqlite", facts(MOVED + RECAST), MOVED_YEARS)
    claim = Claim(ticker="DRWN", metric="Revenue", period="2025", relation="grew_by", value=15, unit="USD")

    assert one(library, "avg(Assets)", "2025")["value"] == 40
    assert one(library, "change(Revenue)", "2025")["value"] == 15
    assert verify_claim(library, claim).extra["data"]["verdict"] == "confirmed"
