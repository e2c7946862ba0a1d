"""Spans: the layers of one call as OpenTelemetry traces show them."""

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

from opentelemetry import trace
from opentelemetry.metrics import Histogram
from opentelemetry.trace import INVALID_SPAN, NoOpTracerProvider, ProxyTracerProvider, Span, SpanKind, StatusCode

from fingerpost.runtime.instruments import ERROR, VERSION

Attribute = str | int | bool

_tracer = trace.get_tracer("fingerpost", VERSION)


class Measured:
    """Measures a block: in a span, and by how many seconds it took; what the block raises is noted by its class."""

    __slots__ = ("_also", "_attributes", "_began_s", "_duration", "_kind", "_name", "_opened", "_span")

    def __init__(
        self,
        name: str,
        attributes: Mapping[str, Attribute],
        duration: Histogram | None,
        kind: SpanKind,
        also: Mapping[str, Attribute],
    ) -> None:
        self._name = name
        self._attributes = dict(attributes)
        self._duration = duration
        self._kind = kind
        self._also = also
        self._opened: AbstractContextManager[Span] | None = None
        self._span: Span = INVALID_SPAN

    def __enter__(self) -> Self:
        """Open the span, unless nobody traces: one that records nothing still costs more than all the rest here."""
        if not isinstance(trace.get_tracer_provider(), ProxyTracerProvider | NoOpTracerProvider):
            self._opened = _tracer.start_as_current_span(
                self._name,
                kind=self._kind,
                attributes={**self._attributes, **self._also},
                record_exception=False,
                set_status_on_exception=False,
            )
            self._span = self._opened.__enter__()
        self._began_s = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self.fail(type(error).__qualname__)
        if self._duration is not None:
            self._duration.record(time.perf_counter() - self._began_s, self._attributes)
        if self._opened is not None:
            self._opened.__exit__(kind, error, traceback)

    def set(self, name: str, value: Attribute) -> None:
        self._attributes[name] = value
        self._span.set_attribute(name, value)

    def fail(self, error_type: str) -> None:
        """Note that the block failed, and as what; the words of an error may quote its caller, and are left out."""
        self.set(ERROR, error_type)
        self._span.set_status(StatusCode.ERROR)


def measured(
    name: str,
    attributes: Mapping[str, Attribute],
    duration: Histogram | None = None,
    *,
    kind: SpanKind = SpanKind.INTERNAL,
    also: Mapping[str, Attribute] | None = None,
) -> Measured:
    """Return what measures a block while it is entered: a span, and in ``duration`` the seconds, of equal attributes.

    ``also`` are attributes of the span alone, because each of their values would be a series of its own.
    """
    return Measured(name, attributes, duration, kind, also or {})
