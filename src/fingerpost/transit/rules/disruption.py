"""Disruptions: changes that would be missed, alternatives to cancelled or late itineraries, and their order."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from fingerpost.transit.model.itinerary import Itinerary, Leg, Optimize
from fingerpost.transit.rules.modes import trip_word
from fingerpost.transit.rules.ranking import deduplicate_named, fingerprint, rank_named


@dataclass(frozen=True, slots=True)
class MissedChange:
    """A change that the expected times break.

    ``there_s`` are the seconds between the two rides, negative where the second leaves before the first arrives;
    ``needed_s`` those that the change takes at least.
    """

    before: Leg
    after: Leg
    there_s: int
    needed_s: int

    @property
    def sentence(self) -> str:
        change = f"The change from {_in_sentence(self.before)} to {_in_sentence(self.after)} at {self.after.start.name}"
        if self.there_s <= 0:
            return f"{change} is missed by {print_duration(self.needed_s - self.there_s)}."
        return f"{change} has {self.there_s} s of the {self.needed_s} s that it takes."


def ride_name(leg: Leg) -> str:
    """Return ``Line 7``, or what the vehicle is where the line has no name."""
    return f"Line {leg.line}" if leg.line else f"The {trip_word(leg.mode).lower()}"


def print_duration(seconds: int) -> str:
    """Return whole minutes; seconds where it is less than one minute."""
    return f"{seconds} s" if seconds < 60 else f"{round(seconds / 60)} min"


def list_missed_changes(itinerary: Itinerary) -> list[MissedChange]:
    """Return the changes that cannot be made at the expected times; a cancelled ride is another matter."""
    return [MissedChange(*missed) for missed in itinerary.missed_changes]


def as_promised(itinerary: Itinerary) -> Itinerary:
    """Return an itinerary at the times of the timetable; its delays and statuses still say what happened."""
    return Itinerary(tuple(replace(leg, as_promised=True) for leg in itinerary.legs))


def _in_sentence(leg: Leg) -> str:
    name = ride_name(leg)
    return name[:1].lower() + name[1:]


# A ride that leaves or arrives later than this disrupts; being early does not.
DISRUPTED_AFTER_S = 300


@dataclass(frozen=True, slots=True)
class Choice:
    """An itinerary to show, with its fingerprint.

    ``flagged`` is the contract's DisruptionFlag, ``note`` its DisruptionNote; never both.
    ``instead_of`` is the disrupted itinerary of the first result that would have been shown before it, had all run to
    the timetable; None where there is none, and for what is disrupted itself.
    """

    itinerary: Itinerary
    fingerprint: str
    flagged: bool = False
    note: str | None = None
    instead_of: Itinerary | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The itineraries to show, and the warnings about the rest.

    Attributes:
        choices: at most the limit, in the order to show them.
        found: all different itineraries of all searches in that order, shown or not.
        dropped: disrupted itineraries of the first result that the limit cut off (``disrupted-itinerary-replaced``).
        deduplicated_from: itineraries found before deduplication, None where none was removed.
        any_usable: whether any itinerary that was found can be used.
    """

    choices: tuple[Choice, ...]
    found: tuple[Itinerary, ...]
    dropped: tuple[Itinerary, ...]
    deduplicated_from: int | None
    any_usable: bool = True


def is_disrupted_leg(leg: Leg) -> bool:
    is_late = max(leg.departure_delay_s or 0, leg.arrival_delay_s or 0) > DISRUPTED_AFTER_S
    return (leg.cancelled or is_late) and leg.is_transit


def is_disrupted(itinerary: Itinerary) -> bool:
    """Whether any ride of an itinerary is late or cancelled, or a change is missed."""
    return itinerary.is_unusable or itinerary.largest_delay_s > DISRUPTED_AFTER_S


def find_leg_note(leg: Leg) -> str | None:
    """Return a sentence on a ride's disruption; None if it is not disrupted. Why it is, its alerts say (rule B13)."""
    if not is_disrupted_leg(leg):
        return None
    where = f"{ride_name(leg)} from {leg.start.name}"
    departure_s, arrival_s = leg.departure_delay_s or 0, leg.arrival_delay_s or 0
    if leg.cancelled:
        return f"{where} is cancelled."
    if departure_s > DISRUPTED_AFTER_S:
        return f"{where} leaves {print_duration(departure_s)} late."
    return f"{where} arrives at {leg.end.name} {print_duration(arrival_s)} late."


def find_note(itinerary: Itinerary) -> str | None:
    """Return the sentences of all disrupted rides and all missed changes, None where there is none."""
    return " ".join(note for note, _ in _list_notes(itinerary)) or None


