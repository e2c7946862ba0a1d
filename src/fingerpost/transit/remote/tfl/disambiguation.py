"""What TfL could not tell of a trip's ends (HTTP 300), as errors that say how to go on (rules E1, E2)."""

from collections.abc import Mapping
from typing import Any

from fingerpost.errors import PlaceAmbiguous, PlaceUnknown
from fingerpost.transit.remote.tfl.journey_question import JourneyQuestion
from fingerpost.transit.remote.tfl.shapes import DisambiguationResult, EndStatus, Option

MOST_SUGGESTIONS = 5
_UNKNOWN = "notidentified"
_HINT = "Send the parameterValue of the place that is meant instead"
_UNKNOWN_HINT = "Check the spelling, or send a postcode, a stop code, or lat,lon"


def explain(
    told: DisambiguationResult, question: JourneyQuestion, sides: tuple[str, str]
) -> PlaceAmbiguous | PlaceUnknown:
    """Return the error of ends that TfL could not tell; ``sides`` are what the caller calls them."""
    statuses = (told.from_location_disambiguation, told.to_location_disambiguation)
    ends = list(zip(sides, (question.origin, question.destination), statuses, strict=True))
    for side, text, status in ends:
        if status.match_status.lower() == _UNKNOWN:
            return new_unknown(text, side)
    unclear = [_show_end(side, text, status) for side, text, status in ends if _list_usable(status)]
    if not unclear:
        return PlaceUnknown("TfL could not tell the ends of the trip, and offers no choices", hint=_UNKNOWN_HINT)
    details, *others = unclear
    if others:
        details = {**details, "other": others[0]}
    which = " and ".join(f"{each['side']} '{each['text']}'" for each in unclear)
    return PlaceAmbiguous(f"TfL is not certain which place is meant by {which}", details, hint=_HINT)


def new_unknown(text: str, side: str) -> PlaceUnknown:
    """Return the error of an end of which TfL knows no place."""
    return PlaceUnknown(f"TfL knows no place '{text}' ({side})", {"field": side, "side": side}, hint=_UNKNOWN_HINT)


def _show_end(side: str, text: str, status: EndStatus) -> dict[str, Any]:
    usable = _list_usable(status)
    return {
        "side": side,
        "text": text,
        "candidates": [_show(option) for option in usable[:MOST_SUGGESTIONS]],
        "totalCandidatesFound": len(usable),
    }


def _list_usable(status: EndStatus) -> list[Option]:
    """Return the options that can be sent back, in TfL's order of quality; those without one stand last."""
    usable = [option for option in status.disambiguation_options if (option.parameter_value or "").strip()]
    return sorted(usable, key=lambda option: -1 if option.match_quality is None else option.match_quality, reverse=True)


def _show(option: Option) -> Mapping[str, Any]:
    shown: dict[str, Any] = {"token": option.parameter_value, "name": option.parameter_value}
    if option.match_quality is not None:
        shown["matchQuality"] = option.match_quality
    place = option.place
    if place is None:
        return shown
    if place.common_name:
        shown["name"] = place.common_name
    if place.modes:
        shown["modes"] = list(place.modes)
    return shown
