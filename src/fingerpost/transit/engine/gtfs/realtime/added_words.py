"""Trip updates that name no ride of the timetable: what they say of rides that other entities add."""

from collections.abc import Iterable
from typing import NamedTuple

from google.transit.gtfs_realtime_pb2 import TripUpdate

from fingerpost.transit.engine.gtfs.realtime.added_keys import AddedKey, AddedKeys
from fingerpost.transit.engine.gtfs.realtime.outcomes import EntityOutcome
from fingerpost.transit.engine.gtfs.realtime.trip_matching import TripMatcher

MAYBE_ADDED = (EntityOutcome.TRIP_UNKNOWN, EntityOutcome.NOT_RUNNING, EntityOutcome.START_TIME_UNKNOWN)
"""Outcomes of a trip id that may be an added ride's."""


class AddedWord(NamedTuple):
    """A trip update, and where its outcome is kept."""

    update: TripUpdate
    matcher: TripMatcher
    updated: int
    slot: int


def choose_newest(
    words: Iterable[AddedWord], keys: AddedKeys, outcomes: list[EntityOutcome]
) -> dict[AddedKey, AddedWord]:
    """Return the newest word on each added ride; of two at one instant the later counts."""
    newest: dict[AddedKey, AddedWord] = {}
    for word in words:
        found = keys.find(word.update.trip, word.matcher)
        if isinstance(found, EntityOutcome):
            outcomes[word.slot] = found
        elif len(found) > 1:
            outcomes[word.slot] = EntityOutcome.TRIP_AMBIGUOUS
        elif found:
            earlier = newest.get(found[0])
            if earlier is None or earlier.updated <= word.updated:
                newest[found[0]] = word
            superseded = earlier if newest[found[0]] is word else word
            if superseded is not None:
                outcomes[superseded.slot] = EntityOutcome.SUPERSEDED
    return newest
