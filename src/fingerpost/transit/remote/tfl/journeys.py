"""Ask for journeys, and read what TfL answers: journeys, no way, or ends that it cannot tell."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from fingerpost import clock
from fingerpost.errors import PlaceUnknown, SourceChanged, SourceFailed, StorageUnavailable
from fingerpost.net.response import Response
from fingerpost.transit.model.itinerary import Itinerary
from fingerpost.transit.model.place import Location
from fingerpost.transit.remote.tfl.disambiguation import explain, new_unknown
from fingerpost.transit.remote.tfl.itineraries import ItineraryReader
from fingerpost.transit.remote.tfl.journey_question import JourneyQuestion
from fingerpost.transit.remote.tfl.server import (
    NOT_FOUND,
    STATUS_FRESH_S,
    TflClient,
    read,
    read_error,
    read_noting,
    say,
)
from fingerpost.transit.remote.tfl.shapes import ApiError, DisambiguationResult, JourneyResult, LiftDisruption
from fingerpost.transit.remote.tfl.wire_times import say_day_offset

MULTIPLE_CHOICES = 300
LIFTS = tuple[LiftDisruption, ...]
LIFTS_PATH = ("Disruptions", "Lifts", "v2")
_NO_JOURNEY = "no journey"
_UNKNOWN_WORDS = ("not recognised", "not found", "could not be found")
# TfL plans no further ahead than about this.
_HORIZON_DAYS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneysFound:
    """What TfL found, when it said so, and why there is nothing; ``notes`` say what could not be had."""

    itineraries: Sequence[Itinerary]
    retrieved_at: datetime
    why_nothing: str | None = None
    notes: tuple[str, ...] = ()


class TflJourneySearch:
    """Asks one server for journeys."""

    def __init__(self, server: TflClient, reader: ItineraryReader, zone: ZoneInfo) -> None:
        self._server = server
        self._reader = reader
        self._zone = zone

    async def find(
        self,
        question: JourneyQuestion,
        sides: tuple[str, str],
        ends: tuple[Location | None, Location | None] = (None, None),
    ) -> JourneysFound:
        """Return the journeys of a question.

        Raises:
            PlaceAmbiguous, PlaceUnknown: TfL cannot tell an end.
            StorageUnavailable, SourceChanged: it cannot be asked.
        """
        response = await self._server.fetch(
            *question.path,
            params=question.list_params(self._zone),
            accept=frozenset({MULTIPLE_CHOICES, NOT_FOUND}),
        )
        if response.status == NOT_FOUND:
            reason = self._read_nothing(read_error(response), question, sides)
            return JourneysFound(itineraries=(), retrieved_at=response.retrieved_at, why_nothing=reason)
        if response.status == MULTIPLE_CHOICES or _is_disambiguation(response):
            raise explain(read(DisambiguationResult, response), question, sides)
        told, lost = read_noting(JourneyResult, response)
        lifts, notes = await self._find_lifts()
        found = self._reader.list_itineraries(
            told, instant=question.instant, arrive_by=question.arrive_by, ends=ends, lifts=lifts
        )
        messages = tuple(dict.fromkeys(" ".join(message.split()) for message in told.stop_messages if message.strip()))
        notes = (*notes, *lost, *messages[:3])
        return JourneysFound(itineraries=found, retrieved_at=response.retrieved_at, notes=notes)

    async def _find_lifts(self) -> tuple[Sequence[LiftDisruption], tuple[str, ...]]:
        """Return the lifts that are out of order; a plan stands without them, and says that it does."""
        try:
            told = await self._server.ask(LIFTS, *LIFTS_PATH, fresh_s=STATUS_FRESH_S)
        except (StorageUnavailable, SourceChanged):
            return (), ("TfL did not say which lifts are out of order.",)
        return told.data, ()

    def _read_nothing(self, error: ApiError, question: JourneyQuestion, sides: tuple[str, str]) -> str:
        """Return why there is no journey.

        Raises:
            PlaceUnknown: an end is what was not found.
            SourceFailed: something else was not.
        """
        said = say(error)
        lowered = said.lower()
        if _NO_JOURNEY in lowered:
            days = say_day_offset(question.instant, int(clock.now().timestamp()))
            if days >= _HORIZON_DAYS:
                return f"TfL found no journey: it plans about {_HORIZON_DAYS} days ahead, and this is {days}"
            return f"TfL found no journey ({said})"
        if any(word in lowered for word in _UNKNOWN_WORDS):
            for text, side in zip((question.origin, question.destination), sides, strict=True):
                if text.lower() in lowered:
                    raise new_unknown(text, side)
            raise PlaceUnknown(f"TfL does not know {sides[0]} or {sides[1]}: {said}", {"field": sides[0]})
        raise SourceFailed(f"TfL could not plan: {said}")


def _is_disambiguation(response: Response) -> bool:
    return b"DisambiguationResult," in response.body[:200]
