"""The contracts' models: tools, plans, responses and their validation; pure values, no I/O.

Users import the contract's names from ``fingerpost`` (rule F1), which also registers the built-in tools.
"""

from fingerpost.contract.check import validate_call
from fingerpost.contract.filings import FinancialFactsParams
from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.contract.spec import ToolInput, ToolRegistry, ToolSpec
from fingerpost.contract.tool import Tool
from fingerpost.errors import (
    DataNotFound,
    ParameterError,
    QueryTypeUnsupported,
    StorageUnavailable,
    ToolError,
    ToolNotFound,
)

__all__ = [
    "DataNotFound",
    "FinancialFactsParams",
    "ParameterError",
    "Plan",
    "PlanStep",
    "QueryTypeUnsupported",
    "StorageUnavailable",
    "Tool",
    "ToolError",
    "ToolInput",
    "ToolNotFound",
    "ToolRegistry",
    "ToolSpec",
    "validate_call",
]
