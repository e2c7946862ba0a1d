"""Tools that an AI agent can trust, for public transport and for company filings.

Importing this module loads nothing but itself; each name is fetched when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fingerpost.apps.library import Fingerpost, SyncFingerpost
    from fingerpost.contract import (
        DataNotFound,
        FinancialFactsParams,
        ParameterError,
        Plan,
        PlanStep,
        QueryTypeUnsupported,
        StorageUnavailable,
        Tool,
        ToolError,
        ToolInput,
        ToolNotFound,
        ToolRegistry,
        ToolSpec,
        validate_call,
    )
    from fingerpost.plan.planners import PlanningCapability

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

# Every other name is the plan-step contract's.
_MODULES = {
    "Fingerpost": "fingerpost.apps.library",
    "PlanningCapability": "fingerpost.plan.planners",
    "SyncFingerpost": "fingerpost.apps.library",
}


# A type checker would take this for a promise that any name is here.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Fetch a public name from the module that defines it."""
        if name not in __all__:
            raise AttributeError(f"module 'fingerpost' has no attribute {name!r}")
        if name in ("ToolRegistry", "validate_call"):
            # It registers the built-in tools.
            import_module("fingerpost.apps.wiring")
        if name == "__version__":
            value: Any = import_module("importlib.metadata").version("fingerpost")
        else:
            value = getattr(import_module(_MODULES.get(name, "fingerpost.contract")), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List the public names."""
    return list(__all__)
