"""Shapes that timetables and routes share, and their local times."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, NotRequired
from zoneinfo import ZoneInfo

from pydantic import Field

from fingerpost.contract.wire import WireDict, WordOf, write_stated
from fingerpost.transit.model.profile import NetworkProfile
from fingerpost.transit.model.provenance import Provenance
from fingerpost.transit.rules.times import print_utc
from fingerpost.transit.rules.warnings import Warnings
from fingerpost.transit.tools.alert_shapes import AlertNotes, WireAlert, describe_alerts
from fingerpost.transit.tools.shapes import AnswerOrigin, WireWarning, show_origin, show_warnings

_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def list_utc_times(sentence: str) -> list[str]:
    return _UTC.findall(sentence)


class LocalTimes:
    """Prints the instants of one answer (ISO 8601) in the zone of its place, dates where the day is another.

    Where the offset changes within an answer, each time has its own.
    """

    def __init__(self, zone: str, times: Iterable[str]) -> None:
        self._zone = ZoneInfo(zone)
        local = [self._read(time) for time in times]
        offsets = {each.strftime("%z") for each in local}
        self._offset = offsets.pop() if len(offsets) == 1 else None
        self._name = zone

    @property
    def zone(self) -> str:
        """The zone to name once: ``Europe/Helsinki, UTC+02:00``, without the offset where it changes."""
        return self._name if self._offset is None else f"{self._name}, UTC{self._offset[:3]}:{self._offset[3:]}"

    def local(self, time: str) -> str:
        return self._read(time).isoformat()

    def day(self, time: str) -> str:
        """Return the day: ``Sat 2026-03-14``."""
        return f"{self._read(time):%a %Y-%m-%d}"

    def clock(self, time: str, day: str) -> str:
        """Return HH:MM, the day before it on another day than ``day``; seconds where there are any."""
        local = self._read(time)
        text = f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"
        if self._offset is None:
            text += f"{local:%z}"
        own = self.day(time)
        return text if own == day else f"{own} {text}"

    def sentence(self, text: str) -> str:
        """Return a sentence with its instants in UTC as clock times, the day where it is not that of the one before."""
        day = ""

        def local(found: re.Match[str]) -> str:
            nonlocal day
            told, day = self.clock(found[0], day), self.day(found[0])
            return told

        return _UTC.sub(local, text)

    def _read(self, time: str) -> datetime:
        return datetime.fromisoformat(time).astimezone(self._zone)


UtcInstant = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")]
"""An instant in UTC (rule A4)."""


class NoResultsReason(StrEnum):
    """Why an answer is empty (rule D1)."""

    NO_SERVICE = "NO_SERVICE"
    NO_DEPARTURES = "NO_DEPARTURES"
    IN_THE_PAST = "IN_THE_PAST"


class AnswerMetadata(WireDict):
    """Why an answer is empty, the zone of the place, what must not go unsaid, and what is cancelled.

    ``cancelledLeftOut`` counts what the timetable promised in the window and is known to be cancelled.
    """

    timeZone: str
    noResultsReason: NotRequired[Annotated[str, WordOf(NoResultsReason)]]
    cancelledLeftOut: NotRequired[int]
    warnings: NotRequired[list[WireWarning]]


class WhyEmpty(WireDict):
    """Why an answer is empty, as a sentence."""

    whyEmpty: NotRequired[str]


class TimetableMeta(AnswerOrigin, AlertNotes, WhyEmpty):
    """What is ours (rule A10); an empty answer says why."""


def show_metadata(zone: str, warnings: Warnings, *, cancelled: int, reason: NoResultsReason | None) -> AnswerMetadata:
    fields = {
        "timeZone": zone,
        "noResultsReason": reason and reason.value,
        "cancelledLeftOut": cancelled or None,
        **show_warnings(warnings),
    }
    return write_stated(AnswerMetadata, fields)


def show_why_empty(why: str | None) -> WhyEmpty:
    return {} if why is None else {"whyEmpty": why}


def show_utc_origin(provenance: Provenance, *, ids: Iterable[str], realtime_age_s: int | None) -> AnswerOrigin:
    return show_origin(provenance, print_utc(provenance.retrieved_at), ids=ids, realtime_age_s=realtime_age_s)


def describe_utc_alerts(
    meta: AlertNotes, times: LocalTimes, parts: Sequence[tuple[str, str]], everything: str
) -> list[str]:
    """Return the lines of alerts whose times are in UTC, told in the zone of the place; see ``describe_alerts``."""
    local: AlertNotes = {**meta}
    if "alerts" in meta:
        local["alerts"] = [_localise(each, times) for each in meta["alerts"]]
    return describe_alerts(local, parts, everything)


def _localise(alert: WireAlert, times: LocalTimes) -> WireAlert:
    period = {"from": alert.get("from"), "until": alert.get("until")}
    return write_stated(WireAlert, {**alert, **{name: time and times.local(time) for name, time in period.items()}})


def new_provenance(profile: NetworkProfile, retrieved_at: int) -> Provenance:
    """Return the provenance of an answer that a network gave by an error: what its profile says."""
    return Provenance(
        network=profile.name,
        source=profile.source,
        zone=profile.zone,
        retrieved_at=retrieved_at,
        feeds=profile.feeds,
        attribution=profile.attribution,
        demo=profile.is_demo,
        notes=profile.notes,
        first_day=profile.first_day,
        last_day=profile.last_day,
    )
