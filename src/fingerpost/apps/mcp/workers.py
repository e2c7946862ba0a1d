"""Serve HTTP from several worker processes at one address, and replace those that exit."""

import logging
import multiprocessing
import os
import socket
import threading
from collections.abc import Collection
from contextlib import closing
from functools import partial
from typing import cast

from starlette.applications import Starlette
from uvicorn.supervisors.multiprocess import Multiprocess

from fingerpost.apps.logs import start_logging
from fingerpost.apps.mcp.address import Access, Address, SharedAddress
from fingerpost.apps.mcp.http import log_endpoint, new_app, new_config
from fingerpost.apps.mcp.identity import CallerFinder
from fingerpost.apps.mcp.metrics_page import start_metrics_server
from fingerpost.apps.settings import Settings
from fingerpost.apps.warm_up import new_warm_up, start_server_process
from fingerpost.apps.wiring import build

_log = logging.getLogger(__name__)


def _start_worker(
    settings: Settings, groups: Collection[str] | None, address: Address, access: Access, metrics: list[Address]
) -> Starlette:
    """Start a worker in its own process and return its web application."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    start_server_process()
    start_logging(can_block=False, as_json=settings.log == "json")
    _log.info("worker %s starts", os.getpid())
    application = build(settings, groups)
    warm_up = new_warm_up(application)
    warm_up.start()
    app = new_app(application, address, warm_up, access)
    start_metrics_server(metrics, access)
    return app


def _end_with_parent() -> None:
    """End this worker when its parent dies, because it would otherwise occupy the port."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def serve_workers(
    settings: Settings,
    address: Address,
    count: int,
    groups: Collection[str] | None,
    access: Access,
    metrics: list[Address],
) -> None:
    """Serve in ``count`` processes until SIGTERM or an interrupt; running calls are still answered.

    A worker that ends or hangs is replaced. Raise SettingsInvalid as ``serve_http`` does.
    """
    CallerFinder(settings, address, access)
    with closing(SharedAddress(address)) as shared:
        worker = partial(_start_worker, settings, groups, shared.address, access, metrics)
        # uvicorn logs which workers died and were replaced.
        logging.getLogger("uvicorn.error").setLevel(logging.INFO)
        log_endpoint(shared.address)
        # uvicorn pickles the address; unpickling it in a worker returns a socket.
        Multiprocess(new_config(worker, access, count), [cast("socket.socket", shared)]).run()
