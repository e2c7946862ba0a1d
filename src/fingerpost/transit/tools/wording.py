"""Format transit answers as text: times, itineraries, legs, alerts, warnings and attribution."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from fingerpost.errors import list_first
from fingerpost.transit.model.itinerary import Itinerary, Leg, Mode, StopPoint
from fingerpost.transit.port import ServiceGap
from fingerpost.transit.rules.alerts import format_effect
from fingerpost.transit.rules.modes import format_ride
from fingerpost.transit.rules.realtime_status import Status, format_age, get_status
from fingerpost.transit.rules.times import QueryInstant, format_instant, to_local_date
from fingerpost.transit.rules.warnings import Warning, WarningCode, list_stated  # noqa: A004
from fingerpost.transit.tools.shapes import AlertNotes, AnswerOrigin, Warned, WireAlert, WireFeed, format_time

_MAX_NAMES = 4


def list_time_warnings(when: QueryInstant, zone: str | None, subject: str) -> list[Warning]:
    past = f"{format_time(when.instant, zone)} is in the past; {subject} for that time."
    return list_stated(
        (WarningCode.TIMEZONE_ASSUMED, when.note), (WarningCode.IN_THE_PAST, past if when.is_past else None)
    )


def list_footer_lines(answer: Warned, meta: AnswerOrigin, alerts: Sequence[str] = ()) -> list[str]:
    lines = [f"! {warning['message']}" for warning in answer.get("warnings", ())]
    lines += alerts
    lines += [f"! {note}" for note in meta.get("notes", ())]
    if "realtimeAgeSeconds" in meta:
        lines.append(f"Realtime data is {format_age(meta['realtimeAgeSeconds'])} old.")
    if "feeds" in meta:
        lines.append(f"Feeds: {'; '.join(map(_format_feed, meta['feeds']))}")
    if "attribution" in meta:
        lines.append(f"Data: {'; '.join(meta['attribution'])}")
    return lines


def _format_feed(feed: WireFeed) -> str:
    version = f" {feed['version']}" if "version" in feed else ""
    days = f", {feed['firstDay']} to {feed['lastDay']}" if "firstDay" in feed and "lastDay" in feed else ""
    return f"{feed['feed']}{version}{days}"


FormatTime = Callable[[int], str]
"""Formats an instant (Unix seconds) as local time."""


def format_clock(instant: int, reference: int, zone: str, *, with_seconds: bool = False) -> str:
    """Return HH:MM, with the date and the UTC offset if they differ from those of ``reference``."""
    time, start = format_instant(instant, zone), format_instant(reference, zone)
    clock = time[11:19] if with_seconds and time[17:19] != "00" else time[11:16]
    if time[19:] != start[19:]:
        clock += time[19:]
    return clock if time[:10] == start[:10] else f"{time[:10]} {clock}"


def format_day(instant: int, zone: str) -> str:
    """Return a day with its zone and UTC offset, which callers need for timestamps in later calls."""
    return f"{to_local_date(instant, zone):%a %Y-%m-%d} ({zone}, UTC{format_instant(instant, zone)[19:]})"


def format_count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def count_minutes(itinerary: Itinerary) -> int:
    """Return the duration in whole minutes, rounded up, but at least 1."""
    return max(1, -(-itinerary.duration_s // 60))


def format_itinerary(itinerary: Itinerary, format_time: FormatTime, *, minutes: int, walk_m: int) -> str:
    span = f"{format_time(itinerary.departure)} to {format_time(itinerary.arrival)}"
    return f"{span}, {minutes} min, {format_count(itinerary.transfers, 'change')}, {walk_m} m walk"


# In minutes. Like all durations in text, a wait is the difference between the times shown.
_MIN_SHOWN_WAIT = 3


def list_leg_lines(itinerary: Itinerary, format_time: FormatTime, name_mode: Callable[[Mode], str]) -> list[str]:
    """Describe each leg and the wait before it; ``name_mode`` maps a mode to the tool's name for it."""
    before = [None, *itinerary.legs[:-1]]
    return [
        f"   {_format_change(previous, leg)}{_format_leg(leg, format_time, name_mode)}"
        for previous, leg in zip(before, itinerary.legs, strict=True)
    ]


# Lines with this label are not shown in the terminal.
REFS_LABEL = "   refs for check_trip: "


def list_ref_lines(refs: Iterable[str | None]) -> list[str]:
    known = [ref for ref in refs if ref is not None]
    return [REFS_LABEL + json.dumps(known, ensure_ascii=False)] if known else []


def list_ride_names(itineraries: Iterable[Itinerary], name_mode: Callable[[Mode], str]) -> Iterator[tuple[str, str]]:
    return (
        (f"itineraries/{row}/legs/{index}", f"{row + 1}: {format_ride(name_mode(leg.mode), leg.line)}")
        for row, itinerary in enumerate(itineraries)
        for index, leg in enumerate(itinerary.legs)
        if leg.is_transit
    )


