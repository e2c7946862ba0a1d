"""Select, order and shorten the alerts of an answer (rule B13)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from fingerpost.transit.model.itinerary import Leg, ServiceAlert

MAX_ALERTS = 5
HEADER_CHARS = 160
TEXT_CHARS = 400

_LIFT = "ACCESSIBILITY_ISSUE"
_SERIOUS = ("REDUCED_SERVICE", "SIGNIFICANT_DELAYS", "DETOUR", "MODIFIED_SERVICE", "STOP_MOVED")
_RANKS = {"NO_SERVICE": 0, **dict.fromkeys(_SERIOUS, 2), "ADDITIONAL_SERVICE": 5, "NO_EFFECT": 5}
_NAMELESS = frozenset({"UNKNOWN_EFFECT", "OTHER_EFFECT"})


class AffectedPart(NamedTuple):
    """A part of an answer by its path, with its alerts, nearest first; ``explains`` if they explain a disruption."""

    path: str
    alerts: Sequence[ServiceAlert]
    explains: bool = False


@dataclass(frozen=True, slots=True)
class AlertNotice:
    """An alert to show, with shortened texts, and the paths of the affected parts in the order of the answer."""

    alert: ServiceAlert
    touches: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AlertNotices:
    notices: tuple[AlertNotice, ...]
    more: int


def choose_alerts(parts: Iterable[AffectedPart], *, step_free: bool = False) -> AlertNotices:
    """Return each alert of an answer once, with all affected parts; explanations first, then by effect and nearness.

    Publishers repeat alerts line by line, so alerts with equal texts become one, in force as long as any of them.
    For a ``step_free`` trip only closures rank before a broken lift.
    """
    found: dict[ServiceAlert, list[_Mention]] = {}
    for part in parts:
        for nearness, alert in enumerate(part.alerts):
            key = replace(alert, id="", since=None, until=None)
            found.setdefault(key, []).append(_Mention(alert, part, nearness))

    def rank(mentions: list[_Mention]) -> tuple[bool, int, int]:
        explains = any(mention.part.explains for mention in mentions)
        nearness = min(mention.nearness for mention in mentions)
        return not explains, _effect_rank(mentions[0].alert.effect, step_free=step_free), nearness

    order = sorted(found.values(), key=rank)
    notices = tuple(_merge(mentions) for mentions in order[:MAX_ALERTS])
    return AlertNotices(notices, len(order) - len(notices))


def find_explanation(leg: Leg) -> ServiceAlert | None:
    return next((alert for alert in leg.alerts if alert.effect != _LIFT), None)


class _Mention(NamedTuple):
    alert: ServiceAlert
    part: AffectedPart
    nearness: int


def _merge(mentions: Sequence[_Mention]) -> AlertNotice:
    since = [mention.alert.since for mention in mentions]
    until = [mention.alert.until for mention in mentions]
    alert = replace(
        mentions[0].alert,
        since=None if None in since else min(filter(None, since), default=0),
        until=None if None in until else max(filter(None, until), default=0),
    )
    return AlertNotice(_within_bounds(alert), tuple(dict.fromkeys(mention.part.path for mention in mentions)))


def _effect_rank(effect: str, *, step_free: bool) -> int:
    if effect == _LIFT:
        return 1 if step_free else 4
    return _RANKS.get(effect, 3)


def _within_bounds(alert: ServiceAlert) -> ServiceAlert:
    """Shorten an alert's texts; an empty header becomes the beginning of the text, and is not repeated there."""
    header, text = (" ".join(words.split()) for words in (alert.header, alert.text))
    if not header:
        header, text = _split_header(text)
    elif text.casefold().startswith(header.casefold()):
        text = text[len(header) :].lstrip(" .,:;!-\u2013\u2014")
    return replace(
        alert, header=_cut(header, HEADER_CHARS) or format_effect(alert.effect) or "Notice", text=_cut(text, TEXT_CHARS)
    )


def format_effect(effect: str) -> str:
    return "" if effect in _NAMELESS else effect.replace("_", " ").capitalize()


def _split_header(text: str) -> tuple[str, str]:
    sentence, stop, rest = text.partition(". ")
    if stop and len(sentence) < HEADER_CHARS:
        return f"{sentence}.", rest
    header = _cut(text, HEADER_CHARS)
    return header, text[len(header.removesuffix("…")) :].lstrip() if header != text else ""


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    begin = text[: longest - 1]
    between = begin.rfind(" ") if not text[longest - 1].isspace() else -1
    return f"{begin[:between] if between > longest // 2 else begin}…"
