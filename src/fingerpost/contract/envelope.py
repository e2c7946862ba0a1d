"""Render errors in each contract's envelope (rule A5)."""

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from fingerpost.contract.filings import format_source
from fingerpost.contract.tool import failure_response
from fingerpost.errors import (
    DataNotFound,
    OutsideCalendar,
    ParameterError,
    PlaceAmbiguous,
    PlaceUnknown,
    QueryTypeUnsupported,
    RegionUnsupported,
    SourceChanged,
    SourceFailed,
    SourceKeyRefused,
    SourceLimited,
    SourceTimeout,
    SourceUnreachable,
    StorageUnavailable,
    ToolError,
    ToolNotFound,
    as_sentence,
)

# The details of an error that the plan-step contract's response carries at its top.
_STEP_DETAILS = ("missing", "source", "available_tools", "warning")

# The largest number of a candidate's lines in a text.
MAX_LINES_IN_TEXT = 8
_DISTINCTIONS = {
    "modes": "by {}",
    "direction": "towards {}",
    "district": "{}",
    "network": "in {}",
    "distance": "{} m away",
    "guess": "{}",
}


def format_distinction(candidate: Mapping[str, Any]) -> str:
    """Return the distinctions of a candidate in words; empty if unknown."""
    lines = candidate.get("lines", ())
    shown, more = lines[:MAX_LINES_IN_TEXT], len(lines) - MAX_LINES_IN_TEXT
    parts = [f"lines {' '.join(shown)}" + (f" and {more} more" if more > 0 else "")] if shown else []
    for key, words in _DISTINCTIONS.items():
        if key in candidate:
            value = candidate[key]
            parts.append(words.format(", ".join(value) if key == "modes" else value))
    return ", ".join(parts)


class Contract(StrEnum):
    """The contract whose envelope a tool's errors are rendered in; the value is the contract's name."""

    PLAN_TRIP = "plan_trip"
    BOARD = "get_departures"
    STEP = "plan-step"
    LOOKUP = "lookup"
    LONDON = "planJourney"


class _Codes(NamedTuple):
    """One row of rule A5's table: a code for each contract, by its name; the lookup contract has a category too."""

    plan_trip: str
    board: str
    category: str
    lookup: str
    london: str
    step: str


_OK = "OK"
_INVALID = _Codes(
    "validation-error", "validation-error", "VALIDATION", "INVALID_PARAMETER", "VALIDATION_ERROR", "ParameterError"
)
_NOTHING = _Codes("no-itinerary-found", "validation-error", "NO_RESULTS", "NO_MATCH", _OK, "DataNotFound")
_UPSTREAM = _Codes(
    "upstream-error", "upstream-error", "UPSTREAM_FAILURE", "ROUTING_FAILED", "UPSTREAM_ERROR", "StorageUnavailable"
)
_OURS = _Codes("internal-error", "internal-error", "INTERNAL", "UNEXPECTED", "INTERNAL_ERROR", "unknown_error")

_TABLE: dict[type[BaseException], _Codes] = {
    ParameterError: _INVALID,
    PlaceUnknown: _INVALID._replace(category="NOT_FOUND", lookup="STOP_NOT_FOUND"),
    QueryTypeUnsupported: _INVALID._replace(lookup="INVALID_QUERY_TYPE", step="QueryTypeUnsupported"),
    ToolNotFound: _INVALID._replace(lookup="INVALID_TOOL", step="ToolNotFound"),
    PlaceAmbiguous: _INVALID._replace(
        category="DISAMBIGUATION_REQUIRED", lookup="MULTIPLE_CANDIDATES", london="DISAMBIGUATION_REQUIRED"
    ),
    RegionUnsupported: _INVALID._replace(plan_trip="unsupported-region", category="NO_RESULTS", lookup="OUT_OF_BOUNDS"),
    DataNotFound: _NOTHING,
    OutsideCalendar: _NOTHING._replace(lookup="NO_SERVICE"),
    StorageUnavailable: _UPSTREAM,
    SourceFailed: _UPSTREAM,
    SourceChanged: _UPSTREAM._replace(lookup="ROUTING_UNREADABLE"),
    SourceLimited: _UPSTREAM._replace(
        plan_trip="rate-limited",
        board="rate-limited",
        category="THROTTLED",
        lookup="RATE_LIMITED",
        london="RATE_LIMIT_EXCEEDED",
    ),
    SourceTimeout: _UPSTREAM._replace(
        plan_trip="upstream-timeout",
        board="upstream-timeout",
        lookup="UPSTREAM_TIMEOUT",
        london="UPSTREAM_TIMEOUT",
    ),
    SourceUnreachable: _UPSTREAM._replace(plan_trip="network-error", lookup="NETWORK_ERROR"),
    SourceKeyRefused: _UPSTREAM._replace(category="AUTH_FAILURE", lookup="INVALID_API_KEY"),
    # FeedUnusable, SettingsInvalid and BrokenContract are for the operator or us to fix.
    ToolError: _OURS,
}


