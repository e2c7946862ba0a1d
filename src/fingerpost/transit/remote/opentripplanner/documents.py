"""Build the GraphQL queries for OpenTripPlanner from the response models."""

import re
from functools import lru_cache
from typing import Any

from pydantic import AliasPath, BaseModel

from fingerpost.transit.remote.opentripplanner import shapes

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
# The GraphQL text of fields with arguments, aliases or directives.
_FIELDS = {
    (shapes.Plan, "live"): f"live: planConnection({_SEARCH} after: $after {_WINDOW} preferences: $preferences)",
    (shapes.Plan, "scheduled"): (
        f"scheduled: planConnection({_SEARCH} {_WINDOW} preferences: $scheduled) @include(if: $withScheduled)"
    ),
    (shapes.FareProduct, "price"): "... on DefaultFareProduct { price",
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
    (shapes.RiderCategoryType, "__type"): '__type(name: "RiderCategory")',
}
_VARIABLE = re.compile(r"\$(\w+)")


@lru_cache(maxsize=256)
def new_document(shape: type[BaseModel], *, with_fares: bool) -> str:
    """Return the query of all fields of a shape, with or without fares."""
    selection = _select(shape, with_fares=with_fares)
    used = {name: _VARIABLES[name] for name in _VARIABLE.findall(selection)}
    declared = ", ".join(f"${name}: {kind}" for name, kind in used.items())
    return f"query {shape.__name__}{f'({declared})' if declared else ''} {selection}"


def _select(shape: type[BaseModel], *, with_fares: bool) -> str:
    selected = []
    for field in shape.model_fields.values():
        alias = field.validation_alias
        first, *inner = map(str, alias.path) if isinstance(alias, AliasPath) else [str(field.alias)]
        model = _find_model(field.annotation)
        if model is shapes.FareProductUse and not with_fares:
            continue
        text = " ".join((_FIELDS.get((shape, first), first), *(f"{{ {name}" for name in inner)))
        text += f" {_select(model, with_fares=with_fares)}" if model is not None else ""
        selected.append(text + " }" * (text.count("{") - text.count("}")))
    return f"{{ {' '.join(selected)} }}"


def _find_model(annotation: Any) -> type[BaseModel] | None:
    """Return the shape that a field's type leads to, through optionals and tuples; None for a plain value."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = map(_find_model, getattr(annotation, "__args__", ()))
    return next((model for model in found if model is not None), None)
