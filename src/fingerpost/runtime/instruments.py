"""The metrics that fingerpost records; names and attributes follow OpenTelemetry's conventions where there are any.

``docs/telemetry.md`` lists them as operators see them.
"""

from opentelemetry import metrics
from opentelemetry.metrics import Counter, Histogram

from fingerpost.runtime import data_ages as ages
from fingerpost.runtime.release import VERSION

# Seconds; a plan takes milliseconds on a timetable and seconds on a slow source.
_BOUNDARIES_S = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

TOOL = "gen_ai.tool.name"
ERROR = "error.type"
HOST = "server.address"
NETWORK = ages.NETWORK
OTHER = "_OTHER"
"""What an attribute holds where a caller could choose its value; each value is a series that is kept for ever."""

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
    "Requests to sources by how they ended, those included that were answered without asking",
)
REFUSED_CALLS = _counter("fingerpost.calls.refused", "call", "Calls refused because too many were in flight")
REFUSED_CONNECTIONS = _counter(
    "fingerpost.connections.refused", "connection", "Connections refused because the process had as many as it takes"
)
REQUESTS_IN_HAND = _meter.create_up_down_counter(
    "fingerpost.requests.in_hand", unit="{request}", description="HTTP requests that have come and are not answered"
)
SHORTENED_ANSWERS = _counter("fingerpost.answers.shortened", "answer", "Answers cut to the bounds of their size")
WARNINGS = _counter(
    "fingerpost.answer.warnings",
    "warning",
    "Warnings that answers carried, by code: stale or unmatched real time, networks left out, and others",
)
FALLBACKS = _counter(
    "fingerpost.network.fallbacks",
    "query",
    "Queries that a network's fallback was asked because the network could not be",
)
OPENED_BREAKERS = _counter(
    "fingerpost.breaker.opened", "opening", "Circuit breakers that opened, of a host, a network or a tool of plans"
)
PLAN_RUNS = _counter("fingerpost.plan.runs", "run", "Runs of plans that this process carried on, by their state then")
PLAN_STEP_DURATION = _durations(
    "fingerpost.plan.step.duration",
    "Steps of plans that were performed, with all their attempts; those that were skipped are not in it",
)
TIMETABLE_AGE = _meter.create_observable_gauge(
    "fingerpost.timetable.age",
    [ages.observe_timetables],
    unit="s",
    description="Time since an open timetable was made from its feeds",
)
REALTIME_AGE = _meter.create_observable_gauge(
    "fingerpost.realtime.age",
    [ages.observe_realtime],
    unit="s",
    description="Time since a feed's oldest real-time source said what is known of it",
)
