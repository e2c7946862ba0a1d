"""The metrics and spans of fingerpost; names and attributes follow OpenTelemetry's conventions if there are any.

``docs/telemetry.md`` lists them as operators see them.
"""

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.metadata import version
from typing import NamedTuple, Protocol
from weakref import WeakSet

from opentelemetry import metrics, trace
from opentelemetry.metrics import CallbackOptions, Counter, Histogram, Observation
from opentelemetry.trace import INVALID_SPAN, NoOpTracerProvider, ProxyTracerProvider, Span, SpanKind, StatusCode

VERSION = version("fingerpost")

# Seconds; a plan takes milliseconds on a timetable and seconds on a slow source.
_BOUNDARIES_S = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

TOOL = "gen_ai.tool.name"
ERROR = "error.type"
HOST = "server.address"
NETWORK = "fingerpost.network.name"
FEED = "fingerpost.feed.name"
OTHER = "_OTHER"
"""The value of an attribute that a caller could choose freely; each value would create a series."""

_meter = metrics.get_meter("fingerpost", VERSION)


def _durations(name: str, description: str) -> Histogram:
    return _meter.create_histogram(
        name, unit="s", description=description, explicit_bucket_boundaries_advisory=_BOUNDARIES_S
    )


def _counter(name: str, unit: str, description: str) -> Counter:
    return _meter.create_counter(name, unit=f"{{{unit}}}", description=description)


TOOL_CALL_DURATION = _durations(
    "fingerpost.tool.call.duration", "Calls of tools over any interface or by a plan; error.type is the caller's code"
)
NETWORK_QUERY_DURATION = _durations(
    "fingerpost.network.query.duration", "Queries of networks, whatever their kind of source"
)
HTTP_REQUEST_DURATION = _durations("http.client.request.duration", "HTTP requests that were sent to sources")
SOURCE_REQUESTS = _counter(
    "fingerpost.source.requests",
    "request",
    "Requests to sources by outcome, including those answered without sending",
)
REFUSED_CALLS = _counter("fingerpost.calls.refused", "call", "Calls refused because too many were in flight")
REFUSED_CONNECTIONS = _counter(
    "fingerpost.connections.refused", "connection", "Connections refused because the process had too many"
)
REQUESTS_IN_HAND = _meter.create_up_down_counter(
    "fingerpost.requests.in_hand", unit="{request}", description="HTTP requests that have come and are not answered"
)
SHORTENED_ANSWERS = _counter("fingerpost.answers.shortened", "answer", "Answers cut to the size limits")
WARNINGS = _counter(
    "fingerpost.answer.warnings",
    "warning",
    "Warnings that answers carried, by code: stale or unmatched realtime data, networks left out, and others",
)
FALLBACKS = _counter(
    "fingerpost.network.fallbacks",
    "query",
    "Queries that a network's fallback answered",
)
OPENED_BREAKERS = _counter(
    "fingerpost.breaker.opened", "opening", "Circuit breakers that opened, of a host, a network or a tool of plans"
)
PLAN_RUNS = _counter("fingerpost.plan.runs", "run", "Plan runs that this process executed, by their state afterwards")
PLAN_STEP_DURATION = _durations(
    "fingerpost.plan.step.duration",
    "Steps of plans that ran, with all their attempts; skipped steps are not counted",
)


class Age(NamedTuple):
    """The age of the data of a network, or of one of its feeds."""

    network: str
    feed: str | None
    age_s: float


class Aged(Protocol):
    """Reports ages; called from any thread."""

    def list_timetable_ages(self) -> Iterable[Age]:
        """Return the time since each open timetable was made from its feeds."""

    def list_realtime_ages(self) -> Iterable[Age]:
        """Return the time since the last update of each real-time source that ever answered."""


_AGED: WeakSet[Aged] = WeakSet()
_lock = threading.Lock()


def watch(aged: Aged) -> None:
    """Report the ages of something as long as it lives."""
    with _lock:
        _AGED.add(aged)


def stop_watching(aged: Aged) -> None:
    with _lock:
        _AGED.discard(aged)


def observe_timetables(_options: CallbackOptions) -> Iterator[Observation]:
    return _observe(age for aged in _list_watched() for age in aged.list_timetable_ages())


def observe_realtime(_options: CallbackOptions) -> Iterator[Observation]:
    return _observe(age for aged in _list_watched() for age in aged.list_realtime_ages())


def _list_watched() -> list[Aged]:
    with _lock:
        return list(_AGED)


def _observe(ages: Iterable[Age]) -> Iterator[Observation]:
    """Report the oldest of each network and feed: a fresh message must not hide an old one."""
    oldest: dict[tuple[str, str | None], float] = {}
    for network, feed, age_s in ages:
        oldest[network, feed] = max(age_s, oldest.get((network, feed), 0.0))
    for (network, feed), age_s in oldest.items():
        yield Observation(age_s, {NETWORK: network} if feed is None else {NETWORK: network, FEED: feed})


TIMETABLE_AGE = _meter.create_observable_gauge(
    "fingerpost.timetable.age",
    [observe_timetables],
    unit="s",
    description="Time since an open timetable was made from its feeds",
)
REALTIME_AGE = _meter.create_observable_gauge(
    "fingerpost.realtime.age",
    [observe_realtime],
    unit="s",
    description="Time since a feed's oldest real-time source said what is known of it",
)


Attribute = str | int | bool

_tracer = trace.get_tracer("fingerpost", VERSION)


class Measured:
    __slots__ = ("_span", "attributes")

    def __init__(self, attributes: dict[str, Attribute], span: Span) -> None:
        self.attributes = attributes
        self._span = span

    def set(self, name: str, value: Attribute) -> None:
        self.attributes[name] = value
        self._span.set_attribute(name, value)

    def fail(self, error_type: str) -> None:
        """Note a failure by its type, without the message, which may quote the caller."""
        self.set(ERROR, error_type)
        self._span.set_status(StatusCode.ERROR)


Measuring = AbstractContextManager[Measured]


@contextmanager
def measured(
    name: str,
    attributes: Mapping[str, Attribute],
    duration: Histogram | None = None,
    *,
    kind: SpanKind = SpanKind.INTERNAL,
    also: Mapping[str, Attribute] | None = None,
) -> Iterator[Measured]:
    """Measure a block by a span, and in ``duration`` its seconds; an error is noted by its class.

    ``also`` are attributes of the span alone: in metrics each value would be a series of its own.
    """
    opened: AbstractContextManager[Span] = nullcontext(INVALID_SPAN)
    # A span that records nothing still costs more than all the rest here.
    if not isinstance(trace.get_tracer_provider(), ProxyTracerProvider | NoOpTracerProvider):
        opened = _tracer.start_as_current_span(
            name,
            kind=kind,
            attributes={**attributes, **(also or {})},
            record_exception=False,
            set_status_on_exception=False,
        )
    with opened as span:
        block = Measured(dict(attributes), span)
        began_s = time.perf_counter()
        try:
            yield block
        except BaseException as error:
            block.fail(type(error).__qualname__)
            raise
        finally:
            if duration is not None:
                duration.record(time.perf_counter() - began_s, block.attributes)
