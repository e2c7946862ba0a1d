"""The data of a plan: what runs, and what the timetable promised and real time took away."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from fingerpost.transit.remote.kit.wire_shapes import Several, Shape
from fingerpost.transit.remote.opentripplanner.shapes import OwnItinerary, PlanConnection

CANCELLED = "CANCELED"


def is_taken_away(
    is_ride: bool | None, state: str | None, is_live: bool | None, types: tuple[str | None, str | None]
) -> bool:
    """Whether the trip of a leg is cancelled, or skips the stop where the rider boards or alights.

    A call that real time took away has no pickup or drop-off type at all; ``types`` are those of the leg's two calls.
    """
    return bool(is_ride) and (state == CANCELLED or (bool(is_live) and None in types))


def _if_taken_away(node: Any) -> Any:
    """Return an itinerary as it came; None where real time took nothing of it away, and it tells nothing new."""
    legs = node.get("legs") if isinstance(node, dict) else None
    if isinstance(legs, list) and not any(isinstance(leg, dict) and _is_off(leg) for leg in legs):
        return None
    return node


def _is_off(leg: dict[str, Any]) -> bool:
    types = (leg.get("pickupType"), leg.get("dropoffType"))
    return is_taken_away(leg.get("transitLeg"), leg.get("realtimeState"), leg.get("realTime"), types)


class PromisedEdge(Shape):
    """An itinerary of the timetable; most run as promised, and reading those would take half the time of a plan."""

    node: Annotated[OwnItinerary | None, BeforeValidator(_if_taken_away)] = None


class Promised(Shape):
    """One page of what the timetable promised."""

    edges: Several[PromisedEdge] = ()


class PlanData(Shape):
    """What runs, and what does not although it was promised."""

    live: PlanConnection | None = None
    promised: Promised | None = None
