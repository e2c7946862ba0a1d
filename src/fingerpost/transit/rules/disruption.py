"""Alternatives to cancelled or late itineraries: merging, order and flags (ruling B5)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fingerpost.transit.model import Itinerary, Leg, Optimize
from fingerpost.transit.rules.fingerprint import deduplicate_named, fingerprint
from fingerpost.transit.rules.modes import trip_word
from fingerpost.transit.rules.ranking import rank_named

# A ride that leaves or arrives later than this disrupts; being early does not.
DISRUPTED_AFTER_S = 300


@dataclass(frozen=True, slots=True)
class Choice:
    """An itinerary to show, with its fingerprint.

    ``flagged`` is the contract's DisruptionFlag, ``note`` its DisruptionNote; never both.
    """

    itinerary: Itinerary
    fingerprint: str
    flagged: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The itineraries to show, and the warnings about the rest.

    Attributes:
        choices: at most the limit, in the order to show them.
        dropped: disrupted itineraries of the first result that gave way (``disrupted-itinerary-replaced``).
        unique_found: different itineraries found by all searches (``truncated-results`` where over the limit).
        deduplicated_from: itineraries found before deduplication, None where none was removed.
        usual: the best of the disrupted itineraries of the first result; what is shown instead is held against it.
    """

    choices: tuple[Choice, ...]
    dropped: tuple[Itinerary, ...]
    unique_found: int
    deduplicated_from: int | None
    usual: Itinerary | None = None


def is_disrupted_leg(leg: Leg) -> bool:
    """Whether a ride is cancelled, or leaves or arrives too late."""
    is_late = max(leg.departure_delay_s or 0, leg.arrival_delay_s or 0) > DISRUPTED_AFTER_S
    return (leg.cancelled or is_late) and leg.is_transit


def is_disrupted(itinerary: Itinerary) -> bool:
    """Whether any ride of an itinerary is disrupted."""
    return any(map(is_disrupted_leg, itinerary.legs))


def find_leg_note(leg: Leg) -> str | None:
    """Return a sentence on a ride's disruption with its line and alert; None if it is not disrupted."""
    if not is_disrupted_leg(leg):
        return None
    name = f"Line {leg.line}" if leg.line else f"The {trip_word(leg.mode).lower()}"
    where = f"{name} from {leg.start.name}"
    departure_s, arrival_s = leg.departure_delay_s or 0, leg.arrival_delay_s or 0
    if leg.cancelled:
        sentence = f"{where} is cancelled"
    elif departure_s > DISRUPTED_AFTER_S:
        sentence = f"{where} leaves {_minutes(departure_s)} late"
    else:
        sentence = f"{where} arrives at {leg.end.name} {_minutes(arrival_s)} late"
    return f"{sentence}: {leg.notices[0].text.rstrip('.')}." if leg.notices else f"{sentence}."


def find_note(itinerary: Itinerary) -> str | None:
    """Return the sentences of all disrupted rides, None where there is none."""
    notes = [note for leg in itinerary.legs if (note := find_leg_note(leg)) is not None]
    return " ".join(notes) or None


def name_dropped(dropped: Iterable[Itinerary]) -> str:
    """Return the message of ``disrupted-itinerary-replaced``."""
    notes = dict.fromkeys(filter(None, map(find_note, dropped)))
    return "Left out because it is disrupted: " + " ".join(notes)


def merge_alternatives(
    first: Sequence[Itinerary],
    second: Sequence[Itinerary],
    *,
    limit: int,
    optimize: Optimize,
    arrive_by: bool,
    with_alternatives: bool = True,
) -> Merged:
    """Deduplicate, rank, put the usable before the disrupted, and keep to the limit.

    Of equals a usable one is kept before any disrupted one (decision 0312).

    ``first`` holds all that the first question found, disrupted itineraries of the timetable included;
    ``second`` what the relaxed question found, empty where it was not asked.
    Flagged is a usable itinerary that only the second question found, while the first has a disrupted one.
    Without alternatives the order is that of ``optimize`` alone, and nothing is flagged or named as dropped.
    """
    named = [(fingerprint(each), each) for each in (*first, *second)]
    promised = {name for name, _ in named[: len(first)]}
    usable = deduplicate_named((name, each) for name, each in named if not is_disrupted(each))
    unique = deduplicate_named(pair for pair in named if pair[0] not in usable) | usable
    disrupted = unique.keys() - usable.keys()
    ranked = rank_named(unique.items(), optimize, arrive_by=arrive_by)
    if with_alternatives:
        ranked.sort(key=lambda pair: pair[0] in disrupted)
    troubled = [(name, each) for name, each in ranked if name in disrupted & promised]
    any_trouble = with_alternatives and bool(troubled)

    def choose(name: str, itinerary: Itinerary) -> Choice:
        if name in disrupted:
            return Choice(itinerary, name, note=find_note(itinerary))
        return Choice(itinerary, name, flagged=any_trouble and name not in promised)

    fallen = {name for name, _ in ranked[limit:]} if with_alternatives else set()
    return Merged(
        choices=tuple(choose(name, each) for name, each in ranked[:limit]),
        dropped=tuple(each for name, each in troubled if name in fallen),
        unique_found=len(unique),
        deduplicated_from=len(named) if len(named) > len(unique) else None,
        usual=troubled[0][1] if any_trouble else None,
    )


def _minutes(delay_s: int) -> str:
    return f"{round(delay_s / 60)} min"
