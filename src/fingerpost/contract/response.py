"""The standard response of the plan-step contract (statement S46)."""

from collections.abc import Mapping, Sequence
from typing import Any

from fingerpost.errors import BrokenContract


def success_response(
    tool: str,
    query_type: str,
    parameters: Mapping[str, Any],
    results: Sequence[Any],
    additional_data: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a standard response with ``success`` true; ``additional_data`` stands at the top.

    Raises:
        BrokenContract: additional data would replace a standard field.
    """
    standard = {
        "query_type": query_type,
        "parameters": dict(parameters),
        "results": list(results),
        "output_key": tool,
        "success": True,
    }
    return _joined(tool, standard, additional_data)


def failure_response(
    tool: str,
    query_type: str,
    parameters: Mapping[str, Any],
    error_message: str,
    error_type: str = "error",
    additional_data: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a standard response with ``success`` false; ``error_type`` is ``error`` or ``warning``.

    Raises:
        BrokenContract: another error type, or additional data that would replace a standard field.
    """
    if error_type not in ("error", "warning"):
        raise BrokenContract(f"{tool} named its failure {error_type!r}; only error and warning exist")
    standard = {
        "query_type": query_type,
        "parameters": dict(parameters),
        "results": [],
        "output_key": tool,
        "success": False,
        error_type: error_message,
    }
    return _joined(tool, standard, additional_data)


def _joined(tool: str, standard: dict[str, Any], additional_data: Mapping[str, Any] | None) -> dict[str, Any]:
    extra = additional_data or {}
    clash = sorted(standard.keys() & extra.keys())
    if clash:
        raise BrokenContract(f"{tool} would replace standard fields of its response: {', '.join(clash)}")
    return standard | dict(extra)
