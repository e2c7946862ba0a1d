"""Spans: the layers of one call as OpenTelemetry traces show them."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.metrics import Histogram
from opentelemetry.trace import INVALID_SPAN, NoOpTracerProvider, ProxyTracerProvider, Span, SpanKind, StatusCode

from fingerpost.telemetry.instruments import ERROR
from fingerpost.telemetry.release import VERSION

Attribute = str | int | bool

_tracer = trace.get_tracer("fingerpost", VERSION)


class Measured:
    """One operation that is being measured: a span, and what the duration is recorded with."""

    __slots__ = ("_attributes", "_span")

    def __init__(self, span: Span, attributes: dict[str, Attribute]) -> None:
        self._span = span
        self._attributes = attributes

    def set(self, name: str, value: Attribute) -> None:
        """Add an attribute to the span and to the duration."""
        self._attributes[name] = value
        self._span.set_attribute(name, value)

    def fail(self, error_type: str) -> None:
        """Note that the operation failed, and as what; the words of an error may quote its caller, and are left out."""
        self.set(ERROR, error_type)
        self._span.set_status(StatusCode.ERROR)


@contextmanager
def measured(
    name: str,
    attributes: Mapping[str, Attribute],
    duration: Histogram | None = None,
    *,
    kind: SpanKind = SpanKind.INTERNAL,
    also: Mapping[str, Attribute] | None = None,
) -> Iterator[Measured]:
    """Run a block in a span, and record in ``duration`` how many seconds it took, with the same attributes.

    ``also`` are attributes of the span alone, because each of their values would be a series of its own.
    What the block raises is noted by its class, and goes on.
    """
    began_s = time.perf_counter()
    with _open_span(name, {**attributes, **(also or {})}, kind) as span:
        operation = Measured(span, dict(attributes))
        try:
            yield operation
        except BaseException as error:
            operation.fail(type(error).__qualname__)
            raise
        finally:
            if duration is not None:
                duration.record(time.perf_counter() - began_s, operation._attributes)  # noqa: SLF001  (its own file's)


@contextmanager
def _open_span(name: str, attributes: dict[str, Attribute], kind: SpanKind) -> Iterator[Span]:
    if isinstance(trace.get_tracer_provider(), ProxyTracerProvider | NoOpTracerProvider):
        # Nobody traces: a span that records nothing still costs more than all the rest here.
        yield INVALID_SPAN
        return
    with _tracer.start_as_current_span(
        name, kind=kind, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as span:
        yield span
