"""Serve ``/metrics`` at separate addresses, one for each process, because it shows how busy the server is."""

import logging
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from importlib.util import find_spec
from typing import Any

from opentelemetry import metrics as metrics_api
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from fingerpost.apps.mcp.address import Address, format_url, listen
from fingerpost.errors import SettingsInvalid
from fingerpost.runtime.concurrency import compute

_log = logging.getLogger(__name__)

_DEFAULT_ADDRESS = Address("127.0.0.1", 9464)
_METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class MetricsAddresses:
    """Addresses at successive ports, one for each process; unpickling them in a worker returns its listening socket.

    There are none if the extra is not installed or the default port is occupied. Raise SettingsInvalid if a given port
    is occupied. The port of the server, ``served``, is occupied at each host, because ``MetricsPage`` compares ports.
    """

    def __init__(self, served: Address, given: Address | None, processes: int = 1) -> None:
        self.addresses: list[Address] = []
        if find_spec("prometheus_client") is None:
            _log.info("no /metrics: the extra [telemetry] is not installed")
            return
        first = given or _DEFAULT_ADDRESS
        try:
            with ExitStack() as bound:
                for number in range(processes):
                    address = Address(first.host, first.port and first.port + number)
                    if address.port and address.port == served.port:
                        raise SettingsInvalid(f"Port {address.port} is the server's. Choose another address")
                    free = bound.enter_context(closing(listen(address)))
                    self.addresses.append(Address(first.host, free.getsockname()[1]))
        except SettingsInvalid as error:
            if given is not None:
                raise
            self.addresses.clear()
            _log.info("no /metrics: %s with --metrics", error.message)
        for address in self.addresses:
            _log.info("metrics at %s/metrics", format_url(address))

    def __reduce__(self) -> tuple[Any, ...]:
        return listen_first_free, (self.addresses,)


def listen_first_free(addresses: Sequence[Address]) -> socket.socket:
    for address in addresses:
        try:
            return listen(address)
        except SettingsInvalid:
            continue
    _log.warning("no port for /metrics is free, so this process uses another one of this machine")
    return listen(Address("127.0.0.1", 0))


class MetricsPage:
    """Middleware that answers ``/metrics``, and nothing else, on connections to ports other than the server's."""

    def __init__(self, app: ASGIApp, port: int, page: ASGIApp) -> None:
        self._app, self._port, self._page = app, port, page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["server"][1] == self._port:
            await self._app(scope, receive, send)
        elif scope["path"] == "/metrics":
            await self._page(scope, receive, send)
        else:
            await PlainTextResponse("Only /metrics is served here", status_code=404)(scope, receive, send)


def start_metrics() -> Callable[[Request], Any]:
    """Start collecting metrics, which cannot be stopped; return the endpoint that renders them."""
    from opentelemetry.exporter.prometheus import PrometheusMetricReader
    from opentelemetry.sdk.metrics import MeterProvider
    from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    reader = PrometheusMetricReader(disable_target_info=True, scope_info_enabled=False, registry=registry)
    configured = metrics_api.get_meter_provider()
    if isinstance(configured, MeterProvider):
        configured.add_metric_reader(reader)
    else:
        metrics_api.set_meter_provider(MeterProvider(metric_readers=[reader]))

    async def write(_request: Request) -> Response:
        return Response(await compute(generate_latest, registry), media_type=_METRICS_TYPE)

    return write
