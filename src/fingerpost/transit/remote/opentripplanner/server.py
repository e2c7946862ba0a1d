"""Build GraphQL queries from the response models, send them to one OpenTripPlanner server, and classify its failures.

The GraphQL engine always responds with HTTP 200; errors are in the body, sometimes together with data.
"""

import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import AliasPath, BaseModel

from fingerpost import errors
from fingerpost.net.request import Fetch
from fingerpost.net.response import Response
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.remote.kit.answers import Answer, Shape, read_answer
from fingerpost.transit.remote.kit.server import Connection, shorten
from fingerpost.transit.remote.opentripplanner import shapes
from fingerpost.transit.remote.opentripplanner.digitransit import KEY_HEADER, find_region, get_deadline_s
from fingerpost.transit.remote.opentripplanner.shapes import GraphQLError, Reply

_VERSION_HINT = "OpenTripPlanner 2.7 to 2.9 are supported; after updating the server, run `fingerpost network refresh`"
_log = logging.getLogger(__name__)
_T = TypeVar("_T", bound=Shape)

LIVE_FRESH_S = 10.0
_MAX_PATH_CHARS, _MAX_PATHS = 120, 5
# The wait after a quota is exhausted.
_QUOTA_WAIT_S = 3600.0


class Server(Connection):
    def __init__(self, fetch: Fetch, record: NetworkRecord) -> None:
        super().__init__(
            fetch,
            record.url or "",
            key_header=KEY_HEADER if find_region(record.url) else "authorization",
            key=record.key,
            deadline_s=get_deadline_s(record.url),
            check_response=find_quota_error,
        )

    async def fetch(
        self,
        shape: type[_T],
        variables: Mapping[str, Any] | None = None,
        *,
        language: str | None = None,
        fresh_s: float = LIVE_FRESH_S,
    ) -> Answer[_T]:
        """Query the fields of a response model; ``variables`` must not contain nulls."""
        body = {"query": new_document(shape), **({"variables": variables} if variables else {})}

        async def read(response: Response) -> Answer[_T]:
            answer = await read_answer(Reply[shape], response)  # type: ignore[valid-type]  # known at the call
            reply: Reply[_T] = answer.data
            if reply.data is None:
                raise _new_error(response, reply.errors, has_data="data" in answer.lost)
            return replace(answer.with_data(reply.data), notes=(*_note_errors(response, reply.errors), *answer.notes))

        return await self.post(
            json.dumps(body, sort_keys=True, separators=(",", ":")).encode(),
            headers={"accept-language": language} if language else {},
            fresh_s=fresh_s,
            read=read,
        )


def find_quota_error(response: Response) -> errors.ToolError | None:
    """Return a rate-limit error for a 403 that reports an exhausted quota without a Retry-After header, or None."""
    is_quota = response.status == 403 and b"quota" in response.body[:2000].lower()
    if not is_quota or "retry-after" in response.headers:
        return None
    return errors.SourceLimited(f"{response.host} is limiting requests (HTTP 403)", retry_after_s=_QUOTA_WAIT_S)


def _new_error(
    response: Response, faults: Sequence[GraphQLError], *, has_data: bool
) -> errors.StorageUnavailable | errors.SourceChanged:
    """Return the error for a response without data, or, if ``has_data``, without a required part.

    A server that returns partial data is up, so its error is not retryable and does not open the circuit breaker.
    """
    host = response.host
    if not faults:
        returned = "a response without the requested data" if has_data else "no data"
        return errors.SourceChanged(f"{host} returned {returned}")
    text = _format_error(faults[0])
    if "TimeoutException" in faults[0].message or "timeout" in faults[0].message.lower():
        return errors.SourceTimeout(f"{host} took too long: {text}")
    if faults[0].classification in ("ValidationError", "InvalidSyntax"):
        return errors.SourceChanged(f"{host} rejected the request: {text}", hint=_VERSION_HINT)
    return errors.SourceFailed(f"{host} could not answer: {text}", retryable=not has_data)


