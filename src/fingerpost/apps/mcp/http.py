"""The HTTP server: ``/mcp`` (streamable HTTP), ``/health`` and ``/ready``."""

import asyncio
import ipaddress
import logging
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import FrameType

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from sse_starlette.sse import AppStatus
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from fingerpost.apps.mcp.http_patience import PatientProtocol
from fingerpost.apps.mcp.http_site import Site
from fingerpost.apps.mcp.http_transport import McpTransport
from fingerpost.apps.mcp.server import new_server
from fingerpost.apps.warm_up import WarmUp
from fingerpost.apps.wiring import Application
from fingerpost.errors import SettingsInvalid

_log = logging.getLogger(__name__)

# Calls that run when the server is told to stop have this long to be answered.
_GRACE_S = 10
_BACKLOG = 2048
_HIGHEST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; port 0 lets the machine choose."""

    host: str
    port: int

    @classmethod
    def read(cls, text: str) -> "Address":
        """Return the address that ``HOST:PORT`` names; an IPv6 host stands in brackets.

        Raises:
            SettingsInvalid: the text is not of that form.
        """
        host, colon, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (colon and host and port.isascii() and port.isdigit() and int(port) <= _HIGHEST_PORT):
            raise SettingsInvalid(f"{text!r} is not an address. Write it like 127.0.0.1:8000.")
        return cls(host, int(port))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def new_app(
    application: Application,
    address: Address,
    warm_up: WarmUp,
    allowed_hosts: Sequence[str] = (),
    site: Site | None = None,
) -> Starlette:
    """Return the web application, with a site beside the endpoints where one is given.

    Beyond loopback no variables are kept: nobody says who calls (rule A12).
    ``allowed_hosts`` are names, besides loopback and the address itself, that a client may call the server by.
    """
    user = application.settings.user if address.is_loopback else None
    hosts = ["127.0.0.1", "localhost", "[::1]", address.host, *allowed_hosts]
    names = list(dict.fromkeys(form for host in hosts for form in (host, f"{host}:*")))
    security = TransportSecuritySettings(
        allowed_hosts=names,
        allowed_origins=[f"{scheme}://{name}" for name in names for scheme in ("http", "https")],
    )

    async def health(_request: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    async def ready(_request: Request) -> JSONResponse:
        if warm_up.problem is not None:
            return JSONResponse({"status": "not ready", "reason": warm_up.problem}, status_code=503)
        return JSONResponse({"status": "ready"})

    transport = McpTransport(new_server(application, user=user), security)
    return Starlette(
        routes=[
            Route("/mcp", transport),
            Route("/health", health),
            Route("/ready", ready),
            *(() if site is None else site.list_routes()),
        ],
        lifespan=lambda _app: _run(transport, application, site),
    )


@asynccontextmanager
async def _run(transport: McpTransport, application: Application, site: Site | None) -> AsyncIterator[None]:
    async with transport.run():
        task = asyncio.create_task(site.work()) if site is not None and site.work is not None else None
        yield
        if task is not None:
            task.cancel()
    await application.networks.close()


def serve_http(
    application: Application,
    address: Address,
    allowed_hosts: Sequence[str] = (),
    compiler: subprocess.Popen[bytes] | None = None,
    site: Site | None = None,
) -> None:
    """Serve until SIGTERM or an interrupt; calls that run then are still answered.

    ``compiler`` is the process that compiles the engine while this one answers uncompiled; ``site`` is served beside
    the endpoints.

    Raises:
        SettingsInvalid: the address cannot be listened on.
    """
    listener = _listen(address)
    warm_up = WarmUp(application.networks, compiler)
    config = uvicorn.Config(
        new_app(application, address, warm_up, allowed_hosts, site),
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_GRACE_S,
        http=PatientProtocol,
    )
    host, port = listener.getsockname()[:2]
    try:
        # Until uvicorn listens for signals, and again once it has stopped, when it sends the signal on.
        for stop in (signal.SIGTERM, signal.SIGINT):
            signal.signal(stop, _end_well)
        # A stream is one call's: when we are told to stop it is answered like any other, and not broken off.
        AppStatus.enable_automatic_graceful_drain = False
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        _log.info("serving at %s/mcp", url)
        if site is not None and site.announce is not None:
            site.announce(url)
        warm_up.start()
        uvicorn.Server(config).run(sockets=[listener])
    except SystemExit as end:
        if end.code:
            raise
    warm_up.leave()


def _end_well(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def _listen(address: Address) -> socket.socket:
    """Return a listening socket.

    Its protocol is named: asyncio turns Nagle's algorithm off only for sockets that say they are TCP,
    and with it every answer on a kept connection waits for a delayed acknowledgement.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address.host, address.port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise SettingsInvalid(
            f"Cannot listen on {address.host}:{address.port} ({error.strerror}). Choose another address."
        ) from error
    return listener
