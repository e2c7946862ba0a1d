"""Serve each process's ``/metrics`` at a separate address, because metrics reveal how busy the server is."""

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from typing import Any

import uvicorn
from opentelemetry import metrics as metrics_api
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fingerpost.apps.mcp.http_limits import LimitedHttpProtocol
from fingerpost.apps.mcp.identity import check_host
from fingerpost.apps.mcp.listener import Access, Address, listen
from fingerpost.errors import SettingsInvalid

_log = logging.getLogger(__name__)

_DEFAULT_ADDRESS = Address("127.0.0.1", 9464)


def list_metrics_addresses(requested: Address | None, processes: int) -> list[Address]:
    """Return free addresses on consecutive ports, one for each process.

    The list is empty if the telemetry extra is not installed or a default port is in use. Raise SettingsInvalid if a
    requested port is in use.
    """
    if find_spec("prometheus_client") is None:
        _log.info("no /metrics: the telemetry extra is not installed")
        return []
    first = requested or _DEFAULT_ADDRESS
    addresses = [Address(first.host, first.port and first.port + number) for number in range(processes)]
    try:
        for address in addresses:
            listen(address).close()
    except SettingsInvalid as error:
        if requested is not None:
            raise
        _log.info("no /metrics: %s with --metrics", error.message)
        return []
    return addresses


def start_metrics_server(addresses: Sequence[Address], access: Access) -> None:
    """Serve ``/metrics`` at the first free address, in a thread, so that a busy server still reports metrics."""
    for address in addresses:
        with suppress(SettingsInvalid):
            listener = listen(address)
            break
    else:
        if addresses:
            _log.warning("this process does not serve /metrics, because no port for it is free")
        return
    app = Starlette(routes=[Route("/metrics", check_host(start_metrics(), access.list_hosts(address)))])
    app.router.redirect_slashes = False
    config = uvicorn.Config(app, log_config=None, access_log=False, http=LimitedHttpProtocol, ws="none")
    _log.info("metrics at %s/metrics", Address(address.host, listener.getsockname()[1]).url)
    run = partial(uvicorn.Server(config).run, sockets=[listener])
    threading.Thread(target=run, name="fingerpost-metrics", daemon=True).start()


def start_metrics() -> Callable[[Request], Any]:
    """Start collecting metrics and return the endpoint that renders them; collection cannot be stopped."""
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
        return Response(generate_latest(registry), media_type="text/plain; version=0.0.4; charset=utf-8")

    return write
