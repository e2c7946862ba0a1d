"""Tools that an AI agent can trust, for public transport and for company filings.

Importing this module is cheap, because each name is imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fingerpost.apps.library import Fingerpost, SyncFingerpost
    from fingerpost.contract.check import validate_call
    from fingerpost.contract.plan import Plan, PlanStep
    from fingerpost.contract.tool import Tool, ToolInput, ToolRegistry, ToolSpec
    from fingerpost.errors import (
        DataNotFound,
        ParameterError,
        QueryTypeUnsupported,
        StorageUnavailable,
        ToolError,
        ToolNotFound,
    )
    from fingerpost.filings.query_params import FinancialFactsParams
    from fingerpost.plan.plan_tools import PlanningCapability

    __version__: str

__all__ = [
    "DataNotFound",
    "FinancialFactsParams",
    "Fingerpost",
    "ParameterError",
    "Plan",
    "PlanStep",
    "PlanningCapability",
    "QueryTypeUnsupported",
    "StorageUnavailable",
    "SyncFingerpost",
    "Tool",
    "ToolError",
    "ToolInput",
    "ToolNotFound",
    "ToolRegistry",
    "ToolSpec",
    "__version__",
    "validate_call",
]

_NAMES = {
    "fingerpost.apps.library": ("Fingerpost", "SyncFingerpost"),
    "fingerpost.contract.check": ("validate_call",),
    "fingerpost.filings.query_params": ("FinancialFactsParams",),
    "fingerpost.contract.plan": ("Plan", "PlanStep"),
    "fingerpost.contract.tool": ("Tool", "ToolInput", "ToolRegistry", "ToolSpec"),
    "fingerpost.plan.plan_tools": ("PlanningCapability",),
}
"""The public names of each module, except those of ``fingerpost.errors``."""


# Type checkers that see __getattr__ accept any name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a public name from the module that defines it."""
        if name not in __all__:
            raise AttributeError(f"module 'fingerpost' has no attribute {name!r}")
        if name in ("ToolRegistry", "validate_call"):
            # Importing this module registers the built-in tools.
            import_module("fingerpost.apps.wiring")
        if name == "__version__":
            value: Any = import_module("importlib.metadata").version("fingerpost")
        else:
            module = next((module for module, names in _NAMES.items() if name in names), "fingerpost.errors")
            value = getattr(import_module(module), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List the public names."""
    return list(__all__)
