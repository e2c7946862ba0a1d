"""The HTTP server (one or more processes): ``/mcp`` (streamable HTTP), ``/health``, ``/ready`` and the web page."""

import asyncio
import json
import logging
import multiprocessing
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import aclosing, asynccontextmanager, closing, suppress
from functools import partial
from typing import Any, cast

import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from sse_starlette.sse import AppStatus
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send
from uvicorn.supervisors.multiprocess import Multiprocess

from fingerpost.apps.logs import start_logging
from fingerpost.apps.mcp import http_limits as limits
from fingerpost.apps.mcp.identity import CallerFinder, SignIn, check_host
from fingerpost.apps.mcp.listener import LOCAL_ACCESS, Access, Address, SharedAddress, list_mapped, listen
from fingerpost.apps.mcp.metrics_page import start_metrics_server
from fingerpost.apps.mcp.server import new_server
from fingerpost.apps.settings import Settings
from fingerpost.apps.storage import find_database
from fingerpost.apps.views.page import Site
from fingerpost.apps.warm_up import WarmUp, new_warm_up, start_server_process
from fingerpost.apps.wiring import Application, build, check_groups
from fingerpost.errors import SettingsInvalid, ToolError
from fingerpost.runtime.concurrency import run_in_thread

_log = logging.getLogger(__name__)

# How long the server waits for running calls when it stops.
_GRACE_S = 10
# How many new connections the server accepts at a time; between batches, it handles other clients' calls.
_ACCEPTED_AT_ONCE = 2
# The supervisor replaces a worker that does not respond for this long.
_MAX_SILENCE_S = 60

# The timeout of a readiness probe, and how long later probes reuse its result.
_PROBE_S = 1.0
_CHECK_REUSE_S = 2.0
_SLOW = f"A network, the home folder or the database took more than {_PROBE_S:g} s to respond"

_SERVING = "serving at %s/mcp"
_CALLER_KEY = "fingerpost.caller"


