"""Select, order and shorten the alerts of an answer (rule B13)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from fingerpost.transit.model.itinerary import Leg, ServiceAlert

MAX_ALERTS = 5
HEADER_CHARS = 160
TEXT_CHARS = 400

_ACCESSIBILITY_ISSUE = "ACCESSIBILITY_ISSUE"
_SERIOUS_EFFECTS = ("REDUCED_SERVICE", "SIGNIFICANT_DELAYS", "DETOUR", "MODIFIED_SERVICE", "STOP_MOVED")
_RANKS = {"NO_SERVICE": 0, **dict.fromkeys(_SERIOUS_EFFECTS, 2), "ADDITIONAL_SERVICE": 5, "NO_EFFECT": 5}
_UNNAMED_EFFECTS = frozenset({"UNKNOWN_EFFECT", "OTHER_EFFECT"})


class AffectedPart(NamedTuple):
    """The path and the alerts of a part of an answer; ``explains`` is set if the alerts explain a disruption."""

    path: str
    alerts: Sequence[ServiceAlert]
    explains: bool = False


class AlertNotice(NamedTuple):
    """An alert with its header and text shortened, and the paths of the affected parts."""

    alert: ServiceAlert
    touches: tuple[str, ...]


class AlertNotices(NamedTuple):
    notices: tuple[AlertNotice, ...]
    more: int


def choose_alerts(parts: Iterable[AffectedPart], *, step_free: bool = False) -> AlertNotices:
    """Deduplicate an answer's alerts by text, and sort them: explanations first, then by effect and specificity.

    For a ``step_free`` trip, only closures rank above a broken lift.
    """
    ranks = _RANKS | {_ACCESSIBILITY_ISSUE: 1 if step_free else 4}
    found: dict[ServiceAlert, list[_AlertUse]] = {}
    for part in parts:
        for specificity, alert in enumerate(part.alerts):
            key = replace(alert, id="", since=None, until=None)
            rank = not part.explains, ranks.get(alert.effect, 3), specificity
            found.setdefault(key, []).append(_AlertUse(rank, alert, part.path))
    order = sorted(found.values(), key=lambda uses: min(use.rank for use in uses))
    notices = tuple(_merge_uses(uses) for uses in order[:MAX_ALERTS])
    return AlertNotices(notices, len(order) - len(notices))


def find_explanation(leg: Leg) -> ServiceAlert | None:
    return next((alert for alert in leg.alerts if alert.effect != _ACCESSIBILITY_ISSUE), None)


class _AlertUse(NamedTuple):
    rank: tuple[bool, int, int]
    alert: ServiceAlert
    path: str


def _merge_uses(uses: Sequence[_AlertUse]) -> AlertNotice:
    end_times = [use.alert.until for use in uses]
    alert = replace(
        uses[0].alert,
        since=min(use.alert.since or 0 for use in uses) or None,
        until=None if None in end_times else max(time or 0 for time in end_times),
    )
    return AlertNotice(_shorten_texts(alert), tuple(dict.fromkeys(use.path for use in uses)))


def _shorten_texts(alert: ServiceAlert) -> ServiceAlert:
    """Shorten an alert's header and text; the start of the text replaces an empty header."""
    header, text = (" ".join(raw.split()) for raw in (alert.header, alert.text))
    if not header:
        header, text = _split_header(text)
    elif text.casefold().startswith(header.casefold()):
        text = text[len(header) :].lstrip(" .,:;!-\u2013\u2014")
    return replace(
        alert,
        header=_truncate(header, HEADER_CHARS) or format_effect(alert.effect) or "Notice",
        text=_truncate(text, TEXT_CHARS),
    )


def format_effect(effect: str) -> str:
    return "" if effect in _UNNAMED_EFFECTS else effect.replace("_", " ").capitalize()


def _split_header(text: str) -> tuple[str, str]:
    sentence, separator, rest = text.partition(". ")
    if separator and len(sentence) < HEADER_CHARS:
        return f"{sentence}.", rest
    header = _truncate(text, HEADER_CHARS)
    return header, text[len(header.removesuffix("…")) :].lstrip() if header != text else ""


def _truncate(text: str, max_chars: int) -> str:
    if len(text) <= max_chars:
        return text
    start = text[: max_chars - 1]
    last_space = start.rfind(" ") if not text[max_chars - 1].isspace() else -1
    return f"{start[:last_space] if last_space > max_chars // 2 else start}…"