def _format_change(before: Leg | None, leg: Leg) -> str:
    if leg.stays_seated:
        return "stay seated, "
    wait = 0 if before is None else leg.departure // 60 - before.arrival // 60
    return f"wait {wait} min, " if wait >= _MIN_SHOWN_WAIT else ""


def _format_leg(leg: Leg, format_time: FormatTime, name_mode: Callable[[Mode], str]) -> str:
    begin, end, mode = format_time(leg.departure), format_time(leg.arrival), name_mode(leg.mode)
    length = "" if leg.distance_m is None else f"{round(leg.distance_m)} m"
    if not leg.is_transit:
        return ", ".join([f"{mode.lower()} {length}".rstrip(), f"{begin} to {end}", f"to {leg.end.name}"])
    sign = f" towards {leg.headsign}" if leg.headsign else ""
    ride = f"{format_ride(mode, leg.line)}{sign} {begin} {_format_stop(leg.start)} to {_format_stop(leg.end)} {end}"
    return ", ".join(filter(None, [ride, length])) + _format_status(leg)


def _format_stop(stop: StopPoint) -> str:
    return f"{stop.name} (platform {stop.platform})" if stop.platform else stop.name


def _format_status(leg: Leg) -> str:
    if leg.cancelled:
        return " CANCELLED"
    delay_s = leg.departure_delay_s
    if not delay_s:
        return "" if delay_s is None else " on time"
    if get_status(leg) is Status.DELAYED:
        return f" delayed {delay_s} s"
    return f" ({abs(delay_s)} s {'early' if delay_s < 0 else 'late'})"


class WhyEmptySentence(NamedTuple):
    """Why an answer is empty: a phrase, and up to two instants (Unix seconds) to append to it."""

    phrase: str
    instants: tuple[int, ...] = ()

    def format(self, format_time: FormatTime) -> str:
        return f"{self.phrase}{' to '.join(map(format_time, self.instants))}."


def explain_gap(gap: ServiceGap) -> WhyEmptySentence:
    noun = "arrival" if gap.of_arrivals else "departure"
    which, preposition = ("last", "before") if gap.is_before else ("next", "after")
    if gap.next_departure is not None:
        return WhyEmptySentence(f"The {which} {noun} is at ", (gap.next_departure,))
    if gap.next_day is not None:
        return WhyEmptySentence(f"The {which} {noun}s are on {gap.next_day}")
    if gap.cancelled_until is not None:
        return WhyEmptySentence(f"All departures from here until {gap.cancelled_until} are cancelled")
    no_service = f"The timetable has no {noun}s {'there' if gap.of_arrivals else 'from here'}"
    if gap.last_day is not None:
        return WhyEmptySentence(f"{no_service} {preposition} {gap.last_day}")
    return WhyEmptySentence(f"{no_service} on any day")


def list_alert_lines(meta: AlertNotes, parts: Iterable[tuple[str, str]], everything: str, zone: str) -> list[str]:
    """Return a line for each alert; ``parts`` are (path, name) pairs, and ``everything`` is a name for all of them."""
    alerts = meta.get("alerts", ())
    named = list(parts) if alerts else []
    lines = [f"! {_format_alert(alert, named, everything, zone)}" for alert in alerts]
    more = meta.get("alertsNotShown", 0)
    if more:
        lines.append(f"! {more} more {'alert is' if more == 1 else 'alerts are'} not shown.")
    return lines


def _format_alert(alert: WireAlert, parts: Sequence[tuple[str, str]], everything: str, zone: str) -> str:
    paths = set(alert["touches"])
    names = list(dict.fromkeys(name for path, name in parts if path in paths))
    if len(parts) > 1 and paths.issuperset(path for path, _ in parts):
        names = [everything]
    if "stopId" in paths:
        names.insert(0, "this stop")
    if not names:
        names = ["the disrupted trip"]
    effect = format_effect(alert["effect"])
    texts = [alert["header"], alert.get("text", ""), alert.get("url", "")]
    head = ", ".join(filter(None, [effect if effect != alert["header"] else "", _format_period(alert, zone)]))
    return f"Alert for {list_first(names, _MAX_NAMES)}{f' ({head})' if head else ''}: {' '.join(_end_sentences(texts))}"


def _end_sentences(texts: Sequence[str]) -> list[str]:
    sentences = [text for text in texts if text]
    endings = (".", "!", "?", "…", ":")
    return [*(text if text.endswith(endings) else f"{text}." for text in sentences[:-1]), *sentences[-1:]]


def _format_period(alert: WireAlert, zone: str) -> str:
    since, until = (
        f"{datetime.fromisoformat(time).astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}" if time else ""
        for time in (alert.get("from"), alert.get("until"))
    )
    if since and until:
        return f"{since} to {until[11:] if until[:10] == since[:10] else until}"
    return f"since {since}" if since else f"until {until}" if until else ""
