"""London's network, served by TfL's API.

Departure boards show TfL's predictions for the next half hour, and its timetables for other times (decision 0521).
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar
from zoneinfo import ZoneInfo

from fingerpost import clock
from fingerpost.errors import SourceChanged, StorageUnavailable
from fingerpost.net.request import Fetch
from fingerpost.runtime.concurrency import gather_all
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile, new_remote_profile
from fingerpost.transit.model.itinerary import Departure
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.port import DepartureQuery, JourneyAnswer, TextJourneyQuery
from fingerpost.transit.remote.kit.answers import Answer
from fingerpost.transit.remote.kit.network import BoardRows, ServerNetwork, ServerSource
from fingerpost.transit.remote.kit.places import SingleFeedIds
from fingerpost.transit.remote.tfl import shapes
from fingerpost.transit.remote.tfl.itineraries import TflRequest, list_lift_alerts, list_line_alerts, list_stop_alerts
from fingerpost.transit.remote.tfl.journeys import STEP_FREE_TO_PLATFORM, TflJourneySearch, new_unknown_place
from fingerpost.transit.remote.tfl.server import STATUS_FRESH_S, TflClient, find_or_none
from fingerpost.transit.remote.tfl.shapes import TflMode, read_mode
from fingerpost.transit.remote.tfl.stops import StopPointLookup, StopPointNames
from fingerpost.transit.remote.tfl.timetables import find_scheduled, list_stop_lines
from fingerpost.transit.remote.tfl.unified_api import ATTRIBUTION, BOUNDS, KIND, LANGUAGE, ZONE

ABILITIES = frozenset(Ability)

_T = TypeVar("_T")

_MAX_IDS = 20
# A window that began less than this long ago counts as live (rule B12).
_LIVE_MARGIN_S = 120
NOTE_WITHOUT_TIMETABLE = "TfL did not return its timetables, so later departures are missing."
# TfL predicts arrivals about this far ahead.
REACH_S = 30 * 60
NOTE = (
    "TfL predicts arrivals without scheduled times, so delays and cancellations are unknown, "
    "and arrivals that riders cannot board may be listed."
)
_NO_PLATFORM = frozenset({"", "null", "unknown", "platform unknown"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Status:
    """The status of lines, stops and lifts; ``notes`` name the failed requests."""

    lines: Sequence[shapes.TflLine] = ()
    stops: Sequence[shapes.StopDisruption] = ()
    lifts: Sequence[shapes.LiftDisruption] = ()
    notes: tuple[str, ...] = ()


class TflNetwork(ServerNetwork):
    walking = "streets, according to TfL"
    credit = "TfL, retrieved {retrieved}"

    def __init__(self, record: NetworkRecord, learned: LearnedProfile, fetch: Fetch) -> None:
        profile = replace(new_remote_profile(record, learned, ABILITIES), reads_texts=True)
        self._zone = ZoneInfo(profile.zone)
        ids = SingleFeedIds(profile.name)
        server = self._server = TflClient(fetch, record)
        stops = self._lookup = StopPointLookup(server, ids)
        search = self._journeys = TflJourneySearch(server, ids, self._zone)
        find_places = StopPointNames(server, ids).find_places
        super().__init__(profile, record, learned, ids=ids, stops=stops, find_places=find_places, search=search)

    async def plan_texts(self, query: TextJourneyQuery) -> JourneyAnswer:
        for text, side in zip((query.origin, query.destination), query.sides, strict=True):
            # A string of dots would change the request path.
            if not any(map(str.isalnum, text)):
                raise new_unknown_place(text, side)
        request = TflRequest(
            origin=self._read_text(query.origin),
            destination=self._read_text(query.destination),
            instant=query.now,
            accessibility=STEP_FREE_TO_PLATFORM if query.step_free else None,
            sides=query.sides,
        )
        found = await self._journeys.fetch(request)
        in_time = tuple(itinerary for itinerary in found.live if itinerary.departure >= query.now)
        return self._new_answer(replace(found, live=in_time), LANGUAGE)

    def _read_text(self, text: str) -> str:
        """Convert a public stop id to TfL's id; return any other text stripped."""
        return next(iter(self._ids.decode(text)), text.strip())

    def _choose_language(self, language: str | None) -> str | None:  # noqa: ARG002  # English only
        return LANGUAGE

    async def _find_board(self, query: DepartureQuery, language: str | None) -> BoardRows:  # noqa: ARG002
        members = await gather_all(map(self._lookup.list_member_ids, self._ids.decode_all(query.stop_ids)))
        server_ids = list(dict.fromkeys(server_id for member in members for server_id in member))
        now = int(clock.now().timestamp())
        first, last = query.instant, query.instant + query.window_s
        predicted_window, timetable_windows = _split_window(first, last, now, by_schedule=query.by_schedule)
        answers = await self._find_predictions(server_ids) if predicted_window else []
        timetable, ids_by_line = BoardRows(), dict[str, str]()
        try:
            if timetable_windows:
                timetable, ids_by_line = await self._find_timetabled(server_ids, timetable_windows)
        except (StorageUnavailable, SourceChanged):
            if predicted_window is None:
                raise
            timetable = BoardRows(notes=(NOTE_WITHOUT_TIMETABLE,))
        predictions = [prediction for answer in answers for prediction in answer.data]
        ids_by_line |= {prediction.line: prediction.line_id for prediction in predictions if prediction.line_id}
        status = await self._find_status(sorted(set(ids_by_line.values())), server_ids, first, last, now)
        rows = list(timetable.rows)
        if predicted_window is not None:
            rows += self._list_predicted_departures(predictions, *predicted_window, now)
        # TfL reports only the current state of lifts.
        lifts = list_lift_alerts(status.lifts, server_ids) if first - REACH_S <= now <= last else ()
        retrieval_times = [answer.retrieved_at for answer in answers]
        if timetable.retrieved_at is not None:
            retrieval_times.append(timetable.retrieved_at)
        return BoardRows(
            rows=[
                replace(
                    row,
                    alerts=list_line_alerts(status.lines, ids_by_line.get(row.line, ""), row.expected, row.expected),
                )
                for row in rows
            ],
            alerts=(*list_stop_alerts(status.stops, first, last), *lifts),
            notes=(*((NOTE,) if predicted_window else ()), *timetable.notes, *status.notes),
            retrieved_at=min(retrieval_times, default=None),
        )

    async def _find_predictions(self, server_ids: Sequence[str]) -> list[Answer[tuple[shapes.Prediction, ...]]]:
        answers = await gather_all(
            self._server.find(tuple[shapes.Prediction, ...], "StopPoint", server_id, "Arrivals")
            for server_id in server_ids
        )
        return [answer for answer in answers if answer is not None]

    def _list_predicted_departures(
        self, predictions: Iterable[shapes.Prediction], first: int, last: int, now: int
    ) -> Iterator[Departure]:
        """Yield departures from ``first`` to ``last`` (inclusive), leaving out last stops and expired predictions."""
        # Of two predictions with the same id, use the later one.
        by_time = sorted(predictions, key=lambda prediction: prediction.timestamp)
        for prediction in {(row.naptan_id, row.id): row for row in by_time}.values():
            expected = prediction.expected_arrival
            is_expired = prediction.time_to_live is not None and prediction.time_to_live < now and expected < now
            if not first <= expected <= last or is_expired or prediction.destination_naptan_id == prediction.naptan_id:
                continue
            platform = (prediction.platform_name or "").strip()
            yield Departure(
                line=prediction.line,
                mode=shapes.read_mode(prediction.mode_name),
                destination=prediction.destination_name or prediction.towards or prediction.line,
                scheduled=expected,
                stop_id=self._ids.encode(prediction.naptan_id),
                trip_id=self._ids.encode_trip(prediction.id),
                service_day=datetime.fromtimestamp(expected, self._zone).date(),
                platform=None if platform.lower() in _NO_PLATFORM else platform,
                last_realtime_update=prediction.timestamp,
            )

    async def _find_timetabled(
        self, server_ids: Sequence[str], spans: Sequence[tuple[int, int]]
    ) -> tuple[BoardRows, dict[str, str]]:
        """Return the timetabled departures in the given spans, and the line ids by line name."""
        stops = await gather_all(self._lookup.find_exact(server_id, with_lines=True) for server_id in server_ids)
        lines = list_stop_lines([stop for stop in stops if stop is not None])
        board = await find_scheduled(self._server, lines, spans, self._ids, self._zone)
        return board, {line.name: line.line_id for line in lines}

    async def _find_status(
        self, line_ids: Sequence[str], server_ids: Sequence[str], first: int, last: int, now: int
    ) -> _Status:
        days: tuple[str, ...] = ()
        if not first - REACH_S <= now <= last + _LIVE_MARGIN_S:
            begin = datetime.fromtimestamp(first, self._zone).date()
            end = datetime.fromtimestamp(last, self._zone).date() + timedelta(days=1)
            days = (begin.isoformat(), "to", end.isoformat())
        lines, stops, lifts = await asyncio.gather(
            find_or_none(self._list_status(tuple[shapes.TflLine, ...], line_ids, "Line", "Status", *days)),
            find_or_none(self._list_status(tuple[shapes.StopDisruption, ...], server_ids, "StopPoint", "Disruption")),
            self._server.find_lifts(),
        )
        named = (("lines", lines), ("stops", stops), ("lifts", lifts))
        missing = [kind for kind, answer in named if answer is None]
        return _Status(
            lines=lines or (),
            stops=stops or (),
            lifts=lifts or (),
            notes=(f"TfL did not return the status of its {' and '.join(missing)}.",) if missing else (),
        )

    async def _list_status(
        self, shape: type[tuple[_T, ...]], ids: Sequence[str], resource: str, *suffix: str
    ) -> Sequence[_T]:
        answers = await gather_all(
            self._server.find(shape, resource, ",".join(ids[start : start + _MAX_IDS]), *suffix, fresh_s=STATUS_FRESH_S)
            for start in range(0, len(ids), _MAX_IDS)
        )
        return tuple(status for answer in answers if answer is not None for status in answer.data)


