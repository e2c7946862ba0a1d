"""Named formulas, as analysts write them; each is an expression of metric words that ``calculate`` evaluates.

Balances that stand against a year's flow are averages of the year's two ends where the name does not say otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """A formula by its name; answers repeat ``note`` with every value of it."""

    name: str
    expression: str
    aliases: tuple[str, ...] = ()
    note: str = ""


_BANKS = "Not meaningful for a bank or an insurer"

# What query_type financial_ratios answers: one reported figure over another.
RATIOS = (
    Recipe("gross_margin", "GrossProfit / Revenue", ("gross_profit_margin",)),
    Recipe("operating_margin", "OperatingIncome / Revenue"),
    Recipe("net_margin", "NetIncome / Revenue"),
    Recipe("return_on_assets", "NetIncome / Assets", ("roa",), "assets at the end of the period"),
    Recipe("return_on_equity", "NetIncome / StockholdersEquity", ("roe",), "equity at the end of the period"),
    Recipe("current_ratio", "CurrentAssets / CurrentLiabilities"),
    Recipe("debt_to_equity", "Liabilities / StockholdersEquity", (), "all liabilities, not borrowings alone"),
    Recipe("interest_coverage", "OperatingIncome / InterestExpense"),
)
RECIPES = (
    *RATIOS,
    Recipe("free_cash_flow", "OperatingCashFlow - CapitalExpenditure", ("fcf",)),
    Recipe("free_cash_flow_margin", "(OperatingCashFlow - CapitalExpenditure) / Revenue", ("fcf_margin",)),
    Recipe("free_cash_flow_conversion", "(OperatingCashFlow - CapitalExpenditure) / NetIncome", ("fcf_conversion",)),
    Recipe("ebitda", "OperatingIncome + DepreciationAmortization", (), "Operating income plus D&A, unadjusted"),
    Recipe("ebitda_margin", "(OperatingIncome + DepreciationAmortization) / Revenue", (), "Unadjusted"),
    Recipe("working_capital", "CurrentAssets - CurrentLiabilities", ("net_working_capital", "nwc"), _BANKS),
    Recipe("working_capital_ratio", "CurrentAssets / CurrentLiabilities", (), _BANKS),
    Recipe("quick_ratio", "(Cash + ShortTermInvestments + AccountsReceivable) / CurrentLiabilities", (), _BANKS),
    Recipe("cash_ratio", "Cash / CurrentLiabilities", (), _BANKS),
    Recipe("operating_cash_flow_ratio", "OperatingCashFlow / CurrentLiabilities", ("ocf_ratio",), _BANKS),
    Recipe(
        "days_payable_outstanding",
        "days * avg(AccountsPayable) / (CostOfRevenue + change(Inventory))",
        ("dpo",),
        "Against purchases: cost of revenue and the change of inventory",
    ),
    Recipe("days_inventory_outstanding", "days * avg(Inventory) / CostOfRevenue", ("dio",)),
    Recipe("days_sales_outstanding", "days * avg(AccountsReceivable) / Revenue", ("dso",)),
    Recipe(
        "cash_conversion_cycle",
        "days * avg(Inventory) / CostOfRevenue + days * avg(AccountsReceivable) / Revenue"
        " - days * avg(AccountsPayable) / (CostOfRevenue + change(Inventory))",
        ("ccc", "cash_conversion"),
    ),
    Recipe("asset_turnover", "Revenue / avg(Assets)"),
    Recipe("fixed_asset_turnover", "Revenue / avg(PropertyPlantEquipment)"),
    Recipe("inventory_turnover", "CostOfRevenue / avg(Inventory)"),
    Recipe("receivables_turnover", "Revenue / avg(AccountsReceivable)"),
    Recipe("return_on_average_assets", "NetIncome / avg(Assets)", ("average_roa",)),
    Recipe("return_on_average_equity", "NetIncome / avg(StockholdersEquity)", ("average_roe",)),
    Recipe("effective_tax_rate", "IncomeTax / PretaxIncome", ("tax_rate", "etr")),
    Recipe("payout_ratio", "DividendsPaid / NetIncome", ("payout", "dividend_payout_ratio")),
    Recipe("retention_ratio", "1 - DividendsPaid / NetIncome"),
    Recipe("capex_to_revenue", "CapitalExpenditure / Revenue", ("capital_intensity",)),
    Recipe("research_intensity", "ResearchAndDevelopment / Revenue"),
    Recipe("revenue_growth", "cagr(Revenue, 1)", (), "From the same period of the year before"),
    Recipe("net_margin_change", "change(NetIncome / Revenue)"),
    Recipe("gross_margin_change", "change(GrossProfit / Revenue)"),
    Recipe("operating_margin_change", "change(OperatingIncome / Revenue)"),
    Recipe("debt_to_assets", "Liabilities / Assets", (), "All liabilities, not borrowings alone"),
    Recipe("book_value_per_share", "StockholdersEquity / SharesOutstanding"),
)
_BY_NAME: Mapping[str, Recipe] = {name: recipe for recipe in RECIPES for name in (recipe.name, *recipe.aliases)}


def find_recipe(text: str) -> Recipe | None:
    """Return the recipe that a text names, whatever its case, spaces and hyphens."""
    return _BY_NAME.get("_".join(text.lower().replace("-", " ").split()))
