"""Network profiles: static facts about a network, available without a query."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any

from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.model.provenance import FeedVersion, Provenance

# The time limit for plans and boards from a remote source (the plan_trip contract's default).
ANSWER_DEADLINE_S = 8.0
# The time limit for name searches by a remote source.
NAMES_DEADLINE_S = 3.0


class Ability(StrEnum):
    PLANS = "plans"
    BOARDS = "boards"
    TIMETABLES = "timetables"
    NAMES = "names"
    STOPS = "stops"
    GEOMETRY = "geometry"
    REALTIME = "real time"
    STEP_FREE = "step-free"
    ARRIVE_BY = "arrive-by"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkProfile:
    """The static facts of one network.

    ``name`` and ``feed_names`` (the FEED parts of its stop ids) are in upper case. ``zone`` is an IANA time zone. Each
    answer includes ``attribution`` and ``notes``. If ``first_day`` and ``last_day`` are None, the network covers all
    days. If several networks cover a place, the one with the highest ``priority`` is tried first (rule A13).
    ``reads_texts`` is True if ``Network.plan_texts`` is supported. ``fallback`` is the name of the network that answers
    if this one fails. Deadlines are None for an engine in this process.
    """

    name: str
    source: str
    bounds: Bounds
    zone: str
    abilities: frozenset[Ability]
    feed_names: frozenset[str]
    modes: frozenset[Mode] = frozenset()
    is_demo: bool = False
    priority: int = 0
    attribution: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    first_day: date | None = None
    last_day: date | None = None
    feeds: tuple[FeedVersion, ...] = ()
    reads_texts: bool = False
    fallback: str | None = None
    answer_deadline_s: float | None = ANSWER_DEADLINE_S
    names_deadline_s: float | None = NAMES_DEADLINE_S

    def can(self, *needed: Ability) -> bool:
        return self.abilities.issuperset(needed)

    def new_provenance(self, retrieved_at: int, **fields: Any) -> Provenance:
        profile_fields: dict[str, Any] = {
            "network": self.name,
            "source": self.source,
            "zone": self.zone,
            "feeds": self.feeds,
            "attribution": self.attribution,
            "demo": self.is_demo,
            "notes": self.notes,
            "first_day": self.first_day,
            "last_day": self.last_day,
        }
        return Provenance(retrieved_at=retrieved_at, **profile_fields | fields)
