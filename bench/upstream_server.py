"""The bench's HTTP server with a no-op, asking its upstream as fast as it is itself asked.

The limiter does its whole work for each request; only its rate is out of reach.
"""

import server

from fingerpost.apps import networks
from fingerpost.apps.interpreter import take_short_turns
from fingerpost.apps.logs import start_logging
from fingerpost.apps.mcp import http
from fingerpost.apps.mcp.address import Address
from fingerpost.apps.outbound import new_client
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from fingerpost.net.limiter import Pace

HOST = "127.0.0.1"
UNREACHED = {HOST: Pace(name=HOST, per_second=100_000, burst=100_000)}

if __name__ == "__main__":
    networks.open_client = lambda settings: new_client(settings, UNREACHED)
    http.new_server = server.new_server_with_noop
    take_short_turns()
    start_logging(may_wait=False)
    http.serve_http(build(read_settings()), Address.read(f"{HOST}:0"))
