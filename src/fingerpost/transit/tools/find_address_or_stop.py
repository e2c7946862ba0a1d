"""The findAddressOrStop tool: resolve free text to a place, or list candidates (rules D1, D2)."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, final

from pydantic import Field, StringConstraints, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from fingerpost.contract.envelope import Contract, format_distinction
from fingerpost.contract.published_tool import Call, Output, ToolDefinition, ToolReply
from fingerpost.contract.wire import EnumValue, Number, WholeNumber, WireDict, WireModel, omit_none
from fingerpost.errors import DataNotFound, Remedy, RemedyKind, advise
from fingerpost.transit.model.place import PlaceKind, PlaceMatch
from fingerpost.transit.places.candidates import (
    MAX_CANDIDATES,
    Distinction,
    format_lone_candidate,
    list_attributions,
    list_guess_warnings,
    serialize_candidates,
    serialize_resolved,
)
from fingerpost.transit.places.resolver import TextQuery
from fingerpost.transit.rules.name_matching import find_certain
from fingerpost.transit.rules.warnings import Warning, add_reasons  # noqa: A004  # the contract's own name
from fingerpost.transit.tools.shapes import Language, LatLon, PlaceTool, Warned, WireCoordinate, serialize_warnings
from fingerpost.transit.tools.wording import format_count


class LocationQueryInput(WireModel):
    raw_text: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
        Field(description="a name, a stop id, or lat,lon"),
    ]
    focus_point: Annotated[LatLon | None, Field(description="prefer places near this point")] = None
    max_distance_meters: Annotated[
        WholeNumber | None, Field(ge=1, le=200_000, description="maximum distance from focusPoint")
    ] = None
    language_preference: Language | None = None

    @field_validator("max_distance_meters")
    @classmethod
    def _check_focus(cls, distance: int | None, info: ValidationInfo) -> int | None:
        if distance is not None and "focus_point" in info.data and info.data["focus_point"] is None:
            raise PydanticCustomError("whole_sentence", "maxDistanceMeters requires focusPoint")
        return distance

    def to_query(self) -> TextQuery:
        return TextQuery(
            text=self.raw_text,
            focus=None if self.focus_point is None else self.focus_point.to_coordinate(),
            max_distance_m=self.max_distance_meters,
            language=self.language_preference,
            sent_as="rawText",
        )


class Names(WireDict):
    fi: NotRequired[str]
    en: NotRequired[str]
    sv: NotRequired[str]


class LookupMeta(Warned):
    """``candidates`` maps tokens to distinguishing details; ``reason`` says why a lone candidate is uncertain."""

    candidates: NotRequired[dict[str, Distinction]]
    reason: NotRequired[str]
    attribution: NotRequired[list[str]]


@final
class ResolvedLocation(WireDict):
    """A resolved place; only stops have an ``id``."""

    id: NotRequired[str]
    name: str
    primaryLanguage: Literal["fi", "en", "sv", "default"]
    names: NotRequired[Names]
    type: Annotated[str, EnumValue(PlaceKind)]
    coordinate: WireCoordinate
    confidenceScore: Annotated[Number, Field(ge=0, le=1)]
    locality: NotRequired[str]
    rawQuery: str
    meta: NotRequired[LookupMeta]


@final
class DisambiguationSet(WireDict):
    """Candidates; every tool accepts a candidate's ``id``, or its ``lat,lon``, as a token."""

    candidates: Annotated[list[ResolvedLocation], Field(min_length=1, max_length=MAX_CANDIDATES)]
    totalCandidatesFound: Annotated[int, Field(ge=1)]
    truncated: bool
    needsClarification: Literal[True]
    autoResolvedThreshold: Annotated[Number, Field(ge=0, le=1)]
    meta: NotRequired[LookupMeta]


_RESOLVED = Output(ResolvedLocation)
_CANDIDATES = Output(DisambiguationSet, (("candidates",), ("meta", "candidates")), "Use a longer name.")


