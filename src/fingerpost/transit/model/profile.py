"""Network profiles: what is known of a network without a query to its source."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.model.provenance import FeedVersion, Provenance

# How long a caller waits for plans and boards of a remote source (the plan_trip contract's default).
ANSWER_DEADLINE_S = 8.0
# How long a caller waits for names of a remote source.
NAMES_DEADLINE_S = 3.0


class Ability(StrEnum):
    PLANS = "plans"
    BOARDS = "boards"
    NAMES = "names"
    STOPS = "stops"
    FARES = "fares"
    GEOMETRY = "geometry"
    REALTIME = "real time"
    STEP_FREE = "step-free"
    ARRIVE_BY = "arrive-by"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkProfile:
    """One network, as far as it is known without asking.

    ``name`` and ``feed_names``, the FEEDs that its ids begin with, are upper case. ``zone`` is the IANA time zone of
    the times in answers. ``attribution`` and ``notes`` are sentences that each answer carries.
    ``feeds`` are empty if the source names none; ``first_day`` and ``last_day`` are both None for any day.
    Of several networks that cover a place the one of the highest ``priority`` is preferred (rule A13).
    ``reads_texts`` allows ``Network.plan_texts``; ``names_positions`` says that its server names positions.
    ``stand_in`` is the name of its fallback. The deadlines are how long callers wait, None for an engine in this
    process, which waits for nobody.
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
    names_positions: bool = False
    stand_in: str | None = None
    answer_deadline_s: float | None = ANSWER_DEADLINE_S
    names_deadline_s: float | None = NAMES_DEADLINE_S

    def can(self, *needed: Ability) -> bool:
        return self.abilities.issuperset(needed)

    def new_provenance(self, retrieved_at: int) -> Provenance:
        return Provenance(
            network=self.name,
            source=self.source,
            zone=self.zone,
            retrieved_at=retrieved_at,
            feeds=self.feeds,
            attribution=self.attribution,
            demo=self.is_demo,
            notes=self.notes,
            first_day=self.first_day,
            last_day=self.last_day,
        )
