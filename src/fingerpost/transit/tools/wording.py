"""Sentences that several answers share."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from fingerpost.transit.port import BoardGap
from fingerpost.transit.rules.alerts import format_effect
from fingerpost.transit.rules.times import AskedInstant, format_instant, format_utc
from fingerpost.transit.tools.shapes import (
    AlertNotes,
    AnswerMetadata,
    AnswerOrigin,
    Warned,
    WireAlert,
    WireFeed,
    format_time,
)

_MOST_NAMES = 4


def find_past_message(when: AskedInstant, zone: str | None, these_are: str) -> str | None:
    return f"{format_time(when.instant, zone)} lies in the past; {these_are} of that time." if when.is_past else None


def said_below(answer: Warned, meta: AnswerOrigin, alerts: Sequence[str] = ()) -> list[str]:
    lines = [f"! {warning['message']}" for warning in answer.get("warnings", ())]
    lines += alerts
    lines += [f"! {note}" for note in meta.get("notes", ())]
    if "realtimeAgeSeconds" in meta:
        lines.append(f"Real time is {meta['realtimeAgeSeconds']} s old.")
    if "feeds" in meta:
        lines.append(f"Feeds: {'; '.join(map(_format_feed, meta['feeds']))}")
    if "attribution" in meta:
        lines.append(f"Data: {'; '.join(meta['attribution'])}")
    return lines


def _format_feed(feed: WireFeed) -> str:
    version = f" {feed['version']}" if "version" in feed else ""
    days = f", {feed['firstDay']} to {feed['lastDay']}" if "firstDay" in feed and "lastDay" in feed else ""
    return f"{feed['feed']}{version}{days}"


def clock_of(time: str, since: str) -> str:
    """Return HH:MM of an instant of an answer that begins at ``since``, both ISO 8601 in the place's zone.

    The date stands before it on another day, and the offset after it if clocks have changed meanwhile.
    """
    clock = time[11:16] if time[19:] == since[19:] else f"{time[11:16]}{time[19:]}"
    return clock if time[:10] == since[:10] else f"{time[:10]} {clock}"


def format_clock(instant: int, since: int, zone: str) -> str:
    return clock_of(format_instant(instant, zone), format_instant(since, zone))


def format_count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def format_itinerary(begin: str, end: str, minutes: int, changes: int, walk_m: int) -> str:
    return f"{begin} to {end}, {minutes} min, {format_count(changes, 'change')}, {walk_m} m walk"


class WhyEmptySentence(NamedTuple):
    """Why an answer is empty: words that end with up to two instants (Unix seconds), printed as each reader needs."""

    words: str
    instants: tuple[int, ...] = ()

    def say(self, format_time: Callable[[int], str]) -> str:
        return self.format_extras(map(format_time, self.instants))

    def format_extras(self, times: Iterable[str]) -> str:
        return f"{self.words}{' to '.join(times)}."


def explain_gap(gap: BoardGap) -> WhyEmptySentence:
    if gap.next_departure is not None:
        return WhyEmptySentence("The next departure is at ", (gap.next_departure,))
    if gap.next_day is not None:
        return WhyEmptySentence(f"The next departures are on {gap.next_day}")
    if gap.cancelled_until is not None:
        return WhyEmptySentence(f"All departures from here until {gap.cancelled_until} are cancelled")
    if gap.last_day is not None:
        return WhyEmptySentence(f"The timetable has no departures from here after {gap.last_day}")
    return WhyEmptySentence("The timetable has no departures from here on any day")


def describe_alerts(meta: AlertNotes, parts: Sequence[tuple[str, str]], everything: str, zone: str) -> list[str]:
    """Return one line an alert; ``parts`` are (path, name) of the answer, ``everything`` the name of all together."""
    lines = [f"! {_line_of(alert, parts, everything, zone)}" for alert in meta.get("alerts", ())]
    more = meta.get("alertsNotShown", 0)
    if more:
        lines.append(f"! {more} more {'alert is' if more == 1 else 'alerts are'} not shown.")
    return lines


def _line_of(alert: WireAlert, parts: Sequence[tuple[str, str]], everything: str, zone: str) -> str:
    touched = set(alert["touches"])
    names = list(dict.fromkeys(name for path, name in parts if path in touched))
    if len(parts) > 1 and touched.issuperset(path for path, _ in parts):
        names = [everything]
    if "stopId" in touched:
        names.insert(0, "this stop")
    if not names:
        names = ["the disrupted trip"]
    named = ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if (more := len(names) - _MOST_NAMES) > 0 else "")
    effect = format_effect(alert["effect"])
    said = [alert["header"], alert.get("text", ""), alert.get("url", "")]
    head = ", ".join(filter(None, [effect if effect != alert["header"] else "", _format_period(alert, zone)]))
    return f"Alert for {named}{f' ({head})' if head else ''}: {' '.join(_sentences(said))}"


def _sentences(said: Sequence[str]) -> list[str]:
    given = [text for text in said if text]
    stops = (".", "!", "?", "…", ":")
    return [*(text if text.endswith(stops) else f"{text}." for text in given[:-1]), *given[-1:]]


def _format_period(alert: WireAlert, zone: str) -> str:
    since, until = (
        f"{datetime.fromisoformat(time).astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}" if time else ""
        for time in (alert.get("from"), alert.get("until"))
    )
    if since and until:
        return f"{since} to {until[11:] if until[:10] == since[:10] else until}"
    return f"since {since}" if since else f"until {until}" if until else ""


class LocalTimes:
    """Prints the instants of one answer (ISO 8601) in the zone of its place, with dates of other days.

    If the offset changes within an answer, each time has its own. An empty answer has the instants of ``why_empty``.
    """

    def __init__(self, zone: str, times: Iterable[str], why_empty: WhyEmptySentence | None) -> None:
        self._zone = ZoneInfo(zone)
        self._why_empty = why_empty
        shown = [*times] or [format_utc(instant) for instant in (why_empty.instants if why_empty else ())]
        offsets = {self._read(time).strftime("%z") for time in shown}
        self._offset = offsets.pop() if len(offsets) == 1 else None
        self._name = zone

    @property
    def zone(self) -> str:
        """The zone to name once: ``Europe/Helsinki, UTC+02:00``, without the offset where it changes."""
        return self._name if self._offset is None else f"{self._name}, UTC{self._offset[:3]}:{self._offset[3:]}"

    def date(self, time: str) -> str:
        return self._read(time).date().isoformat()

    def day(self, time: str) -> str:
        return f"{self._read(time):%a %Y-%m-%d}"

    def clock(self, time: str, day: str) -> str:
        local = self._read(time)
        text = f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"
        if self._offset is None:
            text += f"{local:%z}"
        own = self.day(time)
        return text if own == day else f"{own} {text}"

    def explain_empty(self, metadata: AnswerMetadata) -> str:
        why, reason = self._why_empty, metadata.get("noResultsReason", "")
        if why is None:
            return reason
        times = [format_utc(instant) for instant in why.instants]
        # The day is said if it is not that of the instant before.
        return f"{reason} {why.format_extras(map(self.clock, times, ['', *map(self.day, times)]))}".lstrip()

    def _read(self, time: str) -> datetime:
        return datetime.fromisoformat(time).astimezone(self._zone)
