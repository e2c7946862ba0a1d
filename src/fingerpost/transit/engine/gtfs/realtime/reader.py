"""Read GTFS-Realtime messages entity by entity, and build an overlay from their trips and alerts."""

from collections import Counter
from collections.abc import Hashable, Sequence
from types import MappingProxyType

from google.transit.gtfs_realtime_pb2 import FeedEntity

from fingerpost.transit.engine.gtfs.realtime.alerts import read_alert
from fingerpost.transit.engine.gtfs.realtime.messages import APPLIED, EntityOutcome, FeedBytes, parse_message
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex, TripMatcher
from fingerpost.transit.engine.gtfs.realtime.trip_updates import ReceivedUpdate, TripUpdates
from fingerpost.transit.engine.timetable.overlay import Alert, MatchCount, Overlay

# Entities with these outcomes were not looked up in the timetable; they count as neither matched nor unmatched.
_NOT_LOOKED_UP = frozenset({EntityOutcome.ENTITY_DELETED, EntityOutcome.KIND_NOT_READ, EntityOutcome.FROM_THE_FUTURE})
# Publishers' clocks may be fast by this much; messages with a later timestamp are rejected.
CLOCK_SKEW_S = 120
# A selector takes 100 bytes, and a short message could have billions: one for each route of an agency in each alert.
MAX_SELECTORS = 2_000_000


def read_realtime(index: RealtimeIndex, messages: Sequence[FeedBytes], now: int) -> Overlay:
    """Read messages into an overlay as of ``now`` (Unix seconds); the newer of two updates for a ride is used.

    Faulty messages raise no errors; the overlay counts the entities of readable messages by ``EntityOutcome``.
    """
    reader = _Reader(index, now)
    for message in messages:
        reader.add(message)
    return reader.finish()


class _Reader:
    def __init__(self, index: RealtimeIndex, now: int) -> None:
        self.index, self.now = index, now
        # One outcome per entity; later entities may overwrite it.
        self.outcomes: list[EntityOutcome] = []
        self.has_future_messages = False
        self.rides = TripUpdates(index, self.outcomes)
        self.alerts: dict[Hashable, Alert] = {}
        self.selector_count = 0
        # Alerts and the indices of their outcomes; they are resolved last, because later entities may add their trips.
        self.pending_alerts: list[tuple[FeedEntity, TripMatcher, int]] = []
        self.timestamps: list[int] = []
        # The origin, matcher and entities (a slice of the outcomes) of each message.
        self.messages: list[tuple[str, TripMatcher, slice]] = []

    def add(self, data: FeedBytes) -> None:
        outcomes = self.outcomes
        message = parse_message(data.bytes)
        if message is None:
            return
        timestamp = message.header.timestamp
        if timestamp > self.now + CLOCK_SKEW_S:
            self.has_future_messages = True
            outcomes.extend([EntityOutcome.FROM_THE_FUTURE] * len(message.entity))
            return
        updated = min(timestamp or data.received, self.now)
        self.timestamps.append(updated)
        matcher = TripMatcher(self.index, self.index.scope(data.feed_name), self.now)
        first = len(outcomes)
        for entity in message.entity:
            outcomes.append(self._add_entity(entity, matcher, updated))
        self.messages.append((data.origin, matcher, slice(first, len(outcomes))))

    def finish(self) -> Overlay:
        rides, added = self.rides.finish()
        for entity, matcher, slot in self.pending_alerts:
            outcome = self._read_alert(entity, matcher)
            if not entity.HasField("trip_update"):
                self.outcomes[slot] = outcome
        return Overlay(
            rides=MappingProxyType(rides),
            added=added,
            alerts=tuple(self.alerts.values()),
            timestamp=min(self.timestamps, default=None),
            as_of=self.now,
            counts=MappingProxyType({str(outcome): count for outcome, count in sorted(Counter(self.outcomes).items())}),
            has_future_messages=self.has_future_messages,
            matches=MappingProxyType(
                {origin: self._count_matches(matcher, entities) for origin, matcher, entities in self.messages}
            ),
        )

    def _count_matches(self, matcher: TripMatcher, entities: slice) -> MatchCount:
        counts = Counter(self.outcomes[entities])
        matched = sum(counts[outcome] for outcome in (*APPLIED, EntityOutcome.SUPERSEDED))
        unmatched = counts.total() - matched - sum(counts[outcome] for outcome in _NOT_LOOKED_UP)
        return MatchCount(matched, unmatched, tuple(sorted(matcher.shared_ids)))

    def _add_entity(self, entity: FeedEntity, matcher: TripMatcher, updated: int) -> EntityOutcome:
        """Read the trip update and the alert of an entity; if it has both, the outcome is that of the trip update."""
        if entity.is_deleted:
            return EntityOutcome.ENTITY_DELETED
        if entity.HasField("alert"):
            self.pending_alerts.append((entity, matcher, len(self.outcomes)))
        if not entity.HasField("trip_update"):
            return EntityOutcome.KIND_NOT_READ
        update = entity.trip_update
        if update.timestamp > self.now + CLOCK_SKEW_S:
            return EntityOutcome.FROM_THE_FUTURE
        updated = min(update.timestamp or updated, self.now)
        return self.rides.add(ReceivedUpdate(update, matcher, updated, len(self.outcomes)))

    def _read_alert(self, entity: FeedEntity, matcher: TripMatcher) -> EntityOutcome:
        alert = read_alert(entity.id, entity.alert, matcher, self.rides, MAX_SELECTORS - self.selector_count)
        if isinstance(alert, EntityOutcome):
            return alert
        texts = (frozenset(texts.items()) for texts in (alert.headers, alert.descriptions, alert.urls))
        key: Hashable = (alert.id, alert.effect, alert.periods, alert.selectors, *texts)
        if key in self.alerts:
            return EntityOutcome.SUPERSEDED
        self.alerts[key] = alert
        self.selector_count += len(alert.selectors)
        return EntityOutcome.ALERT_GIVEN
