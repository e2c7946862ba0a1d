"""Elicitation: ask the user which of several places they mean (rule B10), in old and new protocol versions.

In new versions, the result of a call contains the elicitation. The client then repeats the call with the response and
with the request state, which holds earlier choices. In old versions, the server sends a request while the call is
waiting. The request state is not signed, because a choice has the same effect as a label in the arguments.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal, get_args

import mcp_types as types
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS, is_version_at_least
from pydantic import TypeAdapter, ValidationError

from fingerpost.contract.envelope import format_distinction
from fingerpost.contract.published_tool import Answer
from fingerpost.errors import PlaceAmbiguous

# The first protocol version that supports titled choices.
_TITLED_CHOICES_VERSION = "2025-11-25"
_PLACE = "place"
_Side = Literal["origin", "destination", "stop"]
_SIDES = get_args(_Side)
_STATE: TypeAdapter[Any] = TypeAdapter(dict[_Side, str | None])


Choices = Mapping[str, str | None]
"""The user's answers so far: the chosen token for each argument, or None if they declined to choose."""


def read_choices(params: types.CallToolRequestParams) -> Choices:
    """Parse the choices of a repeated call; ignore a malformed request state."""
    choices: dict[str, str | None] = {}
    with suppress(ValidationError):
        choices = _STATE.validate_json(params.request_state or "{}")
    for side, response in (params.input_responses or {}).items():
        if side in _SIDES and isinstance(response, types.ElicitResult):
            choices[side] = _get_token(response)
    return choices


def _get_token(response: types.ElicitResult) -> str | None:
    token = (response.content or {}).get(_PLACE)
    return token if response.action == "accept" and isinstance(token, str) else None


def apply_choices(choices: Choices, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a copy with each ambiguous text (``rawText`` in the lookup contract) replaced by the chosen token."""
    updates: dict[str, Any] = {}
    for side, token in choices.items():
        match arguments.get(side):
            case {"rawText": _, **rest} if token is not None:
                updates[side] = {"rawText": token, **rest}
            case str() | {"type": "label"} if token is not None:
                updates[side] = token
    return {**arguments, **updates}


async def elicit(
    ctx: ServerRequestContext[Any, Any], answer: Answer, choices: Choices
) -> Choices | types.InputRequiredResult | None:
    """Ask the user which place is meant; return None if the answer needs no choice or the client cannot ask.

    In new versions, return an ``InputRequiredResult``; in old versions, wait for the user's choice. Treat an error
    from the client as a refusal by the user.
    """
    error = answer.error
    if not isinstance(error, PlaceAmbiguous) or not _can_elicit(ctx):
        return None
    side: Any = error.details.get("side")
    candidates = error.details.get("candidates", ())
    if side not in _SIDES or side in choices or not candidates:
        return None
    sources = "; ".join(error.details.get("attribution", ()))
    message = f"Which place is the {side}?{f' Data: {sources}' if sources else ''}"
    names = {candidate["token"]: _format_candidate(candidate) for candidate in candidates}
    schema = _build_schema(side, names, ctx.protocol_version)
    if _is_modern_protocol(ctx):
        form = types.ElicitRequestFormParams(message=message, requested_schema=schema)
        return types.InputRequiredResult(
            input_requests={side: types.ElicitRequest(params=form)},
            request_state=json.dumps(choices, separators=(",", ":")),
        )
    try:
        response = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
    except MCPError:
        response = types.ElicitResult(action="cancel")
    return {**choices, side: _get_token(response)}


def _can_elicit(ctx: ServerRequestContext[Any, Any]) -> bool:
    capabilities = ctx.session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    # In older versions, an empty capability means that the client supports forms.
    can_show_forms = elicitation is not None and (elicitation.form is not None or elicitation.url is None)
    return can_show_forms and (_is_modern_protocol(ctx) or ctx.session.can_send_request)


def _is_modern_protocol(ctx: ServerRequestContext[Any, Any]) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def _build_schema(side: str, names: Mapping[str, str], version: str) -> dict[str, Any]:
    choice: dict[str, Any] = {"type": "string", "title": side.capitalize()}
    if is_version_at_least(version, _TITLED_CHOICES_VERSION):
        choice["oneOf"] = [{"const": token, "title": name} for token, name in names.items()]
    else:
        choice |= {"enum": [*names], "enumNames": [*names.values()]}
    return {"type": "object", "properties": {_PLACE: choice}, "required": [_PLACE]}


def _format_candidate(candidate: Mapping[str, Any]) -> str:
    distinction = format_distinction(candidate)
    return f"{candidate['name']}{f', {distinction}' if distinction else ''} ({candidate['token']})"