class FindAddressOrStop(PlaceTool):
    definition = ToolDefinition(
        name="findAddressOrStop",
        title="Find a stop or address",
        description=(
            "Resolve free text to a stop, address or place, or return candidates if there is no certain match. "
            "Every tool accepts the ids and lat,lon in the answer. For stops around a coordinate, use find_stops."
        ),
        contract=Contract.LOOKUP,
        input_model=LocationQueryInput,
        outputs=(_RESOLVED, _CANDIDATES),
        warnings_path=("meta", "warnings"),
    )

    async def handle(self, arguments: LocationQueryInput, call: Call) -> ToolReply:
        query = arguments.to_query()
        text = query.text
        matches, warnings, left_out = await self._places.find_places(
            text, language=query.language, focus=query.focus, instant=int(call.now.timestamp())
        )
        near = [match for match in matches if query.is_near(match.place.coordinate)]
        if not near:
            message = f"No stop, address or place matches '{text}'"
            if matches:
                count = format_count(len(matches), "place")
                message = f"'{text}' matches {count}, but none within maxDistanceMeters"
            remedy = _ADD_ADDRESSES if any(map(str.isdigit, text)) and not matches else Remedy(RemedyKind.SEARCH_NEARBY)
            raise DataNotFound(add_reasons(message, left_out), hint=remedy)
        certain = find_certain(near)
        if certain is not None:
            meta = _serialize_meta([certain], [*warnings, *list_guess_warnings(certain.place, text)])
            place = omit_none(ResolvedLocation, {**serialize_resolved(certain, text), "meta": meta or None})
            return ToolReply(place, _write_text(place), output=_RESOLVED)
        choices = await serialize_candidates(near, text)
        reason = f"No certain match: {format_lone_candidate(near[0])}." if len(near) == 1 else None
        meta = _serialize_meta(near[:MAX_CANDIDATES], warnings)
        meta = omit_none(LookupMeta, {**meta, **choices.get("meta", {}), "reason": reason})
        body = omit_none(DisambiguationSet, {**choices, "meta": meta or None})
        return ToolReply(body, _write_text(body), output=_CANDIDATES)


def _write_text(answer: ResolvedLocation | DisambiguationSet) -> str:
    meta: LookupMeta = answer.get("meta", {})
    footer = [f"! {warning['message']}" for warning in meta.get("warnings", ())]
    if "attribution" in meta:
        footer.append(f"Data: {'; '.join(meta['attribution'])}")
    if "candidates" not in answer:
        return "\n".join([_format_place(answer), *footer])
    count = answer["totalCandidatesFound"]
    more = ""
    if answer["truncated"]:
        more = f", of which {len(answer['candidates'])} are shown; use a longer name to see others"
    head = f"No certain match; {count} candidates{more}. Choose one and send its id or lat,lon:"
    if "reason" in meta:
        head = f"{meta['reason']} If that is the one, send its id or lat,lon; otherwise spell the name differently:"
    distinctions = meta.get("candidates", {})
    rows = [
        (_format_place(place), format_distinction(distinctions.get(find_token(place), {})))
        for place in answer["candidates"]
    ]
    lines = ["; ".join(filter(None, row)) for row in rows]
    return "\n".join([head, *lines, *footer])


def find_token(place: Mapping[str, Any]) -> str:
    position = place["coordinate"]
    return place.get("id") or f"{position['lat']:.6f},{position['lon']:.6f}"


def _serialize_meta(shown: Sequence[PlaceMatch], warnings: Sequence[Warning]) -> LookupMeta:
    return omit_none(LookupMeta, {**serialize_warnings(warnings), "attribution": list_attributions(shown) or None})


_ADD_ADDRESSES = advise(
    "Check the spelling. Addresses are known only in networks with an extract (fingerpost network add --streets), "
    "and a position is lat,lon"
)


def _format_place(place: ResolvedLocation) -> str:
    position = f"{place['coordinate']['lat']},{place['coordinate']['lon']}"
    locality = f", {place['locality']}" if place.get("locality") else ""
    kind = f"{place['type'].lower()} at {position}, score {place['confidenceScore']}"
    return f"{place['name']}{locality} ({find_token(place)}), {kind}"
