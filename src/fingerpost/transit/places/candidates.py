"""Serialize candidate places, and build the errors for ambiguous and unknown place names (rule B10)."""

from collections.abc import Sequence
from typing import NotRequired

from fingerpost.contract.wire import Wire, WireDict, omit_none
from fingerpost.errors import PlaceAmbiguous, Remedy, RemedyKind, TextUnknown
from fingerpost.runtime.concurrency import compute
from fingerpost.transit.model.place import DEFAULT_LANGUAGE, FALLBACK_LANGUAGES, Place, PlaceMatch, PlaceTraits
from fingerpost.transit.rules.name_matching import AUTO_RESOLVE
from fingerpost.transit.rules.warnings import Warning, WarningCode, add_reasons, list_stated  # noqa: A004

# The lookup contract calls this limit maxLookupCandidates.
MAX_CANDIDATES = 5

_LOOK_UP = Remedy(RemedyKind.LOOK_UP_PLACE)


def format_count_of_shown(count: int) -> str:
    return "1 is shown" if count == 1 else f"{count} are shown"


async def new_ambiguous(
    label: str, candidates: Sequence[PlaceMatch], *, side: str, sent_as: str = "the label"
) -> PlaceAmbiguous:
    """Return the error for a label without a certain match; ``sent_as`` is the input field that accepts a token."""
    shown = candidates[:MAX_CANDIDATES]
    message = f"{side} '{label}' is ambiguous"
    remedy = Remedy(RemedyKind.USE_CANDIDATE, {"field": sent_as})
    if sent_as == "rawText":
        remedy = Remedy(RemedyKind.SEND_CANDIDATE, {"field": side})
    if len(candidates) == 1:
        message = f"{side} '{label}' has no certain match: {format_lone_candidate(shown[0])}"
        values = {"name": shown[0].place.name, "token": shown[0].place.token, "field": sent_as}
        remedy = Remedy(RemedyKind.CONFIRM_CANDIDATE, values)
    elif len(candidates) > len(shown):
        message = f"{message}; {len(candidates)} places match, and the best {format_count_of_shown(len(shown))}"
    choices = await serialize_candidates(candidates, label)
    distinctions = choices.get("meta", {}).get("candidates", {})
    details = {
        "side": side,
        **choices,
        "candidates": [
            omit_none(Wire, {"token": token, **serialize_place(match), **distinctions.get(token, {})})
            for match in shown
            for token in [match.place.token]
        ],
        "resolved": choices["candidates"],
        "attribution": list_attributions(shown) or None,
    }
    return PlaceAmbiguous(message, omit_none(Wire, details), hint=remedy)


async def serialize_candidates(candidates: Sequence[PlaceMatch], label: str) -> Wire:
    """Return the lookup contract's DisambiguationSet, with distinctions keyed by token in ``meta`` (rule D2)."""
    shown = candidates[:MAX_CANDIDATES]
    # Describing a place takes 13 ms in a large network, so it must not block the event loop.
    distinctions = await compute(lambda: {match.place.token: distinguish(match) for match in shown})
    return {
        "candidates": [serialize_resolved(match, label) for match in shown],
        "totalCandidatesFound": len(candidates),
        "truncated": len(candidates) > MAX_CANDIDATES,
        "needsClarification": True,
        "autoResolvedThreshold": AUTO_RESOLVE,
        **({"meta": {"candidates": distinctions}} if any(distinctions.values()) else {}),
    }


def format_lone_candidate(match: PlaceMatch) -> str:
    if match.is_apart:
        if match.distance_m is None:
            return f"{match.place.name} is in {match.network}; no network in service has a place with that name"
        away = f"{match.distance_m / 1000:.0f} km away"
        return f"{match.place.name} is in {match.network}, {away}; no nearby place has that name"
    return f"only {match.place.name} is similar, and may be a different place"


class Distinction(WireDict):
    lines: NotRequired[list[str]]
    direction: NotRequired[str]
    district: NotRequired[str]
    distance: NotRequired[int]
    network: NotRequired[str]
    guess: NotRequired[str]


def distinguish(match: PlaceMatch) -> Distinction:
    traits = PlaceTraits() if match.describe is None else match.describe()
    fields = {
        "lines": list(traits.lines) or None,
        "direction": traits.direction,
        "district": traits.district or match.place.locality,
        "distance": None if match.distance_m is None else round(match.distance_m),
        "network": match.network if match.is_apart else None,
        "guess": match.place.guess,
    }
    return omit_none(Distinction, fields)


def list_attributions(matches: Sequence[PlaceMatch]) -> list[str]:
    return list(dict.fromkeys(sentence for match in matches for sentence in match.place.attribution))


def list_guess_warnings(place: Place, label: str) -> list[Warning]:
    guess = f"The position of '{label}' is an estimate: {place.guess}."
    return list_stated((WarningCode.POSITION_GUESSED, guess if place.guess else None))


def new_unknown(
    label: str, *, side: str, near: str = "", hint: Remedy = _LOOK_UP, left_out: Sequence[str]
) -> TextUnknown:
    message = f"{side} '{label}' matches no saved variable, stop or place{near}"
    return TextUnknown(add_reasons(message, left_out), {"field": side, "side": side}, hint=hint)


def serialize_resolved(match: PlaceMatch, label: str) -> Wire:
    place = match.place
    fields = {
        **serialize_place(match),
        "id": place.id,
        "primaryLanguage": place.language if place.language in FALLBACK_LANGUAGES else DEFAULT_LANGUAGE,
        "names": {code: place.names[code] for code in FALLBACK_LANGUAGES if code in place.names} or None,
        "rawQuery": label,
    }
    return omit_none(Wire, fields)


def serialize_place(match: PlaceMatch) -> dict[str, object]:
    place = match.place
    return {
        "name": place.name,
        "type": place.kind.value,
        "coordinate": {"lat": round(place.coordinate.lat, 6), "lon": round(place.coordinate.lon, 6)},
        "confidenceScore": round(match.score, 4),
        "locality": place.locality,
    }
