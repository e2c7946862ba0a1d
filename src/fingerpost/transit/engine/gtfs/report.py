"""The import report of a network: each feed's counts, service days and findings."""

from dataclasses import dataclass
from datetime import date
from functools import cache

from pydantic import TypeAdapter

from fingerpost.transit.engine.gtfs.csv.findings import Finding
from fingerpost.transit.model.provenance import ServiceDays


@dataclass(frozen=True, slots=True, kw_only=True)
class StreetCoverage:
    """The coverage of a network's stops by its street extract.

    Walks to stops that are not covered are straight lines. ``left_out_km`` is the total length of the streets that are
    not connected to the main street network. ``matched_stops`` counts stops matched to the extract by code or id;
    ``entered_stops`` counts stops with entrances; and ``estimated_stops`` counts metro platforms of unknown depth.
    """

    extract: str
    stops: int
    covered_stops: int
    street_km: float
    left_out_km: float
    matched_stops: int = 0
    entered_stops: int = 0
    estimated_stops: int = 0

    @property
    def is_complete(self) -> bool:
        return self.covered_stops == self.stops


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedReport:
    """The import report of one feed.

    Only usable rows count; a stop that two feeds share counts in both. ``events`` is the number of stop times.
    ``gaps`` are the (first, last) days of periods without trips between ``first_day`` and ``last_day``, in the time
    zone ``zone``. ``thin_after`` is the last day with at least a quarter of the average daily departures of the busiest
    28 consecutive days, or None if fewer than seven days follow.
    """

    feed: str
    stops: int
    routes: int
    trips: int
    events: int
    first_day: date
    last_day: date
    gaps: tuple[tuple[date, date], ...] = ()
    thin_after: date | None = None
    zone: str = "UTC"
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
        return f"{min(feed.first_day for feed in self.feeds)} to {max(feed.last_day for feed in self.feeds)}"

    def to_json(self) -> str:
        return _adapter().dump_json(self).decode()

    @classmethod
    def from_json(cls, text: str) -> "ImportReport":
        """Parse a report written by ``to_json``; raise ValueError for any other text."""
        return _adapter().validate_json(text)


@cache
def _adapter() -> TypeAdapter[ImportReport]:
    return TypeAdapter(ImportReport)