class McpTransport:
    """The ``/mcp`` endpoint; it is stateless, so only POST is allowed.

    Answers are JSON bodies unless the client requests progress, because event streams are more expensive.
    """

    def __init__(
        self, server: Server[Any], security: TransportSecuritySettings, callers: CallerFinder, max_calls: int
    ) -> None:
        self._admission = limits.Admission(max_calls)
        self._callers = callers
        self._json_manager, self._stream_manager = (
            StreamableHTTPSessionManager(app=server, json_response=is_json, stateless=True, security_settings=security)
            for is_json in (True, False)
        )

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        async with self._json_manager.run(), self._stream_manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            refusal = await self._answer(scope, receive, send)
            if refusal is not None:
                await refusal(scope, receive, send)
        except asyncio.CancelledError:
            # The server is stopping. Without an answer, uvicorn would log a traceback; a second answer raises an error.
            with suppress(RuntimeError):
                await _STOPPING(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> Response | None:
        """Answer a request, or return the response that refuses it."""
        if scope["method"] != "POST":
            return Response(status_code=405, headers={"Allow": "POST"})
        # Such as ``/mcp/trips,filings``; an empty list means all groups.
        groups = [group for group in scope["path_params"].get("groups", "").split(",") if group]
        try:
            check_groups(groups)
        except SettingsInvalid as error:
            return _refuse(404, error.message, {})
        # The SDK compares host names case-sensitively.
        scope = {**scope, "headers": [(key, raw.lower() if key == b"host" else raw) for key, raw in scope["headers"]]}
        caller = scope[_CALLER_KEY] = self._callers.find(scope)._replace(groups=groups)
        headers = Headers(scope=scope)
        with self._admission.enter(caller.name) as may_send:
            if not may_send:
                return _TOO_MANY
            length = headers.get("content-length", "")
            try:
                body = await limits.receive_body(receive, int(length) if length.isdecimal() else 0)
            except TimeoutError:
                return Response(status_code=408)
            except ClientDisconnect:
                return None
            if body is None:
                return _TOO_LARGE
            with self._admission.answer() as is_admitted:
                if not is_admitted:
                    return _FULL
                wants_progress = "text/event-stream" in headers.get("accept", "") and b'"progressToken"' in body
                manager = self._stream_manager if wants_progress else self._json_manager
                received: list[Message] = [{"type": "http.request", "body": body}]

                async def replay() -> Message:
                    return received.pop() if received else await receive()

                answer = partial(manager.handle_request, scope, replay)
                late_event = _write_late_event(body) if wants_progress else b""
                try:
                    if not await limits.answer_while_connected(answer, receive, send, late_event):
                        self._admission.hold(caller.name)
                except TimeoutError:
                    return _TOO_LONG
        return None


def _build_error(message: str, call_id: object = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": call_id, "error": {"code": types.INVALID_REQUEST, "message": message}}


def _write_late_event(body: bytes) -> bytes:
    """Return the event that ends a stream whose call was cancelled after ``limits.ANSWER_S``."""
    try:
        call_id = json.loads(body)["id"]
    except (ValueError, RecursionError, LookupError, TypeError):
        # Without a call id, the SDK does not begin a stream.
        return b""
    return b"event: message\r\ndata: " + json.dumps(_build_error(_LATE, call_id)).encode() + b"\r\n\r\n"


def _refuse(status: int, message: str, headers: dict[str, str]) -> JSONResponse:
    return JSONResponse(_build_error(message), status_code=status, headers=headers)


_LATE = f"The call was cancelled after {limits.ANSWER_S:.0f} s; request less, or retry later"
_TOO_LARGE = _refuse(413, f"The request is larger than {limits.MAX_BYTES:,} bytes; send a smaller one", {})
_TOO_MANY = _refuse(429, "Too many requests at once; retry in a second", {"Retry-After": "1"})
_TOO_LONG = _refuse(504, _LATE, {})
_STOPPING = _refuse(503, "The server is stopping; retry in a second", {"Retry-After": "1"})
_FULL = _refuse(503, "The server is handling too many requests; retry in a second", {"Retry-After": "1"})


def new_app(
    application: Application, address: Address, warm_up: WarmUp, access: Access, site: Site | None = None
) -> Starlette:
    """Return the web application; raise SettingsInvalid in the same cases as ``CallerFinder``."""
    hosts = access.list_hosts(address)
    names = list(dict.fromkeys(form for host in hosts for form in (host, f"{host}:*")))
    security = TransportSecuritySettings(
        allowed_hosts=names, allowed_origins=[f"{scheme}://{name}" for name in names for scheme in ("http", "https")]
    )

    async def health(_request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    # No drain is needed: each stream belongs to one call, and the server waits for running calls when it stops.
    AppStatus.enable_automatic_graceful_drain = False
    callers = CallerFinder(application.settings, address, access)
    callers.log_permissions()
    server = new_server(application, lambda ctx: cast("Request", ctx.request).scope[_CALLER_KEY])
    transport = McpTransport(server, security, callers, application.settings.max_concurrent_calls)
    sign_in = SignIn(transport, callers)
    app = Starlette(
        routes=[
            Route("/mcp", sign_in),
            Route("/mcp/{groups}", sign_in),
            *sign_in.routes,
            Route("/health", check_host(health, hosts)),
            Route("/ready", check_host(Readiness(application, warm_up).answer, hosts)),
            *([] if site is None else site.routes),
        ],
        lifespan=lambda _app: _run(transport, application),
    )
    # A redirect would repeat the unverified Host header.
    app.router.redirect_slashes = False
    return app


class Readiness:
    """Checks whether the networks, the home folder and the database are usable."""

    def __init__(self, application: Application, warm_up: WarmUp) -> None:
        self._application = application
        self._warm_up = warm_up
        self._check: asyncio.Task[str | None] | None = None
        self._started_at_s = 0.0

    async def answer(self, _request: Request) -> Response:
        problem = self._warm_up.problem
        if problem is None:
            check = self._check
            # Do not start another check while one hangs.
            if check is None or (check.done() and time.monotonic() - self._started_at_s >= _CHECK_REUSE_S):
                check = self._check = asyncio.create_task(self._find_problem())
                self._started_at_s = time.monotonic()
            await asyncio.wait([check], timeout=_PROBE_S)
            problem = check.result() if check.done() else _SLOW
        if problem is not None:
            return JSONResponse({"status": "not ready", "reason": problem}, status_code=503)
        return JSONResponse({"status": "ready"})

    async def _find_problem(self) -> str | None:
        """Return a sentence about the first component that fails, or None."""
        try:
            await run_in_thread(_check_storage, self._application.settings)
            if self._warm_up.needs_engine:
                networks = await self._application.networks.open()
                if networks.problems and not networks.answering:
                    return next(iter(networks.problems.values()))
        except ToolError as error:
            return error.message
        except OSError as error:
            return f"The home folder is not writable: {error.strerror or error}"
        return None


def _check_storage(settings: Settings) -> None:
    with tempfile.TemporaryFile(dir=settings.home) as file:
        # Empty files can be created even on a full disk.
        file.write(bytes(4096))
    if (database := find_database(settings)) is not None:
        database.read(lambda connection: connection.execute("SELECT 1"))


@asynccontextmanager
async def _run(transport: McpTransport, application: Application) -> AsyncIterator[None]:
    try:
        async with aclosing(application), application.runs.journal.recovering(), transport.run():
            yield
    finally:
        # A signal may end a worker before the log is written.
        for handler in logging.getLogger().handlers:
            handler.flush()


def serve_http(
    application: Application,
    address: Address,
    warm_up: WarmUp,
    access: Access = LOCAL_ACCESS,
    site: Site | None = None,
    *,
    metrics: Sequence[Address] = (),
    announce: Callable[[str], None] = lambda _url: None,
) -> None:
    """Serve until SIGTERM or an interrupt, then finish running calls; ``announce`` receives the server's URL.

    Raise SettingsInvalid if the address is in use, and in the same cases as ``CallerFinder``.
    """
    listener = listen(address, access.trusted_proxies)
    address = Address(address.host, listener.getsockname()[1])
    app = new_app(application, address, warm_up, access, site)
    start_metrics_server(metrics, access)
    server = uvicorn.Server(new_config(app, access))
    # Handle signals before uvicorn listens and after it stops. A handler that raises could leave Python's import
    # lock held, because the warm-up imports modules in a thread.
    for stop in (signal.SIGTERM, signal.SIGINT):
        signal.signal(stop, server.handle_exit)
    _log.info(_SERVING, address.url)
    announce(address.url)
    warm_up.start()
    server.run(sockets=[listener])
    warm_up.exit_if_running()


def new_config(app: Starlette | Callable[[], Starlette], access: Access, workers: int = 1) -> uvicorn.Config:
    """Return uvicorn's configuration; with several workers, ``app`` is a factory that each worker calls."""
    return uvicorn.Config(
        app,
        factory=not isinstance(app, Starlette),
        workers=workers,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_GRACE_S,
        backlog=_ACCEPTED_AT_ONCE,
        # Compiling can hold the GIL for seconds in a healthy worker.
        timeout_worker_healthcheck=_MAX_SILENCE_S,
        http=limits.LimitedHttpProtocol,
        # uvloop would accept connections without the listener's limits.
        loop="asyncio",
        # Otherwise, uvicorn would hand connections to an installed WebSocket library, and our limits would not apply.
        ws="none",
        proxy_headers=bool(access.trusted_proxies),
        forwarded_allow_ips=[*access.trusted_proxies, *list_mapped(access.trusted_proxies)],
    )


def serve_workers(
    settings: Settings,
    address: Address,
    count: int,
    groups: Collection[str] | None,
    access: Access,
    metrics: list[Address],
) -> None:
    """Serve in ``count`` processes until SIGTERM or an interrupt, then finish running calls.

    A worker that ends or hangs is replaced. Raise SettingsInvalid in the same cases as ``serve_http``.
    """
    CallerFinder(settings, address, access)
    with closing(SharedAddress(address, access.trusted_proxies)) as shared:
        worker = partial(_start_worker, settings, groups, shared.address, access, metrics)
        # uvicorn logs which workers died and were replaced.
        logging.getLogger("uvicorn.error").setLevel(logging.INFO)
        _log.info(_SERVING, shared.address.url)
        # uvicorn pickles the shared address, which a worker unpickles as a socket.
        Multiprocess(new_config(worker, access, count), [cast("socket.socket", shared)]).run()


def _start_worker(
    settings: Settings, groups: Collection[str] | None, address: Address, access: Access, metrics: list[Address]
) -> Starlette:
    """Set up this worker process and return its web application."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    start_server_process()
    start_logging(can_block=False, as_json=settings.log == "json")
    _log.info("worker %s is starting", os.getpid())
    application = build(settings, groups)
    warm_up = new_warm_up(application)
    warm_up.start()
    app = new_app(application, address, warm_up, access)
    start_metrics_server(metrics, access)
    return app


def _end_with_parent() -> None:
    """Exit when the parent process dies; otherwise this worker would keep the port in use."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        logging.shutdown()
        os._exit(1)
