"""The error boundary: an unexpected exception becomes an envelope for the caller and a traceback in the log."""

import errno
import logging
import traceback
from collections.abc import Collection, Mapping
from typing import Any

from fingerpost import clock
from fingerpost.apps.logs import redact
from fingerpost.contract.envelope import Contract, code_of, unexpected
from fingerpost.contract.identity import new_correlation_id
from fingerpost.contract.published_tool import PublishedTool, new_failure
from fingerpost.contract.size_bounds import bound_answer
from fingerpost.contract.tool_definition import Answer, ReportProgress, ToolDefinition, ignore_progress
from fingerpost.errors import StorageUnavailable, ToolNotFound
from fingerpost.runtime.instruments import (
    OTHER,
    SHORTENED_ANSWERS,
    TOOL,
    TOOL_CALL_DURATION,
    WARNINGS,
    Measured,
    Measuring,
    measured,
)
from fingerpost.transit.rules.warnings import WarningCode

_log = logging.getLogger(__name__)

_OK = "ok"
# The outcome of a call whose answer reports a failure without an error.
_FAILED = "failed"
_WARNING_CODES = frozenset(WarningCode)

# A longer name is no tool's, and its caller knows it.
_MAX_NAME_CHARS = 80
_FULL = "The disk of the server is full; try again when it has space"


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
    """Answer one call of a tool by its name, within the bounds of rule A11; never raises an ``Exception``.

    ``include`` names the optional parts that the caller asks for, such as ``geometry``.
    A name that no tool bears is answered in the plan_trip contract's envelope: the caller can do something about it.
    """
    tool = tools.get(name)
    if tool is None:
        with measuring_call(OTHER) as operation:
            operation.fail(ToolNotFound.__name__)
            return _unknown(tools, name, raw, user)
    try:
        with measuring_call(name) as operation:
            answered = await tool.answer(raw, user=user, caller=caller, report=report, include=include)
            record_outcome(operation, tool, answered)
        return _bound_and_count(answered, tool.definition)
    except Exception as raised:  # noqa: BLE001  (the one place: no caller may be sent a traceback)
        correlation_id = new_correlation_id(clock.find_fixed(), user, name, raw)
        _log.error("tool=%s correlationId=%s failed\n%s", name, correlation_id, redact(traceback.format_exc()))
        # As when a compiled kernel is written.
        is_disk_full = isinstance(raised, OSError) and raised.errno in (errno.ENOSPC, errno.EDQUOT)
        error = StorageUnavailable(_FULL) if is_disk_full else unexpected(correlation_id)
        return bound_answer(tool.fail(error, correlation_id, raw), tool.definition)


def record_outcome(operation: Measured, tool: PublishedTool, answered: Answer) -> None:
    outcome = _FAILED if answered.is_error else _OK
    if answered.error is not None:
        outcome = code_of(answered.error, tool.definition.contract)
    if answered.is_error:
        operation.fail(outcome)
    _log.info("call tool=%s correlationId=%s outcome=%s", tool.name, answered.correlation_id, outcome)


def measuring_call(tool: str) -> Measuring:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "function"}
    return measured(f"execute_tool {tool}", {TOOL: tool}, TOOL_CALL_DURATION, also=attributes)


def _bound_and_count(answer: Answer, tool: ToolDefinition) -> Answer:
    bounded = bound_answer(answer, tool)
    if bounded is not answer:
        SHORTENED_ANSWERS.add(1, {TOOL: tool.name})
    for code in _list_warning_codes(bounded.body, tool):
        WARNINGS.add(1, {TOOL: tool.name, "fingerpost.warning.code": code})
    return bounded


def _list_warning_codes(body: Mapping[str, Any], tool: ToolDefinition) -> list[str]:
    """Return the codes of a body's warnings; unknown codes, of others' tools, as one."""
    warnings: Any = body
    for key in tool.warnings_path:
        warnings = warnings.get(key) if isinstance(warnings, Mapping) else None
    codes = [warning.get("code") for warning in warnings or () if isinstance(warning, Mapping)]
    return [code if code in _WARNING_CODES else OTHER for code in codes]


def _unknown(tools: Mapping[str, PublishedTool], name: str, raw: object, user: str | None) -> Answer:
    error = ToolNotFound(name if len(name) <= _MAX_NAME_CHARS else f"{name[:_MAX_NAME_CHARS]}…")
    error = error.with_message(error.message, hint=f"The tools are: {', '.join(tools)}")
    correlation_id = new_correlation_id(clock.find_fixed(), user, name, raw)
    return new_failure(error, Contract.PLAN_TRIP, correlation_id)
