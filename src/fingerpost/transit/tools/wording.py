"""Sentences that several answers share."""

from collections.abc import Callable, Iterable, Sequence

from fingerpost.transit.model.itinerary import Departure, Leg
from fingerpost.transit.model.provenance import Provenance
from fingerpost.transit.port import BoardGap
from fingerpost.transit.rules.modes import trip_word
from fingerpost.transit.rules.realtime_status import find_stale_message
from fingerpost.transit.rules.times import print_instant
from fingerpost.transit.rules.trip_limits import find_out_of_service_message
from fingerpost.transit.rules.warnings import WarningCode, Warnings
from fingerpost.transit.tools.shapes import AnswerOrigin, Warned, WireFeed


def warn_of_rides(rides: Iterable[Leg | Departure], warnings: Warnings) -> None:
    """Say which rides are only about on time, and which must be arranged."""
    for ride in rides:
        name = f"Line {ride.line}" if ride.line else f"A ride ({trip_word(ride.mode)})"
        if ride.headway_s:
            about = f"{name} runs about every {round(ride.headway_s / 60)} min; its times are approximate."
            warnings.add(WarningCode.FREQUENCY_BASED, about)
        if ride.by_arrangement:
            warnings.add(WarningCode.BY_ARRANGEMENT, f"{name} must be arranged with the operator.")


def warn_of_past(asked: str, these_are: str, warnings: Warnings) -> None:
    """Say that a question is about the past; ``these_are`` begins the sentence on what answers it."""
    warnings.add(WarningCode.IN_THE_PAST, f"{asked} lies in the past; {these_are} of that time.")


def list_stop_ids(legs: Iterable[Leg]) -> list[str]:
    return [point.id for leg in legs for point in (leg.start, leg.end) if point.id is not None]


def warn_of_provenance(provenance: Provenance, age_s: int | None, warnings: Warnings) -> None:
    """Say where real time is too old or matches little, which feeds have no service, and what a fallback lost."""
    warnings.add(WarningCode.REALTIME_STALE, find_stale_message(age_s, provenance.realtime_problems))
    for unmatched in provenance.realtime_unmatched:
        warnings.add(WarningCode.REALTIME_UNMATCHED, unmatched)
    if not warnings.find(WarningCode.OUTSIDE_CALENDAR):
        warnings.add(WarningCode.FEED_NOT_IN_SERVICE, find_out_of_service_message(provenance.out_of_service))
    for lost in provenance.lost:
        warnings.add(WarningCode.NETWORK_LEFT_OUT, lost)


def said_below(answer: Warned, meta: AnswerOrigin, alerts: Sequence[str] = ()) -> list[str]:
    """Return the lines for warnings, alerts, demo notes and attribution; ``alerts`` are lines already."""
    lines = [f"! {warning['message']}" for warning in answer.get("warnings", ())]
    lines += alerts
    lines += [f"! {note}" for note in meta.get("notes", ())]
    if "realtimeAgeSeconds" in meta:
        lines.append(f"Real time is {meta['realtimeAgeSeconds']} s old.")
    if "feeds" in meta:
        lines.append(f"Feeds: {'; '.join(map(_say_feed, meta['feeds']))}")
    if "attribution" in meta:
        lines.append(f"Data: {'; '.join(meta['attribution'])}")
    return lines


def _say_feed(feed: WireFeed) -> str:
    version = f" {feed['version']}" if "version" in feed else ""
    days = f", {feed['firstDay']} to {feed['lastDay']}" if "firstDay" in feed and "lastDay" in feed else ""
    return f"{feed['feed']}{version}{days}"


def clock_of(time: str, since: str) -> str:
    """Return HH:MM of an instant of an answer that begins at ``since``, both ISO 8601 in the place's zone.

    With the date before it on any other day, and the offset after it where clocks have been changed meanwhile: in the
    night in which they go back an hour comes twice.
    """
    clock = time[11:16] if time[19:] == since[19:] else f"{time[11:16]}{time[19:]}"
    return clock if time[:10] == since[:10] else f"{time[:10]} {clock}"


def print_clock(instant: int, since: int, zone: str) -> str:
    """Return ``clock_of`` an instant in an answer that begins at ``since``, both in Unix seconds."""
    return clock_of(print_instant(instant, zone), print_instant(since, zone))


def say_gap(gap: BoardGap, print_time: Callable[[int], str]) -> str:
    """Return when something leaves, or that nothing does."""
    if gap.next_departure is not None:
        return f"The next departure is at {print_time(gap.next_departure)}."
    if gap.next_day is not None:
        return f"The next departures are on {gap.next_day}."
    if gap.cancelled_until is not None:
        return f"All departures from here until {gap.cancelled_until} are cancelled."
    if gap.last_day is not None:
        return f"The timetable has no departures from here after {gap.last_day}."
    return "The timetable has no departures from here on any day."
