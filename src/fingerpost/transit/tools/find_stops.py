"""The find_stops tool: stops near a coordinate (rule C3)."""

from typing import Annotated, NotRequired

from pydantic import Field

from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import Call, Output, PublishedTool, ToolDefinition, ToolReply
from fingerpost.contract.wire import WholeNumber, WireDict, WireModel, omit_none
from fingerpost.transit.model.itinerary import NearbyStop
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.networks.order import list_networks_at
from fingerpost.transit.networks.querying import Deadline, list_problems, try_in_order
from fingerpost.transit.places.candidates import format_count_of_shown
from fingerpost.transit.port import Networks
from fingerpost.transit.rules.modes import TripMode, to_trip_mode
from fingerpost.transit.rules.name_matching import plain
from fingerpost.transit.rules.warnings import WarningCode, list_stated
from fingerpost.transit.tools import shapes
from fingerpost.transit.tools.report import join_warnings
from fingerpost.transit.tools.wording import format_count, list_footer_lines


class FindStopsInput(WireModel):
    coordinate: Annotated[shapes.LatLon, Field(description="the center, WGS84")]
    radius: Annotated[WholeNumber, Field(ge=1, le=3000, description="meters")] = 500
    max_results: Annotated[WholeNumber, Field(ge=1, le=50)] = 10
    text_filter: Annotated[str | None, Field(max_length=200, description="part of a stop's name")] = None
    language: shapes.Language = "en"
    include_modes: Annotated[
        list[TripMode] | None, Field(min_length=1, max_length=9, description="only stops with these modes")
    ] = None


class WireNearbyStop(WireDict):
    id: str
    name: Annotated[str, Field(min_length=1)]
    coordinate: shapes.WireCoordinate
    distance: int
    modes: list[TripMode]


class FindStopsMeta(shapes.Meta):
    whyEmpty: NotRequired[str]


class FindStopsOutput(shapes.CorrelatedAnswer):
    stops: list[WireNearbyStop]
    meta: FindStopsMeta


class FindStops(PublishedTool):
    definition = ToolDefinition(
        name="find_stops",
        title="Stops nearby",
        description="List stops near a coordinate, nearest first. To find a stop by name, use findAddressOrStop.",
        contract=Contract.BOARD,
        input_model=FindStopsInput,
        outputs=(Output(FindStopsOutput, (("stops",),), "Use a smaller radius, or a textFilter."),),
    )

    def __init__(self, networks: Networks) -> None:
        self._networks = networks

    async def handle(self, arguments: FindStopsInput, call: Call) -> ToolReply:
        centre = arguments.coordinate.to_coordinate()
        opened = await self._networks.open()
        capable = list_networks_at(opened.answering, centre, Ability.STOPS, opened.problems)
        outcome = await try_in_order(
            capable,
            lambda network: network.list_stops_near(centre, arguments.radius, language=arguments.language),
            Deadline(),
        )
        near = outcome.value
        matching = sorted(
            (stop for stop in near.stops if _matches_filters(stop, arguments)),
            key=lambda stop: (round(stop.distance_m), stop.stop.id or ""),
        )
        shown = matching[: arguments.max_results]
        more = f"{len(matching)} stops are nearby; the nearest {format_count_of_shown(len(shown))}."
        cut = list_stated((WarningCode.TRUNCATED_RESULTS, more if len(matching) > len(shown) else None))
        warnings = join_warnings([*list_problems(opened), *outcome.warnings, *cut], near.provenance)
        ids = [stop.stop.id or "" for stop in shown]
        meta = shapes.serialize_meta(near.provenance, near.provenance.zone, ids=ids)
        excluded = "" if shown or not near.stops else format_count(len(near.stops), "stop")
        why = excluded and f"The textFilter and includeModes exclude {excluded} within {arguments.radius} m."
        body: FindStopsOutput = {
            "stops": [
                {
                    "id": stop.stop.id or "",
                    "name": stop.stop.name,
                    "coordinate": shapes.serialize_coordinate(stop.stop.coordinate),
                    "distance": round(stop.distance_m),
                    "modes": _list_modes(stop),
                }
                for stop in shown
            ],
            **shapes.serialize_warnings(warnings),
            "correlationId": call.correlation_id,
            "meta": omit_none(FindStopsMeta, {**meta, "whyEmpty": why or None}),
        }
        return ToolReply(body, describe_stops(body))


def describe_stops(answer: FindStopsOutput) -> str:
    lines = [
        f"{stop['name']} ({stop['id']}), {stop['distance']} m, {', '.join(stop['modes']) or 'no service'}, "
        f"at {stop['coordinate']['lat']},{stop['coordinate']['lon']}"
        for stop in answer["stops"]
    ] or [" ".join(filter(None, ["No stops found.", answer["meta"].get("whyEmpty")]))]
    return "\n".join(lines + list_footer_lines(answer, answer["meta"]))


def _list_modes(stop: NearbyStop) -> list[TripMode]:
    return sorted({to_trip_mode(mode) for mode in stop.modes})


def _matches_filters(stop: NearbyStop, arguments: FindStopsInput) -> bool:
    if arguments.text_filter and plain(arguments.text_filter) not in plain(stop.stop.name):
        return False
    return arguments.include_modes is None or not set(_list_modes(stop)).isdisjoint(arguments.include_modes)
