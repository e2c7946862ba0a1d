"""Metrics and spans; their names and attributes follow OpenTelemetry's conventions where these exist.

``docs/telemetry.md`` describes them for operators.
"""

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from importlib.metadata import version
from types import TracebackType
from typing import NamedTuple, Protocol, Self
from weakref import WeakSet

from opentelemetry import metrics, trace
from opentelemetry.metrics import CallbackOptions, Counter, Histogram, Observation
from opentelemetry.trace import INVALID_SPAN, NoOpTracerProvider, ProxyTracerProvider, Span, SpanKind, StatusCode

VERSION = version("fingerpost")

# In seconds. A plan takes milliseconds with a local timetable, and seconds with a slow source.
_BOUNDARIES_S = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

TOOL = "gen_ai.tool.name"
ERROR = "error.type"
HOST = "server.address"
NETWORK = "fingerpost.network.name"
FEED = "fingerpost.feed.name"
OTHER = "_OTHER"
"""Replaces attribute values that callers can choose freely, because each value would create a time series."""

_meter = metrics.get_meter("fingerpost", VERSION)


def _new_histogram(name: str, description: str) -> Histogram:
    return _meter.create_histogram(
        name, unit="s", description=description, explicit_bucket_boundaries_advisory=_BOUNDARIES_S
    )


def _new_counter(name: str, unit: str, description: str) -> Counter:
    return _meter.create_counter(name, unit=f"{{{unit}}}", description=description)


TOOL_CALL_DURATION = _new_histogram(
    "fingerpost.tool.call.duration",
    "Tool calls, over any interface or by a plan; error.type is the error code that the caller sees",
)
NETWORK_QUERY_DURATION = _new_histogram(
    "fingerpost.network.query.duration", "Queries to networks, for all kinds of sources"
)
HTTP_REQUEST_DURATION = _new_histogram("http.client.request.duration", "HTTP requests that were sent to sources")
REFUSED_CALLS = _new_counter("fingerpost.calls.refused", "call", "Calls refused because too many were in flight")
REFUSED_CONNECTIONS = _new_counter(
    "fingerpost.connections.refused", "connection", "Connections refused because the process had too many"
)
SHORTENED_ANSWERS = _new_counter("fingerpost.answers.shortened", "answer", "Answers truncated to the size limits")
WARNINGS = _new_counter(
    "fingerpost.answer.warnings",
    "warning",
    "Warnings in answers, by code: stale or unmatched realtime data, networks left out, and others",
)
FALLBACKS = _new_counter("fingerpost.network.fallbacks", "query", "Queries that a network's fallback answered")
OPENED_BREAKERS = _new_counter("fingerpost.breaker.opened", "opening", "Circuit breakers of networks that opened")
PLAN_RUNS = _new_counter(
    "fingerpost.plan.runs", "run", "Plan runs that this process executed, by their state afterwards"
)
PLAN_STEP_DURATION = _new_histogram(
    "fingerpost.plan.step.duration", "Plan steps that ran, including all their attempts; skipped steps are not counted"
)


class Age(NamedTuple):
    """The age of the realtime data of a network, or of one of its feeds."""

    network: str
    feed: str | None
    age_s: float


class AgeSource(Protocol):
    """An object that reports the age of its realtime data; any thread may call it."""

    def list_realtime_ages(self) -> Iterable[Age]:
        """Return the time since the last update of each realtime source that has answered."""


_AGE_SOURCES: WeakSet[AgeSource] = WeakSet()
_sources_lock = threading.Lock()


def watch(source: AgeSource) -> None:
    """Report a source's ages until the source is garbage-collected."""
    with _sources_lock:
        _AGE_SOURCES.add(source)


def observe_realtime(_options: CallbackOptions) -> Iterator[Observation]:
    """Report the greatest age per network and feed, so that recent data does not hide outdated data."""
    with _sources_lock:
        sources = list(_AGE_SOURCES)
    oldest: dict[tuple[str, str | None], float] = {}
    for network, feed, age_s in (age for source in sources for age in source.list_realtime_ages()):
        oldest[network, feed] = max(age_s, oldest.get((network, feed), 0.0))
    for (network, feed), age_s in oldest.items():
        yield Observation(age_s, {NETWORK: network} if feed is None else {NETWORK: network, FEED: feed})


REALTIME_AGE = _meter.create_observable_gauge(
    "fingerpost.realtime.age",
    [observe_realtime],
    unit="s",
    description="Time since the last update from a feed's oldest realtime source",
)


Attribute = str | int | bool

_tracer = trace.get_tracer("fingerpost", VERSION)


class Measurement:
    """Traces a block with a span, and records the elapsed seconds in ``duration``; errors are recorded by class.

    ``span_attributes`` are not added to metrics, where each value would create a time series.
    """

    def __init__(
        self,
        name: str,
        attributes: Mapping[str, Attribute],
        duration: Histogram | None = None,
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        span_attributes: Mapping[str, Attribute] | None = None,
    ) -> None:
        self.attributes = dict(attributes)
        self._duration = duration
        self._span_context: AbstractContextManager[Span] | None = None
        # A span is expensive even if nothing records it.
        if type(trace.get_tracer_provider()) not in (ProxyTracerProvider, NoOpTracerProvider):
            self._span_context = _tracer.start_as_current_span(
                name,
                kind=kind,
                attributes={**attributes, **(span_attributes or {})},
                record_exception=False,
                set_status_on_exception=False,
            )

    def __enter__(self) -> Self:
        self._span = INVALID_SPAN if self._span_context is None else self._span_context.__enter__()
        self._start_s = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self.fail(kind.__qualname__)
        if self._duration is not None:
            self._duration.record(self.elapsed_s, self.attributes)
        if self._span_context is not None:
            self._span_context.__exit__(kind, error, traceback)

    @property
    def elapsed_s(self) -> float:
        return time.perf_counter() - self._start_s

    @property
    def trace_id(self) -> str | None:
        """The trace id in hexadecimal, or None if no SDK records the trace."""
        context = self._span.get_span_context()
        return f"{context.trace_id:032x}" if context.is_valid else None

    def set(self, name: str, value: Attribute) -> None:
        self.attributes[name] = value
        self._span.set_attribute(name, value)

    def fail(self, error_type: str) -> None:
        """Record a failure by type, without the message, which may quote the caller's input."""
        self.set(ERROR, error_type)
        self._span.set_status(StatusCode.ERROR)
