"""Render errors in each contract's envelope (rule A5)."""

import math
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from fingerpost import errors
from fingerpost.contract.tool import failure_response
from fingerpost.runtime.text_table import read_text_table

# The error details that appear at the top level of the plan-step contract's response.
_STEP_DETAILS = ("missing", "source", "available_tools", "warning")

# Maximum number of transit lines listed for a candidate.
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
    """Return a phrase that distinguishes a candidate from the others; empty if nothing does."""
    lines = candidate.get("lines", ())
    more = f" and {len(lines) - MAX_LINES_IN_TEXT} more" if len(lines) > MAX_LINES_IN_TEXT else ""
    parts = [f"lines {' '.join(lines[:MAX_LINES_IN_TEXT])}{more}"] if lines else []
    for key, template in _DISTINCTIONS.items():
        if key in candidate:
            value = candidate[key]
            parts.append(template.format(", ".join(value) if key == "modes" else value))
    return ", ".join(parts)


class Contract(StrEnum):
    """The contract whose envelope reports a tool's errors; the value is the contract's name."""

    PLAN_TRIP = "plan_trip"
    BOARD = "get_departures"
    STEP = "plan-step"
    LOOKUP = "lookup"
    LONDON = "planJourney"


class _Codes(NamedTuple):
    """An error's code in each contract, and its category in the lookup contract (rule A5)."""

    plan_trip: str
    board: str
    category: str
    lookup: str
    london: str
    step: str


_OK = "OK"
_ERROR_CODES = {
    getattr(errors, name): _Codes(*codes)
    for name, *codes in read_text_table(Path(__file__).with_name("error_codes.txt"), 7)
}


def find_error_code(error: errors.ToolError, contract: Contract) -> str:
    """Return an error's code in a contract.

    In the lookup contract, if ``details["service"]`` is ``geocoding``, ROUTING codes become GEOCODING codes, and
    ``details["missing"]`` distinguishes a missing key from a refused one.
    """
    row = _find_codes(error)
    if contract is Contract.LOOKUP:
        if row.lookup.startswith("ROUTING_") and error.details.get("service") == "geocoding":
            return row.lookup.replace("ROUTING_", "GEOCODING_")
        if isinstance(error, errors.SourceKeyRefused) and error.details.get("missing"):
            return "MISSING_API_KEY"
        return row.lookup
    return str(getattr(row, contract.name.lower()))


def format_hint(error: errors.ToolError) -> str | None:
    """Return an error's hint, followed by the attribution of any candidates."""
    attribution = error.details.get("attribution")
    return f"{error.hint}. Data: {'; '.join(attribution)}" if attribution else error.hint


def find_retry_after_s(error: errors.ToolError) -> int | None:
    """Return the seconds to wait before a retry, rounded up, or None if unknown."""
    return math.ceil(max(0.0, error.retry_after_s)) if isinstance(error, errors.SourceLimited) else None


def render_error(
    error: errors.ToolError,
    contract: Contract,
    correlation_id: str,
    *,
    tool: str = "",
    query_type: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the JSON-ready body of a failure in a contract's envelope.

    Only the plan-step contract's response echoes ``query_type`` (default: the tool's name) and ``parameters``.
    The plan-step, lookup and planJourney contracts have no field for the correlation id, which is in logs and
    protocol metadata.
    """
    if contract is Contract.LOOKUP:
        return {"error": _build_lookup_error(error)}
    if contract is Contract.LONDON:
        return _build_london_body(error)
    if contract is Contract.STEP:
        kind = "warning" if isinstance(error, errors.DataNotFound) else "error"
        query_type = tool if query_type is None else query_type
        response = failure_response(
            tool, query_type, parameters or {}, error.message, kind, build_step_fields(error, contract)
        )
        return response | {name: error.details[name] for name in _STEP_DETAILS if name in error.details}
    body: dict[str, Any] = {"code": find_error_code(error, contract), "message": error.message}
    if (hint := format_hint(error)) is not None:
        body["hint"] = hint
    body["correlationId"] = correlation_id
    if (retry_after := find_retry_after_s(error)) is not None:
        body["retryAfter"] = retry_after
    if isinstance(error, errors.PlaceAmbiguous):
        body["candidates"] = list(error.details.get("candidates", ()))
    return {"error": body}


def new_internal_error(correlation_id: str, component: str = "fingerpost") -> errors.ToolError:
    """Return the error that reports an unexpected exception in ``component``."""
    return errors.ToolError(
        f"Internal error in {component}; your call did not cause it (correlation id {correlation_id})",
        hint="Try again; if it fails again, report it with the correlation id",
    )


def build_step_fields(error: errors.ToolError, contract: Contract) -> dict[str, Any]:
    """Return the top-level fields of a failure in the plan-step contract's standard response (rule F2)."""
    return {
        "error_code": find_error_code(error, contract),
        "hint": format_hint(error),
        "retryable": error.retryable,
        "retry_after": find_retry_after_s(error),
        "candidates": list(error.details.get("candidates", ())) if isinstance(error, errors.PlaceAmbiguous) else None,
    }