def code_of(error: ToolError, contract: Contract) -> str:
    """Return the code that a contract gives to an error.

    A lookup error whose ``details["service"]`` is ``geocoding`` carries a GEOCODING code,
    a refused key with ``details["missing"]`` true is a missing one.
    """
    row = _row(error)
    if contract is Contract.LOOKUP:
        if row.lookup.startswith("ROUTING_") and error.details.get("service") == "geocoding":
            return row.lookup.replace("ROUTING_", "GEOCODING_")
        if isinstance(error, SourceKeyRefused) and error.details.get("missing"):
            return "MISSING_API_KEY"
        return row.lookup
    return str(getattr(row, contract.name.lower()))


def is_failure(error: ToolError, contract: Contract) -> bool:
    """Whether the envelope is an error: the planJourney contract answers "nothing found" with success (rule A5)."""
    return not (contract is Contract.LONDON and _row(error).london == _OK)


def hint_of(error: ToolError) -> str | None:
    """Return the hint, with the attribution of the candidates."""
    attribution = error.details.get("attribution")
    return f"{error.hint}. Data: {'; '.join(attribution)}" if attribution else error.hint


def retry_after_of(error: ToolError) -> int | None:
    """Return the whole seconds to wait, rounded up, if they are known."""
    return math.ceil(max(0.0, error.retry_after_s)) if isinstance(error, SourceLimited) else None


def render_error(
    error: ToolError,
    contract: Contract,
    correlation_id: str,
    *,
    tool: str = "",
    query_type: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the JSON-ready body of a failure in a contract's envelope.

    The plan-step contract's response alone echoes ``query_type``, which is the tool's name if None, and ``parameters``.
    The plan-step, lookup and planJourney contracts have no field for the correlation id; logs and protocol metadata
    contain it.
    """
    if contract is Contract.LOOKUP:
        return {"error": _error_payload(error)}
    if contract is Contract.LONDON:
        return _london_body(error)
    if contract is Contract.STEP:
        kind = "warning" if isinstance(error, DataNotFound) else "error"
        query_type = tool if query_type is None else query_type
        response = failure_response(
            tool, query_type, parameters or {}, error.message, kind, step_fields(error, contract)
        )
        return response | {name: error.details[name] for name in _STEP_DETAILS if name in error.details}
    body: dict[str, Any] = {"code": code_of(error, contract), "message": error.message}
    if (hint := hint_of(error)) is not None:
        body["hint"] = hint
    body["correlationId"] = correlation_id
    if (retry_after := retry_after_of(error)) is not None:
        body["retryAfter"] = retry_after
    if isinstance(error, PlaceAmbiguous):
        body["candidates"] = list(error.details.get("candidates", ()))
    return {"error": body}


def unexpected(correlation_id: str, where: str = "fingerpost") -> ToolError:
    """Return the error of an unexpected exception in the component ``where``."""
    return ToolError(
        f"Internal error in {where}; your call did not cause it (correlation id {correlation_id})",
        hint="Try again; if it fails again, report it with the correlation id",
    )


def step_fields(error: ToolError, contract: Contract) -> dict[str, Any]:
    """Return the top-level fields of a failure in the plan-step contract's standard response (rule F2)."""
    return {
        "error_code": code_of(error, contract),
        "hint": hint_of(error),
        "retryable": error.retryable,
        "retry_after": retry_after_of(error),
        "candidates": list(error.details.get("candidates", ())) if isinstance(error, PlaceAmbiguous) else None,
    }


def text_of_error(error: ToolError, contract: Contract) -> str:
    """Return the text of a failure: code, sentence and hint, and candidates and source if it has any."""
    text = f"{code_of(error, contract)}: {_format_error(error)}"
    source = error.details.get("source") if contract is Contract.STEP else None
    return f"{text}\n{format_source(source)}" if isinstance(source, Mapping) else text


def _row(error: ToolError) -> _Codes:
    return next(_TABLE[branch] for branch in type(error).__mro__ if branch in _TABLE)


def _error_payload(error: ToolError) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "category": _row(error).category,
        "code": code_of(error, Contract.LOOKUP),
        "message": error.message,
    }
    details: dict[str, Any] = {}
    if isinstance(error, PlaceAmbiguous):
        # The DisambiguationSet of this contract, and the side (rule A5).
        details = dict(error.details)
        if "resolved" in details:
            details["candidates"] = details.pop("resolved")
    elif isinstance(error, ParameterError):
        details = {key: error.details[key] for key in ("side", "field", "errors") if key in error.details}
    elif isinstance(error, SourceLimited):
        details = {"retryAfter": retry_after_of(error)}
    if details:
        payload["details"] = details
    if (hint := hint_of(error)) is not None:
        payload["recommendation"] = hint
    return payload


