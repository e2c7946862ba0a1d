"""The web page's server in the test's own process, so that a test can change the application's answers."""

import asyncio
import socket
from contextlib import asynccontextmanager

import uvicorn

from fingerpost.apps.mcp.address import Access, Address
from fingerpost.apps.mcp.http import new_app
from fingerpost.apps.views.page import Site
from fingerpost.apps.warm_up import WarmUp

LOOPBACK = Address("127.0.0.1", 0)


def new_site(application, *, address=LOOPBACK):
    return new_app(application, address, WarmUp(application.networks), Access(is_public=True), Site())


@asynccontextmanager
async def serving_page(application, *, address=LOOPBACK):
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(new_site(application, address=address), log_config=None, access_log=False)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
