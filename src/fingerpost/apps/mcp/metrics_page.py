"""``/metrics``: the metrics of a server and of all its workers, in Prometheus' text format (extra ``[telemetry]``).

Each worker keeps its own, and answers the others over a socket in a folder that they share: whichever of them is
scraped asks all, so that a scrape is complete and as fresh as itself. The label ``worker`` tells them apart, because a
sum would fall when a worker ends, and Prometheus would read that as a restart.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fingerpost.apps.mcp.host_check import check_host
from fingerpost.apps.metrics_extra import EXTRA, has_extra

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric

_log = logging.getLogger(__name__)

# A worker that has not answered by then is busy for longer than a scraper waits, or hangs.
_PATIENCE_S = 3.0
_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SOCKETS = "*.socket"


class MetricsPage:
    """The metrics of this process, and of the other workers where there is a ``folder`` to meet in.

    Args:
        registry: what this process collects.
        folder: where each worker has its socket; only its owner may enter it.
    """

    def __init__(self, registry: "CollectorRegistry", folder: Path | None = None) -> None:
        self._registry = registry
        self._folder = folder
        self._own = str(os.getpid())

    def list_routes(self, hosts: Collection[str]) -> list[Route]:
        """Return the one route of the page, which answers under these host names."""
        return [Route("/metrics", check_host(self._answer, hosts))]

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        """Answer the other workers until the block ends."""
        if self._folder is None:
            yield
            return
        path = self._folder / f"{self._own}.socket"
        server = await asyncio.start_unix_server(self._answer_worker, path)
        try:
            yield
        finally:
            server.close()
            path.unlink(missing_ok=True)

    async def collect(self) -> bytes:
        """Return the metrics of all workers; the gauge ``fingerpost_worker_up`` is 0 for one that did not answer."""
        others = [] if self._folder is None else sorted(self._folder.glob(_SOCKETS))
        texts: dict[str, str | None] = {self._own: await asyncio.to_thread(self._write_own)}
        asked = [path for path in others if path.stem != self._own]
        for path, text in zip(asked, await asyncio.gather(*(_ask_worker(path) for path in asked)), strict=True):
            if text != "":
                texts[path.stem] = text
        return await asyncio.to_thread(_write_all, texts)

    def _write_own(self) -> str:
        from prometheus_client import generate_latest

        return generate_latest(self._registry).decode()

    async def _answer(self, _request: Request) -> Response:
        return Response(await self.collect(), media_type=_MEDIA_TYPE)

    async def _answer_worker(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write((await asyncio.to_thread(self._write_own)).encode())
            await writer.drain()
        except OSError as error:
            _log.info("a worker did not wait for our metrics: %s", error)
        finally:
            writer.close()


def open_metrics_page(folder: Path | None = None) -> MetricsPage | None:
    """Begin to collect this process's metrics; None, and a line in the log, without the extra.

    Where whoever started the process has configured OpenTelemetry, its exporters go on beside the page.
    """
    if not has_extra():
        _log.info("no /metrics: the extra [%s] is not installed", EXTRA)
        return None
    from opentelemetry import metrics
    from opentelemetry.exporter.prometheus import PrometheusMetricReader
    from opentelemetry.sdk.metrics import MeterProvider
    from prometheus_client import CollectorRegistry, ProcessCollector

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    reader = PrometheusMetricReader(disable_target_info=True, scope_info_enabled=False, registry=registry)
    configured = metrics.get_meter_provider()
    if isinstance(configured, MeterProvider):
        configured.add_metric_reader(reader)
    else:
        metrics.set_meter_provider(MeterProvider(metric_readers=[reader]))
    return MetricsPage(registry, folder)


async def _ask_worker(path: Path) -> str | None:
    """Return what a worker wrote; empty where it has ended, None where it did not answer in time."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            reader, writer = await asyncio.open_unix_connection(path)
            try:
                return (await reader.read()).decode() or None
            finally:
                writer.close()
    except TimeoutError:
        _log.warning("worker %s did not tell its metrics within %g s", path.stem, _PATIENCE_S)
        return None
    except OSError:
        return ""


def _write_all(texts: Mapping[str, str | None]) -> bytes:
    """Return the page of all workers, by worker what each wrote: every metric once, each sample with its worker."""
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.metrics_core import GaugeMetricFamily
    from prometheus_client.parser import text_string_to_metric_families

    up = GaugeMetricFamily("fingerpost_worker_up", "Whether a worker told its metrics", labels=["worker"])
    merged: dict[str, Metric] = {up.name: up}
    for worker, text in texts.items():
        up.add_metric([worker], 0 if text is None else 1)
        for family in text_string_to_metric_families(text or ""):
            whole = merged.setdefault(family.name, family)
            samples = [sample._replace(labels={**sample.labels, "worker": worker}) for sample in family.samples]
            whole.samples = samples if whole is family else [*whole.samples, *samples]

    registry = CollectorRegistry()
    registry.register(_Families(merged.values()))
    return generate_latest(registry)


class _Families:
    """Metrics as a registry takes them; it wants no more of a collector than this."""

    def __init__(self, families: "Iterable[Metric]") -> None:
        self._families = families

    def collect(self) -> "Iterable[Metric]":
        return self._families
