"""What the answers of planRoute and getStopTimetable share: times in UTC, reasons, where they come from (rule D1)."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, NotRequired

from pydantic import Field

from fingerpost.contract.wire import WireDict, WordOf
from fingerpost.transit.model.profile import NetworkProfile
from fingerpost.transit.model.provenance import Provenance
from fingerpost.transit.rules.times import print_utc
from fingerpost.transit.rules.warnings import Warnings
from fingerpost.transit.tools.alert_shapes import AlertNotes, WireAlert, describe_alerts
from fingerpost.transit.tools.local_times import LocalTimes
from fingerpost.transit.tools.shapes import AnswerOrigin, WireWarning, show_origin, show_warnings

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


def show_metadata(
    zone: str, warnings: Warnings, *, cancelled: int = 0, reason: NoResultsReason | None = None
) -> AnswerMetadata:
    """Write the metadata, without a field for what there is nothing to say of (rule A2)."""
    shown: AnswerMetadata = {"timeZone": zone}
    if reason is not None:
        shown["noResultsReason"] = reason.value
    if cancelled:
        shown["cancelledLeftOut"] = cancelled
    told = show_warnings(warnings).get("warnings")
    if told:
        shown["warnings"] = told
    return shown


def show_why_empty(why: str | None) -> WhyEmpty:
    """Write why an answer is empty, no field where nobody knows."""
    return {} if why is None else {"whyEmpty": why}


def show_utc_origin(
    provenance: Provenance, *, ids: Iterable[str] = (), realtime_age_s: int | None = None
) -> AnswerOrigin:
    """Write where an answer comes from, in UTC."""
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
    shown: WireAlert = {**alert}
    if "from" in alert:
        shown["from"] = times.local(alert["from"])
    if "until" in alert:
        shown["until"] = times.local(alert["until"])
    return shown


def new_provenance(profile: NetworkProfile, retrieved_at: int, language: str = "default") -> Provenance:
    """Return the provenance of an answer that a network gave by an error: what its profile says."""
    return Provenance(
        network=profile.name,
        source=profile.source,
        zone=profile.zone,
        retrieved_at=retrieved_at,
        feeds=profile.feeds,
        attribution=profile.attribution,
        language=language,
        demo=profile.is_demo,
        notes=profile.notes,
        first_day=profile.first_day,
        last_day=profile.last_day,
    )
