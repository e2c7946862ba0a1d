"""London's network, served by TfL's API.

Departure boards show TfL's predictions, which reach half an hour ahead; there are no timetables (decision 0521).
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import TypeVar
from zoneinfo import ZoneInfo

from fingerpost import clock
from fingerpost.errors import RegionUnsupported
from fingerpost.net.request import Fetch
from fingerpost.runtime.concurrency import gather_all
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile, new_remote_profile
from fingerpost.transit.model.itinerary import Departure
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.port import DepartureBoard, DepartureQuery, JourneyAnswer, TextJourneyQuery
from fingerpost.transit.remote.kit.journeys import JourneyPage, JourneyRequest
from fingerpost.transit.remote.kit.network import ServerNetwork, ServerSource
from fingerpost.transit.remote.kit.places import SingleFeedIds
from fingerpost.transit.remote.tfl import shapes
from fingerpost.transit.remote.tfl.itineraries import TflRequest, list_lift_alerts, list_line_alerts, list_stop_alerts
from fingerpost.transit.remote.tfl.journeys import STEP_FREE_TO_PLATFORM, fetch_journeys, list_pages, new_unknown_place
from fingerpost.transit.remote.tfl.server import STATUS_FRESH_S, TflClient, find_or_none
from fingerpost.transit.remote.tfl.shapes import TflMode, read_mode
from fingerpost.transit.remote.tfl.stops import StopPointLookup
from fingerpost.transit.remote.tfl.unified_api import ATTRIBUTION, BOUNDS, LANGUAGE, ZONE

ABILITIES = frozenset(Ability) - {Ability.TIMETABLES}

_T = TypeVar("_T")

_MAX_IDS = 20
# A window that ended less than this long ago still counts as live (rule B12).
_LIVE_MARGIN_S = 120
# TfL predicts arrivals about this far ahead.
REACH_S = 30 * 60
NOTE_BEYOND_REACH = "TfL predicts arrivals about half an hour ahead, so later departures are missing."
_HINT = "For the next departures, leave the time out; for another time, plan a trip"
NOTE = (
    "TfL predicts arrivals without scheduled times, so delays and cancellations are unknown, "
    "and arrivals that riders cannot board may be listed."
)
_NO_PLATFORM = frozenset({"", "null", "unknown", "platform unknown"})


class TflNetwork(ServerNetwork):
    walking = "streets, according to TfL"
    credit = "TfL, retrieved {retrieved}"
    # TfL does not say which of its rides have steps, so the answer could not warn about them.
    retries_with_steps = False

    def __init__(self, record: NetworkRecord, learned: LearnedProfile, fetch: Fetch) -> None:
        profile = replace(new_remote_profile(record, learned, ABILITIES), reads_texts=True)
        self._zone = ZoneInfo(profile.zone)
        ids = SingleFeedIds(profile.name)
        server = self._server = TflClient(fetch, record)
        stops = self._lookup = StopPointLookup(server, ids)
        super().__init__(profile, record, learned, ids=ids, stops=stops)

    def _list_pages(self, request: JourneyRequest) -> AsyncIterator[JourneyPage]:
        return list_pages(self._server, self._ids, self._zone, request)

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
        found = await fetch_journeys(self._server, self._ids, self._zone, request)
        in_time = tuple(itinerary for itinerary in found.live if itinerary.departure >= query.now)
        return self._new_answer(replace(found, live=in_time), LANGUAGE)

    def _read_text(self, text: str) -> str:
        """Convert a public stop id to TfL's id; return any other text stripped."""
        return next(iter(self._ids.decode(text)), text.strip())

    async def list_departures(self, query: DepartureQuery) -> DepartureBoard:
        now = int(clock.now().timestamp())
        first, last = query.instant, query.instant + query.window_s
        if query.by_schedule or first > now + REACH_S or last < now - _LIVE_MARGIN_S:
            raise RegionUnsupported(f"{self.profile.name} lists only the departures of the next half hour", hint=_HINT)
        members = await gather_all(map(self._lookup.list_member_ids, self._ids.decode_all(query.stop_ids)))
        server_ids = list(dict.fromkeys(server_id for member in members for server_id in member))
        found = await gather_all(
            self._server.find(tuple[shapes.Prediction, ...], "StopPoint", server_id, "Arrivals")
            for server_id in server_ids
        )
        answers = [answer for answer in found if answer is not None]
        predictions = [prediction for answer in answers for prediction in answer.data]
        predicted_ids = {prediction.line_id for prediction in predictions if prediction.line_id}
        lines, stops, lifts = await asyncio.gather(
            find_or_none(self._list_line_status(predicted_ids, server_ids)),
            find_or_none(self._list_status(tuple[shapes.StopDisruption, ...], server_ids, "StopPoint", "Disruption")),
            self._server.find_lifts(),
        )
        statuses = (("lines", lines), ("stops", stops), ("lifts", lifts))
        missing = " and ".join(kind for kind, answer in statuses if answer is None)
        notes = [NOTE]
        notes += [NOTE_BEYOND_REACH] if last > now + REACH_S else []
        notes += [f"TfL did not return the status of its {missing}."] if missing else []
        # A suspended line has no predictions, so its alerts apply to the stop.
        idle_alerts = [
            alert
            for line in lines or ()
            if line.id not in predicted_ids
            for alert in list_line_alerts([line], line.id, first, last)
        ]
        rows = list(self._list_predicted_departures(predictions, lines or (), now))
        stop_alerts = list_stop_alerts(stops or (), first, last)
        alerts = (*idle_alerts, *stop_alerts, *list_lift_alerts(lifts or (), server_ids))
        return self._new_board(query, rows, answers, notes=notes, alerts=alerts)

    def _list_predicted_departures(
        self, predictions: Iterable[shapes.Prediction], lines: Sequence[shapes.TflLine], now: int
    ) -> Iterator[Departure]:
        """Yield the predicted departures, except those at a trip's last stop and expired predictions."""
        # Of two predictions with the same id, use the newer one.
        by_time = sorted(predictions, key=lambda prediction: prediction.timestamp)
        for prediction in {(row.naptan_id, row.id): row for row in by_time}.values():
            expected = prediction.expected_arrival
            is_expired = prediction.time_to_live is not None and prediction.time_to_live < now and expected < now
            if is_expired or prediction.destination_naptan_id == prediction.naptan_id:
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
                alerts=list_line_alerts(lines, prediction.line_id, expected, expected),
            )

    async def _list_line_status(self, predicted_ids: Set[str], server_ids: Sequence[str]) -> Sequence[shapes.TflLine]:
        """Return the status of the lines at the stops, including lines without predictions."""
        at_stops = await gather_all(map(self._lookup.list_line_ids, server_ids))
        return await self._list_status(
            tuple[shapes.TflLine, ...], sorted({*predicted_ids, *chain(*at_stops)}), "Line", "Status"
        )

    async def _list_status(
        self, shape: type[tuple[_T, ...]], ids: Sequence[str], resource: str, *suffix: str
    ) -> Sequence[_T]:
        answers = await gather_all(
            self._server.find(shape, resource, ",".join(ids[start : start + _MAX_IDS]), *suffix, fresh_s=STATUS_FRESH_S)
            for start in range(0, len(ids), _MAX_IDS)
        )
        return tuple(status for answer in answers if answer is not None for status in answer.data)


async def learn_profile(fetch: Fetch, record: NetworkRecord) -> LearnedProfile:
    """Request TfL's modes (this also checks the key); the rest of the profile is fixed."""
    answer = await TflClient(fetch, record).fetch(tuple[TflMode, ...], "Line", "Meta", "Modes", fresh_s=0.0)
    modes = frozenset(read_mode(mode.mode_name) for mode in answer.data if mode.is_scheduled_service)
    return LearnedProfile(
        bounds=BOUNDS, zone=ZONE, languages=(LANGUAGE,), modes=modes, attribution=ATTRIBUTION, learned_at=clock.now()
    )


class TflSource(ServerSource):
    learn_profile = staticmethod(learn_profile)
    open_network = staticmethod(TflNetwork)