def _london_body(error: ToolError) -> dict[str, Any]:
    code = code_of(error, Contract.LONDON)
    body: dict[str, Any] = {
        "success": code == _OK,
        "code": code,
        # Rule A10: suggestions have no names, so the message names the places.
        "message": _format_error(error),
        "topJourneys": [] if code == _OK else None,
        "fromLocationDisambiguation": None,
        "toLocationDisambiguation": None,
    }
    if isinstance(error, PlaceAmbiguous):
        # Rule E1: the side that was clear is an empty list.
        body["fromLocationDisambiguation"], body["toLocationDisambiguation"] = [], []
        for unclear in _list_unclear(error):
            is_destination = unclear.get("side") in ("to", "destination")
            body["toLocationDisambiguation" if is_destination else "fromLocationDisambiguation"] = [
                _write_suggestion(candidate) for candidate in unclear.get("candidates", ())
            ]
    return body


def _write_suggestion(candidate: Mapping[str, Any]) -> dict[str, Any]:
    quality = candidate.get("matchQuality")
    if quality is None and "confidenceScore" in candidate:
        # TfL's scale is 0 to 1000.
        quality = round(1000 * candidate["confidenceScore"])
    return {"parameterValue": candidate["token"], **({} if quality is None else {"matchQuality": quality})}


def _list_unclear(error: PlaceAmbiguous) -> list[Mapping[str, Any]]:
    other = error.details.get("other")
    return [error.details] if other is None else [error.details, other]


def _format_error(error: ToolError) -> str:
    parts = [as_sentence(text) for text in (error.message, hint_of(error)) if text is not None]
    if (retry_after := retry_after_of(error)) is not None:
        parts.append(f"Wait {retry_after} s before the next call.")
    if isinstance(error, PlaceAmbiguous):
        unclear = _list_unclear(error)
        for end in unclear:
            if listed := "; ".join(map(_format_candidate, end.get("candidates", ()))):
                side = f" for {end.get('side')}" if len(unclear) > 1 else ""
                parts.append(f"Candidates{side}: {listed}.")
    return " ".join(parts)


def _format_candidate(candidate: Mapping[str, Any]) -> str:
    at = candidate.get("coordinate")
    known = [
        str(candidate.get("token")),
        candidate.get("locality"),
        format_distinction(candidate),
        f"at {at['lat']},{at['lon']}" if isinstance(at, Mapping) else None,
        f"score {candidate['confidenceScore']}" if "confidenceScore" in candidate else None,
    ]
    return f"{candidate.get('name', '?')} ({', '.join(filter(None, known))})"
