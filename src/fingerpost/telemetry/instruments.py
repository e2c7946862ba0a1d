"""The metrics that fingerpost records; names and attributes follow OpenTelemetry's conventions where there are any.

``docs/telemetry.md`` lists them as operators see them.
"""

from opentelemetry import metrics

from fingerpost.telemetry.release import VERSION

# Seconds; a plan takes milliseconds on a timetable and seconds on a slow source.
_BOUNDARIES_S = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

TOOL = "gen_ai.tool.name"
ERROR = "error.type"
HOST = "server.address"
NETWORK = "fingerpost.network.name"
OTHER = "_OTHER"
"""What an attribute holds where a caller could choose its value; each value is a series that is kept for ever."""

_meter = metrics.get_meter("fingerpost", VERSION)

TOOL_CALL_DURATION = _meter.create_histogram(
    "fingerpost.tool.call.duration",
    unit="s",
    description="Calls of tools over any interface or by a plan; error.type is the caller's code",
    explicit_bucket_boundaries_advisory=_BOUNDARIES_S,
)
NETWORK_QUERY_DURATION = _meter.create_histogram(
    "fingerpost.network.query.duration",
    unit="s",
    description="Queries of networks, whatever their kind of source",
    explicit_bucket_boundaries_advisory=_BOUNDARIES_S,
)
HTTP_REQUEST_DURATION = _meter.create_histogram(
    "http.client.request.duration",
    unit="s",
    description="HTTP requests that were sent to sources",
    explicit_bucket_boundaries_advisory=_BOUNDARIES_S,
)
SOURCE_REQUESTS = _meter.create_counter(
    "fingerpost.source.requests",
    unit="{request}",
    description="Requests to sources by how they ended, those included that were answered without asking",
)
REFUSED_CALLS = _meter.create_counter(
    "fingerpost.calls.refused", unit="{call}", description="Calls refused because the process was full"
)
REFUSED_CONNECTIONS = _meter.create_counter(
    "fingerpost.connections.refused",
    unit="{connection}",
    description="Connections refused because the process had as many as it takes",
)
REQUESTS_IN_HAND = _meter.create_up_down_counter(
    "fingerpost.requests.in_hand", unit="{request}", description="HTTP requests that have come and are not answered"
)
SHORTENED_ANSWERS = _meter.create_counter(
    "fingerpost.answers.shortened", unit="{answer}", description="Answers cut to the bounds of their size"
)
WARNINGS = _meter.create_counter(
    "fingerpost.answer.warnings",
    unit="{warning}",
    description="Warnings that answers carried, by code: stale or unmatched real time, networks left out, and others",
)
FALLBACKS = _meter.create_counter(
    "fingerpost.network.fallbacks",
    unit="{query}",
    description="Queries that a network's fallback was asked because the network could not be",
)
OPENED_BREAKERS = _meter.create_counter(
    "fingerpost.breaker.opened",
    unit="{opening}",
    description="Circuit breakers that opened, of a host, a network or a tool of plans",
)
PLAN_RUNS = _meter.create_counter(
    "fingerpost.plan.runs", unit="{run}", description="Runs of plans that this process carried on, by their state then"
)
PLAN_STEP_DURATION = _meter.create_histogram(
    "fingerpost.plan.step.duration",
    unit="s",
    description="Steps of plans that were performed, with all their attempts; those that were skipped are not in it",
    explicit_bucket_boundaries_advisory=_BOUNDARIES_S,
)
