"""The error boundary: an unexpected exception becomes an envelope for the caller and a traceback in the log."""

import errno
import logging
import traceback
from collections.abc import Collection, Mapping
from typing import Any

from fingerpost.apps.logs import hash_caller, redact_environment
from fingerpost.contract.check import clip
from fingerpost.contract.envelope import Contract, find_error_code, new_internal_error
from fingerpost.contract.published_tool import (
    Answer,
    PublishedTool,
    ReportProgress,
    ToolDefinition,
    ignore_progress,
    new_correlation_id,
    new_failure,
)
from fingerpost.contract.size_bounds import bound_answer
from fingerpost.errors import StorageUnavailable, ToolNotFound
from fingerpost.runtime import instruments
from fingerpost.transit.rules.warnings import WarningCode

_log = logging.getLogger(__name__)

# A tuple, because user tools may return unhashable codes.
_WARNING_CODES = tuple(WarningCode)

_DISK_FULL = "The server's disk is full; try again when it has space"


async def answer(
    tools: Mapping[str, PublishedTool],
    name: str,
    raw: object,
    *,
    user: str | None,
    caller: str = "",
    report: ReportProgress = ignore_progress,
    include: Collection[str] = (),
) -> Answer:
    """Answer one call to a named tool, within the size limits of rule A11; never raise an ``Exception``.

    ``include`` names the optional parts to return, such as ``geometry``.
    If the name is unknown, return an error in the plan_trip contract's envelope.
    """
    tool = tools.get(name)
    if tool is None:
        with measure_call(instruments.OTHER) as operation:
            operation.fail(ToolNotFound.__name__)
        unknown = ToolNotFound(clip(name))
        unknown = unknown.with_message(unknown.message, hint=f"The tools are: {', '.join(tools)}")
        return new_failure(unknown, Contract.PLAN_TRIP, new_correlation_id(user, name, raw))
    try:
        with measure_call(name) as operation:
            result = await tool.answer(raw, user=user, caller=caller, report=report, include=include)
            record_outcome(operation, tool, result, user or caller)
        bounded = bound_answer(result, tool.definition)
        if bounded is not result:
            instruments.SHORTENED_ANSWERS.add(1, {instruments.TOOL: name})
        for code in _list_warning_codes(bounded.body, tool.definition):
            instruments.WARNINGS.add(1, {instruments.TOOL: name, "fingerpost.warning.code": code})
        return bounded
    except Exception as failure:  # noqa: BLE001  (an error boundary: callers get no traceback)
        correlation_id = new_correlation_id(user, name, raw)
        text = redact_environment(traceback.format_exc())
        fields = {"tool": name, "caller": hash_caller(user or caller), "correlation_id": correlation_id}
        _log.error("tool=%s correlationId=%s failed\n%s", name, correlation_id, text, extra={"call": fields})
        # Writing compiled kernels can also fail because the disk is full.
        is_disk_full = isinstance(failure, OSError) and failure.errno in (errno.ENOSPC, errno.EDQUOT)
        error = StorageUnavailable(_DISK_FULL) if is_disk_full else new_internal_error(correlation_id)
        return bound_answer(tool.fail(error, correlation_id, raw), tool.definition)


def record_outcome(operation: instruments.Measurement, tool: PublishedTool, result: Answer, caller: str) -> None:
    # An answer can report a failure without a ToolError.
    outcome = "failed" if result.is_error else "ok"
    if result.error is not None:
        outcome = find_error_code(result.error, tool.definition.contract)
    if result.is_error:
        operation.fail(outcome)
    fields = {
        "tool": tool.name,
        "caller": hash_caller(caller),
        "outcome": outcome,
        "correlation_id": result.correlation_id,
        "duration_ms": round(1000 * operation.elapsed_s),
        "trace_id": operation.trace_id,
    }
    _log.info(
        "call tool=%s correlationId=%s outcome=%s", tool.name, result.correlation_id, outcome, extra={"call": fields}
    )


def measure_call(tool: str) -> instruments.Measurement:
    name, attributes = f"execute_tool {tool}", {instruments.TOOL: tool}
    more = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "function"}
    return instruments.Measurement(name, attributes, instruments.TOOL_CALL_DURATION, span_attributes=more)


def _list_warning_codes(body: Mapping[str, Any], tool: ToolDefinition) -> list[str]:
    """Return the codes of a body's warnings; unknown codes, which user tools may return, become OTHER."""
    warnings: Any = body
    for key in tool.warnings_path:
        warnings = warnings.get(key) if isinstance(warnings, Mapping) else None
    entries = warnings if isinstance(warnings, list) else []
    codes = [warning.get("code") for warning in entries if isinstance(warning, Mapping)]
    return [code if code in _WARNING_CODES else instruments.OTHER for code in codes]