def _split_window(
    first: int, last: int, now: int, *, by_schedule: bool
) -> tuple[tuple[int, int] | None, list[tuple[int, int]]]:
    """Return the part of a window that TfL predicts, and the parts that only its timetables cover."""
    begin, end = now - _LIVE_MARGIN_S, now + REACH_S
    if by_schedule or first > end or last < begin:
        return None, [(first, last)]
    earlier = [(first, begin - 1)] if first < begin else []
    later = [(end + 1, last)] if last > end else []
    return (max(first, begin), min(last, end)), earlier + later


def new_known_profile() -> LearnedProfile:
    return LearnedProfile(
        bounds=BOUNDS, zone=ZONE, languages=(LANGUAGE,), attribution=ATTRIBUTION, learned_at=clock.now()
    )


async def learn_profile(fetch: Fetch, record: NetworkRecord) -> LearnedProfile:
    """Request TfL's modes (this also checks the key); the rest of the profile is fixed."""
    answer = await TflClient(fetch, record).fetch(tuple[TflMode, ...], "Line", "Meta", "Modes", fresh_s=0.0)
    modes = frozenset(read_mode(mode.mode_name) for mode in answer.data if mode.is_scheduled_service)
    return replace(new_known_profile(), modes=modes)


class TflSource(ServerSource):
    kind = KIND
    learn_profile = staticmethod(learn_profile)
    open_network = staticmethod(TflNetwork)
    new_profile = staticmethod(new_known_profile)