def name_disrupted(disrupted: Iterable[Itinerary], say_time: Callable[[int], str]) -> str:
    """Return what is wrong with itineraries that are not shown, each sentence once, with the rides that it is true of.

    ``say_time`` prints the planned departure of such a ride: of the same line another may run.
    """
    rides: dict[str, dict[str, None]] = {}
    for itinerary in disrupted:
        for note, leg in _list_notes(itinerary):
            rides.setdefault(note.removesuffix("."), {})[say_time(leg.departure_scheduled)] = None
    return " ".join(f"{note} ({', '.join(times)})." for note, times in rides.items())


def _list_notes(itinerary: Itinerary) -> list[tuple[str, Leg]]:
    """Return a sentence on each disrupted ride, and on each missed change beside the ride that is not caught."""
    notes = [(note, leg) for leg in itinerary.legs if (note := find_leg_note(leg)) is not None]
    return notes + [(change.sentence, change.after) for change in list_missed_changes(itinerary)]


def merge_alternatives(
    first: Sequence[Itinerary],
    second: Sequence[Itinerary],
    *,
    limit: int,
    optimize: Optimize,
    arrive_by: bool,
    wanted_arrival: int | None = None,
) -> Merged:
    """Deduplicate, rank, put the usable before the unusable, and keep to the limit.

    Of equals a usable one is kept before any unusable one, then one that is not disrupted, then by
    rule B7, and at last the one that arrives first, or for a wanted arrival the one that leaves last.

    ``first`` holds all that the first question found, disrupted itineraries of the timetable included;
    ``second`` what the relaxed question found, empty where it was not asked.
    Flagged is what only the second question found and stands ahead of a disrupted itinerary of the first, itself
    neither disrupted nor known before.
    What arrives after ``wanted_arrival`` because it is late stands behind what arrives in time.
    """
    named = [(fingerprint(each), each) for each in (*first, *second)]
    promised = {name for name, _ in named[: len(first)]}

    def place(itinerary: Itinerary) -> int:
        """Return 0 for what can be used, 1 for what is too late for the wanted arrival, 2 for the unusable."""
        if itinerary.is_unusable:
            return 2
        return int(wanted_arrival is not None and itinerary.arrival > wanted_arrival)

    unique: dict[str, Itinerary] = {}
    places = [place(each) for _, each in named]
    troubles = [is_disrupted(each) for _, each in named]
    # Of equals the better kind is written last, and stays.
    for kind in ((2, True), (1, True), (1, False), (0, True), (0, False)):
        same = [pair for pair, *its in zip(named, places, troubles, strict=True) if tuple(its) == kind]
        unique |= deduplicate_named(same, _departs_last if arrive_by else _arrives_first)
    placed = {name: place(each) for name, each in unique.items()}
    ranked = rank_named(unique.items(), optimize, arrive_by=arrive_by)
    ranked.sort(key=lambda pair: placed[pair[0]])
    troubled = {name for name, each in ranked if is_disrupted(each)}
    disrupted = {name: at for at, (name, _) in enumerate(ranked) if name in troubled & promised}
    last_known = max(disrupted.values(), default=-1)
    planned = _rank_by_timetable(ranked, optimize, arrive_by=arrive_by) if disrupted else []

    def choose(at: int, name: str, itinerary: Itinerary) -> Choice:
        if name in troubled:
            return Choice(itinerary, name, note=_note_of(itinerary, wanted_arrival if placed[name] == 1 else None))
        # What only the second question found would not have been shown at all.
        better = takewhile(lambda other: other != name, planned) if name in promised else planned
        replaced = _worst([unique[other] for other in better if disrupted.get(other, -1) > at])
        return Choice(itinerary, name, flagged=at < last_known and name not in promised, instead_of=replaced)

    return Merged(
        choices=tuple(choose(at, *pair) for at, pair in enumerate(ranked[:limit])),
        found=tuple(each for _, each in ranked),
        dropped=tuple(each for name, each in ranked[limit:] if name in troubled & promised),
        deduplicated_from=len(named) if len(named) > len(unique) else None,
        any_usable=any(kind == 0 for kind in placed.values()) or not placed,
    )


def _arrives_first(itinerary: Itinerary) -> int:
    return itinerary.arrival


def _departs_last(itinerary: Itinerary) -> int:
    return -itinerary.departure


def _note_of(itinerary: Itinerary, wanted_arrival: int | None) -> str | None:
    note = find_note(itinerary)
    if wanted_arrival is None:
        return note
    too_late = f"It arrives {print_duration(itinerary.arrival - wanted_arrival)} after the time asked for."
    return f"{note} {too_late}" if note else too_late


def _worst(troubled: Sequence[Itinerary]) -> Itinerary | None:
    """Return the first that cannot be used, else the first."""
    return next((each for each in troubled if each.is_unusable), troubled[0] if troubled else None)


def _rank_by_timetable(named: Iterable[tuple[str, Itinerary]], optimize: Optimize, *, arrive_by: bool) -> list[str]:
    """Return the fingerprints of itineraries in the order in which the timetable alone would have them."""
    planned = [(name, as_promised(each)) for name, each in named]
    return [name for name, _ in rank_named(planned, optimize, arrive_by=arrive_by)]
