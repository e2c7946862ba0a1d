"""findAddressOrStop (contract 003): free text to a place, or an honest list of candidates (rulings D1, D2)."""

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from fingerpost.contract.envelope import Family
from fingerpost.contract.published import Call, PublishedTool
from fingerpost.contract.wire import Flag, Number, Whole, WireModel
from fingerpost.errors import DataNotFound
from fingerpost.tools.shapes import Language, WireCoordinate, WireWarning
from fingerpost.transit.model import Coordinate, PlaceMatch
from fingerpost.transit.places.candidates import MAX_CANDIDATES
from fingerpost.transit.places.resolver import PlaceResolver
from fingerpost.transit.rules.distance import distance_m
from fingerpost.transit.rules.matching import AUTO_RESOLVE, Resolved, decide
from fingerpost.transit.rules.warnings import Warnings


class LocationQueryInput(WireModel):
    """The question."""

    raw_text: Annotated[str, Field(min_length=1, max_length=200, description="a name, a stop id, or lat,lon")]
    focus_point: Annotated[WireCoordinate | None, Field(description="prefer places near here")] = None
    max_distance_meters: Annotated[Whole | None, Field(ge=1, le=200_000, description="needs focusPoint")] = None
    language_preference: Annotated[Language | None, Field(description="of names")] = None

    @field_validator("raw_text", mode="before")
    @classmethod
    def _trim(cls, text: object) -> object:
        return text.strip() if isinstance(text, str) else text

    @field_validator("max_distance_meters")
    @classmethod
    def _distance_needs_a_focus(cls, distance: int | None, info: ValidationInfo) -> int | None:
        if distance is not None and "focus_point" in info.data and info.data["focus_point"] is None:
            raise PydanticCustomError("whole_sentence", "maxDistanceMeters requires focusPoint")
        return distance


class Names(WireModel):
    """A place's names by language."""

    fi: str | None = None
    en: str | None = None
    sv: str | None = None


class LookupMeta(WireModel):
    """What is ours in a bare answer (ruling D1): warnings, left out where there are none."""

    warnings: list[WireWarning]

    @classmethod
    def of(cls, warnings: Warnings) -> "LookupMeta | None":
        """Show the warnings; None where there are none."""
        shown = [WireWarning(code=each.code.value, message=each.message) for each in warnings.list_all()]
        return cls(warnings=shown) if shown else None


class ResolvedLocation(WireModel):
    """One place. ``id`` is present for a stop, absent for an address."""

    id: str | None = None
    name: str
    primary_language: Literal["fi", "en", "sv", "default"]
    names: Names | None = None
    type: Literal["ADDRESS", "STOP"]
    coordinate: WireCoordinate
    confidence_score: Annotated[Number, Field(ge=0, le=1)]
    locality: str | None = None
    raw_query: str
    meta: LookupMeta | None = None

    @classmethod
    def of(cls, match: PlaceMatch, raw_query: str, meta: LookupMeta | None = None) -> "ResolvedLocation":
        """Show a place and how well it fits the text."""
        place = match.place
        spoken = Names(**{code: name for code, name in place.names.items() if code in Names.model_fields})
        return cls(
            id=place.id,
            name=place.name,
            primary_language=place.language if place.language in Names.model_fields else "default",
            names=spoken if spoken.model_fields_set else None,
            type=place.kind.value,
            coordinate=WireCoordinate.of(place.coordinate),
            confidence_score=round(match.score, 4),
            locality=place.locality,
            raw_query=raw_query,
            meta=meta,
        )


class DisambiguationSet(WireModel):
    """Places to choose from; the ``id`` of each, or its ``lat,lon``, is a token that every tool accepts."""

    candidates: Annotated[list[ResolvedLocation], Field(min_length=1, max_length=MAX_CANDIDATES)]
    total_candidates_found: Annotated[Whole, Field(ge=1)]
    truncated: Flag
    needs_clarification: Literal[True] = True
    auto_resolved_threshold: Annotated[Number, Field(ge=0, le=1)] = AUTO_RESOLVE
    meta: LookupMeta | None = None


class FindAddressOrStop(PublishedTool):
    """Turns a text into a place."""

    name = "findAddressOrStop"
    title = "Find a stop or address"
    description = (
        "Turn a free text into a stop or station, or into candidates to choose from when it is not certain. "
        "Ids in the answer are accepted by every tool. For stops around a coordinate take find_stops."
    )
    family = Family.LOOKUP
    group = "core"
    input_model = LocationQueryInput
    output_model = (ResolvedLocation, DisambiguationSet)

    def __init__(self, places: PlaceResolver) -> None:
        self._places = places

    async def handle(self, arguments: LocationQueryInput, call: Call) -> ResolvedLocation | DisambiguationSet:  # noqa: ARG002  # the seam's signature
        """Read the text as a token, then as a name; drop what is too far; decide or ask."""
        text = arguments.raw_text
        focus = None if arguments.focus_point is None else arguments.focus_point.inner()
        warnings = Warnings()
        matches = await self._places.find_places(
            text, language=arguments.language_preference, focus=focus, warnings=warnings
        )
        near = [match for match in matches if _is_near(match, focus, arguments.max_distance_meters)]
        if not near:
            raise DataNotFound(" ".join([_nothing(text, len(matches)), *_list_sentences(warnings)]), hint=_HINT)
        decision = decide(near)
        meta = LookupMeta.of(warnings)
        if isinstance(decision, Resolved):
            return ResolvedLocation.of(decision.match, text, meta)
        return DisambiguationSet(
            candidates=[ResolvedLocation.of(match, text) for match in near[:MAX_CANDIDATES]],
            total_candidates_found=len(near),
            truncated=len(near) > MAX_CANDIDATES,
            meta=meta,
        )

    def describe(self, answer: ResolvedLocation | DisambiguationSet) -> str:
        """Return the place, or the choices."""
        below = [f"! {warning.message}" for warning in answer.meta.warnings] if answer.meta else []
        if isinstance(answer, ResolvedLocation):
            return "\n".join([_line(answer), *below])
        head = f"Not certain; {answer.total_candidates_found} candidates. Choose one and send its token:"
        return "\n".join([head, *map(_line, answer.candidates), *below])


_HINT = "Check the spelling, or search around a coordinate with find_stops"


def _is_near(match: PlaceMatch, focus: Coordinate | None, limit_m: int | None) -> bool:
    return focus is None or limit_m is None or distance_m(focus, match.place.coordinate) <= limit_m


def _list_sentences(warnings: Warnings) -> list[str]:
    return [each.message for each in warnings.list_all()]


def _nothing(text: str, too_far: int) -> str:
    if too_far:
        return f"'{text}' names {too_far} places, all of them further away than maxDistanceMeters"
    return f"No stop or station resembles '{text}'"


def _line(place: ResolvedLocation) -> str:
    where = f"{place.coordinate.lat:.5f},{place.coordinate.lon:.5f}"
    locality = f", {place.locality}" if place.locality else ""
    kind = f"{place.type.lower()} at {where}, score {place.confidence_score:.2f}"
    return f"{place.name}{locality} ({place.id or where}), {kind}"
