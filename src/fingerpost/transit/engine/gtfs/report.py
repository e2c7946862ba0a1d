"""The report of an import: what was taken over and what was not; stored with the network."""

from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import TYPE_CHECKING

from fingerpost.transit.model.provenance import ServiceDays

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True, kw_only=True)
class StreetCoverage:
    """What an extract gives a network.

    Attributes:
        extract: the path of the file.
        stops: how many stops one can board or alight at.
        covered_stops: how many of these stand near a street of the extract; the others keep the straight line.
        street_km: kilometres that may be walked where the network's riders walk.
        left_out_km: kilometres left out because they hang together with nothing else.
        matched_stops: how many stops are where the extract has the stop of the same code or id.
        entered_stops: how many stops are walked to by the entrances of their station.
        cut_ways: ways that the extract, or the area where riders walk, holds in part.
    """

    extract: str
    stops: int
    covered_stops: int
    street_km: float
    left_out_km: float
    cut_ways: int
    matched_stops: int = 0
    entered_stops: int = 0

    @property
    def is_whole(self) -> bool:
        return self.covered_stops == self.stops


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAt:
    """A place in a feed; ``column`` is empty where the whole row is meant."""

    table: str
    line: int
    column: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One kind of deviation from the feed, with how often and where it occurs.

    ``reason`` is a code of ``findings.Reason``; ``places`` are the first of ``count``, at least one.
    """

    reason: str
    count: int
    places: tuple[FoundAt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedReport:
    """The import report of one feed.

    Counts are of what the feed brought in and can be used; a stop that it shares with an earlier feed counts for both.
    ``events`` counts stop times, ``runs`` trip departures (their names are stored, and stay). ``in_seat`` counts pairs
    of trip departures between which one may stay seated, ``narrow_transfers`` trip- and route-specific transfer rules.
    ``first_day`` and ``last_day`` are the first and last day on which a trip runs, ``gaps`` the days between them on
    which none does, as (first, last) of each run of days; ``zone`` says when a day begins. ``thin_after`` is the
    last day with at least a quarter of the departures of an average day of the fullest four weeks; None if less than a
    week follows.
    """

    feed: str
    source: str
    stops: int
    routes: int
    trips: int
    runs: int
    events: int
    first_day: date
    last_day: date
    gaps: tuple[tuple[date, date], ...] = ()
    thin_after: date | None = None
    zone: str = "UTC"
    in_seat: int = 0
    narrow_transfers: int = 0
    findings: tuple[Finding, ...] = ()
    tables_not_read: tuple[str, ...] = ()

    @property
    def service(self) -> ServiceDays:
        return ServiceDays(first_day=self.first_day, last_day=self.last_day, gaps=self.gaps)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    network: str
    feeds: tuple[FeedReport, ...]
    streets: StreetCoverage | None = None

    @property
    def days(self) -> str:
        """From when to when any of the feeds has trips, such as ``2026-03-01 to 2026-03-31``."""
        return f"{min(feed.first_day for feed in self.feeds)} to {max(feed.last_day for feed in self.feeds)}"

    def to_json(self) -> str:
        return _adapter().dump_json(self).decode()

    @classmethod
    def from_json(cls, text: str) -> "ImportReport":
        """Return the report that ``to_json`` wrote.

        Raises:
            ValueError: it is not one.
        """
        return _adapter().validate_json(text)


@cache
def _adapter() -> "TypeAdapter[ImportReport]":
    # Commands that show no report start without it.
    from pydantic import TypeAdapter

    return TypeAdapter(ImportReport)
