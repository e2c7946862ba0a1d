"""Request journeys from TfL, and report origins and destinations that TfL cannot resolve."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from fingerpost import clock
from fingerpost.errors import PlaceAmbiguous, PlaceUnknown, Remedy, RemedyKind, SourceFailed
from fingerpost.net.response import Response
from fingerpost.transit.model.itinerary import Optimize
from fingerpost.transit.remote.kit.answers import Answer, read_answer, read_exactly
from fingerpost.transit.remote.kit.journeys import JourneyPage, JourneyRequest, LeftOut, filter_live
from fingerpost.transit.remote.kit.places import StopIdCodec
from fingerpost.transit.remote.tfl import shapes
from fingerpost.transit.remote.tfl.itineraries import JourneyReader, TflRequest, is_placed
from fingerpost.transit.remote.tfl.server import (
    LIVE_FRESH_S,
    MULTIPLE_CHOICES,
    NOT_FOUND,
    TflClient,
    format_error,
    read_error,
)

STEP_FREE, STEP_FREE_TO_PLATFORM = "StepFreeToVehicle", "StepFreeToPlatform"
MAX_SUGGESTIONS = 5
_NOT_IDENTIFIED = "notidentified"
_UNKNOWN_HINT = "Check the spelling, or send a postcode, a stop code, or lat,lon"


def new_unresolved_error(result: shapes.DisambiguationResult, request: TflRequest) -> PlaceAmbiguous | PlaceUnknown:
    """Return the error for an origin or destination that TfL could not resolve."""
    statuses = (result.from_location_disambiguation, result.to_location_disambiguation)
    ends = list(zip(request.sides, (request.origin, request.destination), statuses, strict=True))
    for side, text, status in ends:
        if status.match_status.lower() == _NOT_IDENTIFIED:
            return new_unknown_place(text, side)
    unresolved = [
        {
            "side": side,
            "text": text,
            "candidates": [_serialize_option(option) for option in usable[:MAX_SUGGESTIONS]],
            "totalCandidatesFound": len(usable),
        }
        for side, text, status in ends
        if (usable := _list_usable(status))
    ]
    if not unresolved:
        return PlaceUnknown(
            "TfL cannot resolve the origin or destination, and offers no candidates", hint=_UNKNOWN_HINT
        )
    details, *others = unresolved
    if others:
        details = {**details, "other": others[0]}
    sides = " and ".join(f"{end['side']} '{end['text']}'" for end in unresolved)
    return PlaceAmbiguous(
        f"TfL is not certain which place is meant by {sides}", details, hint=Remedy(RemedyKind.SEND_PARAMETER_VALUE)
    )


def new_unknown_place(text: str, side: str) -> PlaceUnknown:
    return PlaceUnknown(f"TfL found no place for '{text}' ({side})", {"field": side, "side": side}, hint=_UNKNOWN_HINT)


def _list_usable(status: shapes.EndStatus) -> list[shapes.Option]:
    """Return the options that can be used in a new request, best first; those without a match quality are last."""
    usable = [option for option in status.disambiguation_options if (option.parameter_value or "").strip()]
    return sorted(usable, key=lambda option: -1 if option.match_quality is None else option.match_quality, reverse=True)


def _serialize_option(option: shapes.Option) -> Mapping[str, Any]:
    serialized = {"token": option.parameter_value, "name": option.name or option.parameter_value}
    quality = {} if option.match_quality is None else {"matchQuality": option.match_quality}
    return {**serialized, **quality, **({"modes": list(option.modes)} if option.modes else {})}


_NO_LIFTS = "TfL did not report which lifts are out of order."
_NO_JOURNEY = "no journey"
_UNKNOWN_WORDS = ("not recognised", "not found", "could not be found")
_HORIZON_DAYS = 4
_DAY_S = 86_400


_IN_PART = "TfL returns only three to five trips, so others in the window may be missing."


async def list_pages(
    server: TflClient, ids: StopIdCodec, zone: ZoneInfo, request: JourneyRequest
) -> AsyncIterator[JourneyPage]:
    query = request.query
    preference = "LeastInterchange" if query.optimize is Optimize.FEW_TRANSFERS else "LeastTime"
    tfl_request = TflRequest(
        origin=request.origin.format(6),
        destination=request.destination.format(6),
        instant=query.instant,
        arrive_by=query.arrive_by,
        preference="LeastWalking" if request.shorter_walks else preference,
        accessibility=STEP_FREE if query.step_free else None,
        ends=(query.origin, query.destination),
    )
    page = await fetch_journeys(server, ids, zone, tfl_request)
    placed = [itinerary for itinerary in page.live if is_placed(itinerary)]
    found = filter_live(placed, query, page.retrieved_at, page.notes)
    notes = (*found.notes, _IN_PART) if query.window_s is not None and found.live else found.notes
    left_out = found.left_out.union((LeftOut.UNPLACED, trip) for trip in page.live if not is_placed(trip))
    yield replace(found, notes=notes, left_out=left_out, reasons=page.reasons)


async def fetch_journeys(server: TflClient, ids: StopIdCodec, zone: ZoneInfo, request: TflRequest) -> JourneyPage:
    """Return all journeys without applying limits; raise PlaceAmbiguous or PlaceUnknown for an unresolved place."""

    async def read(response: Response) -> Answer[shapes.JourneyResult] | JourneyPage:
        if response.status == NOT_FOUND:
            reason = _explain_no_journey(read_error(response), request)
            return JourneyPage(retrieved_at=response.retrieved_at, reasons=(reason,))
        if response.status == MULTIPLE_CHOICES or b"DisambiguationResult," in response.body[:200]:
            raise new_unresolved_error((await read_exactly(shapes.DisambiguationResult, response)).data, request)
        return await read_answer(shapes.JourneyResult, response)

    answer = await server.get(
        *("Journey", "JourneyResults", request.origin, "to", request.destination),
        params=request.list_params(zone),
        fresh_s=LIVE_FRESH_S,
        accept=frozenset({MULTIPLE_CHOICES, NOT_FOUND}),
        read=read,
    )
    if isinstance(answer, JourneyPage):
        return answer
    result = answer.data
    answer.require("journey", "journeys", found=result.journeys)
    lifts = await server.find_lifts()
    reader = JourneyReader(ids, zone, result, lifts or (), request)
    messages = tuple(dict.fromkeys(" ".join(message.split()) for message in result.stop_messages if message.strip()))
    notes = (*(() if lifts is not None else (_NO_LIFTS,)), *answer.notes, *messages[:3])
    return JourneyPage(retrieved_at=answer.retrieved_at, live=tuple(reader.list_itineraries()), notes=notes)


def _explain_no_journey(error: shapes.ApiError, request: TflRequest) -> str:
    """Return why TfL found no journey; for other errors, raise PlaceUnknown (an unknown place) or SourceFailed."""
    text = format_error(error)
    lowered = text.lower()
    if _NO_JOURNEY in lowered:
        days = (request.instant - int(clock.now().timestamp())) // _DAY_S
        if days >= _HORIZON_DAYS:
            horizon = f"it plans about {_HORIZON_DAYS} days ahead"
            return f"TfL found no journey: {horizon}, and this trip is {days} days ahead"
        return f"TfL found no journey ({text})"
    if any(word in lowered for word in _UNKNOWN_WORDS):
        sides = request.sides
        for end, side in zip((request.origin, request.destination), sides, strict=True):
            if end.lower() in lowered:
                raise new_unknown_place(end, side)
        raise PlaceUnknown(f"TfL did not find {sides[0]} or {sides[1]}: {text}", {"field": sides[0]})
    raise SourceFailed(f"TfL could not plan the journey: {text}")
