"""Find disrupted itineraries, rank them among their alternatives, and describe the disruptions (rule B5)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from itertools import takewhile
from typing import NamedTuple

from fingerpost.runtime.grouping import group_by_key
from fingerpost.transit.model.itinerary import Itinerary, Leg, MissedChange, Optimize
from fingerpost.transit.rules.modes import to_trip_mode
from fingerpost.transit.rules.ranking import SortKey, build_sort_key, compute_fingerprint


def format_ride_name(leg: Leg) -> str:
    return f"Line {leg.line}" if leg.line else f"The {to_trip_mode(leg.mode).lower()}"


def format_duration(seconds: int) -> str:
    return f"{seconds} s" if seconds < 60 else f"{round(seconds / 60)} min"


def as_scheduled(itinerary: Itinerary) -> Itinerary:
    return Itinerary(tuple(leg._replace(as_scheduled=True) for leg in itinerary.legs))


def _format_missed_change(missed: MissedChange) -> str:
    before, after = (
        format_ride_name(leg)[:1].lower() + format_ride_name(leg)[1:] for leg in (missed.before, missed.after)
    )
    change = f"The change from {before} to {after} at {missed.after.start.name}"
    if missed.available_s <= 0:
        return f"{change} is missed by {format_duration(missed.needed_s - missed.available_s)}"
    return f"{change} allows {missed.available_s} s, but takes {missed.needed_s} s"


DISRUPTED_AFTER_S = 300


class Usability(IntEnum):
    USABLE = 0
    TOO_LATE = 1
    UNUSABLE = 2


class ItineraryOption(NamedTuple):
    """An itinerary; ``is_known`` is False if only the relaxed query found the itinerary.

    ``flagged`` and ``note`` are the contract's DisruptionFlag and DisruptionNote, and ``instead_of`` is the disrupted
    itinerary that this one replaces.
    """

    itinerary: Itinerary
    fingerprint: str
    is_known: bool
    usability: Usability
    is_disrupted: bool
    flagged: bool = False
    note: str | None = None
    instead_of: Itinerary | None = None


def _find_usability(itinerary: Itinerary, wanted_arrival: int | None) -> Usability:
    if itinerary.is_unusable:
        return Usability.UNUSABLE
    is_late = wanted_arrival is not None and itinerary.arrival > wanted_arrival
    return Usability.TOO_LATE if is_late else Usability.USABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedItineraries:
    """The itineraries to show (``choices``) and all distinct ones (``found``), both best first.

    ``dropped`` holds disrupted itineraries from the first query that are not shown. ``deduplicated_from`` is the
    number of itineraries before deduplication, or None if there were no duplicates.
    """

    choices: tuple[ItineraryOption, ...]
    found: tuple[Itinerary, ...]
    dropped: tuple[Itinerary, ...]
    deduplicated_from: int | None
    any_usable: bool = True

    @property
    def shown(self) -> list[Itinerary]:
        return [choice.itinerary for choice in self.choices]


def is_disrupted_leg(leg: Leg) -> bool:
    is_late = max(leg.departure_delay_s or 0, leg.arrival_delay_s or 0) > DISRUPTED_AFTER_S
    return (leg.cancelled or is_late) and leg.is_transit


def find_disrupted_leg(itinerary: Itinerary) -> Leg | None:
    return next(filter(is_disrupted_leg, itinerary.legs), None)


def is_disrupted(itinerary: Itinerary) -> bool:
    return not itinerary.is_planned and (itinerary.is_unusable or any(map(is_disrupted_leg, itinerary.rides)))


def find_leg_note(leg: Leg) -> str | None:
    return f"{_format_disruption(leg)}." if is_disrupted_leg(leg) else None


def _format_disruption(leg: Leg) -> str:
    ride = f"{format_ride_name(leg)} from {leg.start.name}"
    departure_s, arrival_s = leg.departure_delay_s or 0, leg.arrival_delay_s or 0
    if leg.cancelled:
        return f"{ride} is cancelled"
    if departure_s > DISRUPTED_AFTER_S:
        return f"{ride} leaves {format_duration(departure_s)} late"
    return f"{ride} arrives at {leg.end.name} {format_duration(arrival_s)} late"


def find_note(itinerary: Itinerary) -> str | None:
    return " ".join(f"{note}." for note, _ in _list_notes(itinerary)) or None


def name_disrupted(disrupted: Iterable[Itinerary], format_time: Callable[[int], str]) -> str:
    rides: dict[str, dict[str, None]] = {}
    for itinerary in disrupted:
        for note, leg in _list_notes(itinerary):
            rides.setdefault(note, {})[format_time(leg.departure_scheduled)] = None
    return " ".join(f"{note} ({', '.join(times)})." for note, times in rides.items())


def _list_notes(itinerary: Itinerary) -> list[tuple[str, Leg]]:
    notes = [(_format_disruption(leg), leg) for leg in itinerary.legs if is_disrupted_leg(leg)]
    return notes + [(_format_missed_change(missed), missed.after) for missed in itinerary.missed_changes]


def merge_alternatives(
    known: Iterable[Itinerary],
    relaxed: Iterable[Itinerary],
    *,
    limit: int,
    optimize: Optimize,
    wanted_arrival: int | None,
) -> RankedItineraries:
    """Deduplicate itineraries, rank usable before unusable ones, and flag alternatives to disrupted ones.

    ``relaxed`` holds the itineraries from the relaxed query. ``wanted_arrival`` is set if the query has an arrival
    time.
    """
    arrive_by = wanted_arrival is not None
    candidates = [
        ItineraryOption(
            itinerary=itinerary,
            fingerprint=compute_fingerprint(itinerary),
            is_known=is_known,
            usability=_find_usability(itinerary, wanted_arrival),
            is_disrupted=is_disrupted(itinerary),
        )
        for found, is_known in ((known, True), (relaxed, False))
        for itinerary in found
    ]

    def rank(option: ItineraryOption, itinerary: Itinerary) -> SortKey:
        return build_sort_key(itinerary, option.fingerprint, optimize, arrive_by=arrive_by)

    unique = _deduplicate(candidates, arrive_by=arrive_by)
    ranked = sorted(unique.values(), key=lambda option: (option.usability, rank(option, option.itinerary)))
    disrupted = {
        candidate.fingerprint: position
        for position, candidate in enumerate(ranked)
        if candidate.is_disrupted and candidate.is_known
    }
    last_disrupted = max(disrupted.values(), default=-1)
    by_schedule = sorted(ranked, key=lambda option: rank(option, as_scheduled(option.itinerary))) if disrupted else []

    def annotate(position: int, chosen: ItineraryOption) -> ItineraryOption:
        if chosen.is_disrupted:
            notes = [find_note(chosen.itinerary)]
            if chosen.usability is Usability.TOO_LATE and wanted_arrival is not None:
                late_s = chosen.itinerary.arrival - wanted_arrival
                notes.append(f"It arrives {format_duration(late_s)} after the requested time.")
            return chosen._replace(note=" ".join(filter(None, notes)) or None)
        if not disrupted:
            return chosen
        # Itineraries from the relaxed query are shown only because of the disruption.
        better = takewhile(lambda other: other is not chosen, by_schedule) if chosen.is_known else by_schedule
        outranked = [other.itinerary for other in better if disrupted.get(other.fingerprint, -1) > position]
        unusable = (itinerary for itinerary in outranked if itinerary.is_unusable)
        replaced = next(unusable, outranked[0] if outranked else None)
        return chosen._replace(flagged=position < last_disrupted and not chosen.is_known, instead_of=replaced)

    return RankedItineraries(
        choices=tuple(annotate(position, candidate) for position, candidate in enumerate(ranked[:limit])),
        found=tuple(candidate.itinerary for candidate in ranked),
        dropped=tuple(option.itinerary for option in ranked[limit:] if option.fingerprint in disrupted),
        deduplicated_from=len(candidates) if len(candidates) > len(unique) else None,
        any_usable=any(candidate.usability is Usability.USABLE for candidate in ranked) or not ranked,
    )


def _deduplicate(candidates: Iterable[ItineraryOption], *, arrive_by: bool) -> dict[str, ItineraryOption]:
    """Return the best candidate for each fingerprint (rule B7)."""

    def rank(option: ItineraryOption) -> tuple[Usability, bool, int, int, int]:
        trip = option.itinerary
        # Realtime data does not change scheduled times; on a tie, min() returns the first candidate, which is live.
        time = -trip.departure_scheduled if arrive_by else trip.legs[-1].arrival_scheduled
        return option.usability, option.is_disrupted, trip.transfers, trip.duration_s, time

    by_fingerprint = group_by_key((candidate.fingerprint, candidate) for candidate in candidates)
    return {
        name: options[0]
        if len(options) == 1
        else min(options, key=rank)._replace(is_known=any(option.is_known for option in options))
        for name, options in by_fingerprint.items()
    }
