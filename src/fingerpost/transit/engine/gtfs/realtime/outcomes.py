"""The outcomes under which the entities of GTFS-Realtime messages are counted."""

from enum import StrEnum


class EntityOutcome(StrEnum):
    """The outcome of an entity of a GTFS-Realtime message; each entity has exactly one.

    ``*_IN_PART``: the entity was applied without some of its stop time updates, new stops or delays.
    """

    TRIP_UPDATED = "trip-updated"
    TRIP_UPDATED_IN_PART = "trip-updated-in-part"
    TRIP_CANCELLED = "trip-cancelled"
    TRIP_DELETED = "trip-deleted"
    TRIP_ADDED = "trip-added"
    TRIP_ADDED_IN_PART = "trip-added-in-part"
    TRIP_REPLACED = "trip-replaced"
    TRIP_REPLACED_IN_PART = "trip-replaced-in-part"
    ALERT_GIVEN = "alert-given"

    SUPERSEDED = "superseded-by-a-newer-one"
    ENTITY_DELETED = "entity-deleted"
    KIND_NOT_READ = "kind-not-read"
    FROM_THE_FUTURE = "from-the-future"

    TRIP_UNKNOWN = "trip-unknown"
    TRIP_NOT_NAMED = "trip-not-named"
    TRIP_AMBIGUOUS = "trip-ambiguous"
    ID_SHARED = "id-of-several-feeds"
    ROUTE_DIFFERS = "trip-of-another-route"
    START_DATE_INVALID = "start-date-invalid"
    NOT_RUNNING = "trip-not-running-that-day"
    START_TIME_MISSING = "start-time-missing"
    START_TIME_UNKNOWN = "start-time-unknown"
    WITHOUT_TIMES = "trip-without-times"
    DELAY_OUT_OF_RANGE = "trip-delay-out-of-range"
    CALLS_UNMATCHED = "trip-calls-unmatched"
    REPLACEMENT_UNPLACED = "trip-replaced-by-nothing-known"
    ADDED_UNPLACED = "added-trip-without-two-known-calls"
    FEED_UNCLEAR = "added-trip-of-an-unknown-feed"

    ALERT_WITHOUT_SELECTOR = "alert-without-known-selector"


APPLIED = frozenset({
    EntityOutcome.TRIP_UPDATED, EntityOutcome.TRIP_UPDATED_IN_PART, EntityOutcome.TRIP_CANCELLED,
    EntityOutcome.TRIP_DELETED, EntityOutcome.TRIP_ADDED, EntityOutcome.TRIP_ADDED_IN_PART,
    EntityOutcome.TRIP_REPLACED, EntityOutcome.TRIP_REPLACED_IN_PART, EntityOutcome.ALERT_GIVEN,
})  # fmt: skip