def format_error_text(error: errors.ToolError, contract: Contract) -> str:
    """Return the text of a failure: its code, message and hint, and any candidates and source."""
    text = f"{find_error_code(error, contract)}: {_format_error(error)}"
    source = error.details.get("source") if contract is Contract.STEP else None
    return f"{text}\n{format_source(source)}" if isinstance(source, Mapping) else text


def format_source(source: Mapping[str, Any]) -> str:
    """Return the last line of an answer's text: the source of its figures and how current they are."""
    note = f" {source['note']}." if source.get("note") else ""
    retrieved = f", retrieved {source['retrieved_at']}" if source.get("retrieved_at") else ""
    return f"Source: SEC filings, {source['dataset']}, filed up to {source['complete_through']}{retrieved}.{note}"


def _find_codes(error: errors.ToolError) -> _Codes:
    return next(_ERROR_CODES[base] for base in type(error).__mro__ if base in _ERROR_CODES)


def _build_lookup_error(error: errors.ToolError) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "category": _find_codes(error).category,
        "code": find_error_code(error, Contract.LOOKUP),
        "message": error.message,
    }
    details: dict[str, Any] = {}
    if isinstance(error, errors.PlaceAmbiguous):
        # The details are this contract's DisambiguationSet and the ambiguous side (rule A5).
        details = dict(error.details)
        if "resolved" in details:
            details["candidates"] = details.pop("resolved")
    elif isinstance(error, errors.ParameterError):
        details = {key: error.details[key] for key in ("side", "field", "errors") if key in error.details}
    elif isinstance(error, errors.SourceLimited):
        details = {"retryAfter": find_retry_after_s(error)}
    if details:
        payload["details"] = details
    if (hint := format_hint(error)) is not None:
        payload["recommendation"] = hint
    return payload


def _build_london_body(error: errors.ToolError) -> dict[str, Any]:
    code = find_error_code(error, Contract.LONDON)
    body: dict[str, Any] = {
        "success": code == _OK,
        "code": code,
        # The message names the places, because suggestions have no names (rule A10).
        "message": _format_error(error),
        "topJourneys": [] if code == _OK else None,
        "fromLocationDisambiguation": None,
        "toLocationDisambiguation": None,
    }
    if isinstance(error, errors.PlaceAmbiguous):
        # The list for an unambiguous side is empty (rule E1).
        body["fromLocationDisambiguation"], body["toLocationDisambiguation"] = [], []
        for side in _list_ambiguous_sides(error):
            is_destination = side.get("side") in ("to", "destination")
            body["toLocationDisambiguation" if is_destination else "fromLocationDisambiguation"] = [
                _build_suggestion(candidate) for candidate in side.get("candidates", ())
            ]
    return body


def _build_suggestion(candidate: Mapping[str, Any]) -> dict[str, Any]:
    quality = candidate.get("matchQuality")
    if quality is None and "confidenceScore" in candidate:
        # TfL's scale is 0 to 1000.
        quality = round(1000 * candidate["confidenceScore"])
    return {"parameterValue": candidate["token"], **({} if quality is None else {"matchQuality": quality})}


def _list_ambiguous_sides(error: errors.PlaceAmbiguous) -> list[Mapping[str, Any]]:
    other = error.details.get("other")
    return [error.details] if other is None else [error.details, other]


def _format_error(error: errors.ToolError) -> str:
    parts = [errors.as_sentence(text) for text in (error.message, format_hint(error)) if text is not None]
    if (retry_after := find_retry_after_s(error)) is not None:
        parts.append(f"Wait {retry_after} s before the next call.")
    if isinstance(error, errors.PlaceAmbiguous):
        sides = _list_ambiguous_sides(error)
        for side in sides:
            if listed := "; ".join(map(_format_candidate, side.get("candidates", ()))):
                suffix = f" for {side.get('side')}" if len(sides) > 1 else ""
                parts.append(f"Candidates{suffix}: {listed}.")
    return " ".join(parts)


def _format_candidate(candidate: Mapping[str, Any]) -> str:
    position = candidate.get("coordinate")
    attributes = [
        str(candidate.get("token")),
        candidate.get("locality"),
        format_distinction(candidate),
        f"at {position['lat']},{position['lon']}" if isinstance(position, Mapping) else None,
        f"score {candidate['confidenceScore']}" if "confidenceScore" in candidate else None,
    ]
    return f"{candidate.get('name', '?')} ({', '.join(filter(None, attributes))})"