def _note_errors(response: Response, faults: Sequence[GraphQLError]) -> tuple[str, ...]:
    if not faults:
        return ()
    _log.warning("%s returned partial data: %s", response.redacted_url, "; ".join(map(_format_error, faults)))
    paths = dict.fromkeys(".".join(str(part) for part in error.path or () if isinstance(part, str)) for error in faults)
    missing = errors.list_first([path[:_MAX_PATH_CHARS] for path in paths if path], _MAX_PATHS) or "parts of the answer"
    return (f"The server's response lacks {missing} ({_format_error(faults[0])}).",)


def _format_error(error: GraphQLError) -> str:
    return shorten(error.message) or error.classification or "no reason given"


_VARIABLES = {
    "origin": "PlanLabeledLocationInput!",
    "destination": "PlanLabeledLocationInput!",
    "dateTime": "PlanDateTimeInput!",
    "first": "Int!",
    "after": "String",
    "searchWindow": "Duration",
    "modes": "PlanModesInput",
    "preferences": "PlanPreferencesInput!",
    "withScheduled": "Boolean!",
    "scheduled": "PlanPreferencesInput!",
    "ids": "[String]!",
    "from": "Long!",
    "seconds": "Int!",
    "count": "Int!",
    "south": "Float!",
    "west": "Float!",
    "north": "Float!",
    "east": "Float!",
}
_SEARCH = "origin: $origin destination: $destination dateTime: $dateTime first: $first"
_WINDOW = "searchWindow: $searchWindow modes: $modes"
_NOWHERE = "{location: {coordinate: {latitude: 0, longitude: 0}}}"
# The GraphQL text of fields with arguments, aliases or directives.
_FIELDS = {
    (shapes.Plan, "live"): f"live: planConnection({_SEARCH} after: $after {_WINDOW} preferences: $preferences)",
    (shapes.Plan, "scheduled"): (
        f"scheduled: planConnection({_SEARCH} {_WINDOW} preferences: $scheduled) @include(if: $withScheduled)"
    ),
    (shapes.Board, "stops"): "stops(ids: $ids)",
    (shapes.BoardStop, "alerts"): "alerts(types: [STOP])",
    (shapes.BoardStop, "stoptimesWithoutPatterns"): (
        "stoptimesWithoutPatterns(startTime: $from timeRange: $seconds numberOfDepartures: $count"
        " omitNonPickups: true omitCanceled: false)"
    ),
    (shapes.BoardTrip, "alerts"): "alerts(types: [TRIP, ROUTE, AGENCY])",
    (shapes.StopsById, "stops"): "stops(ids: $ids)",
    (shapes.StopsById, "stations"): "stations(ids: $ids)",
    (shapes.StopsInBox, "stopsByBbox"): "stopsByBbox(minLat: $south, minLon: $west, maxLat: $north, maxLon: $east)",
    (shapes.Network, "plan"): f"plan: planConnection(origin: {_NOWHERE} destination: {_NOWHERE}) @include(if: false)",
}
_VARIABLE = re.compile(r"\$(\w+)")


@lru_cache(maxsize=256)
def new_document(shape: type[BaseModel]) -> str:
    """Return the GraphQL query for all fields of a model."""
    selection = _select(shape)
    used = {name: _VARIABLES[name] for name in _VARIABLE.findall(selection)}
    declarations = ", ".join(f"${name}: {kind}" for name, kind in used.items())
    return f"query {shape.__name__}{f'({declarations})' if declarations else ''} {selection}"


def _select(shape: type[BaseModel]) -> str:
    selected = []
    for field in shape.model_fields.values():
        alias = field.validation_alias
        first, *inner = map(str, alias.path) if isinstance(alias, AliasPath) else [str(field.alias)]
        model = _find_model(field.annotation)
        text = " ".join((_FIELDS.get((shape, first), first), *(f"{{ {name}" for name in inner)))
        text += f" {_select(model)}" if model is not None else ""
        selected.append(text + " }" * (text.count("{") - text.count("}")))
    return f"{{ {' '.join(selected)} }}"


def _find_model(annotation: Any) -> type[BaseModel] | None:
    """Return the model inside a field's type, such as ``X | None`` or a tuple; None for a plain value."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    models = map(_find_model, getattr(annotation, "__args__", ()))
    return next((model for model in models if model is not None), None)
