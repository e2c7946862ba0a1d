"""The command line, with one host served by this machine: ``redirected_command.py HOST PORT CERTIFICATE WORD...``."""

import ssl
import sys

from fingerpost.apps.cli import main
from fingerpost.net import client
from fingerpost.net.streams import StreamBackend
from fingerpost.net.transport import CheckedBackend, WirePool

HOST, PORT, CERTIFICATE = sys.argv[1:4]


class ThisMachine(StreamBackend):
    async def connect_tcp(self, host, port, *rest):
        return await super().connect_tcp(host, int(PORT), *rest)


async def resolve(host, _):
    return ["127.0.0.1"] if host == HOST else []


def open_pool(_):
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.load_verify_locations(CERTIFICATE)
    return WirePool(CheckedBackend([HOST], resolve=resolve, inner=ThisMachine()), tls=trusting)


if __name__ == "__main__":
    client.WirePool = open_pool
    sys.argv = ["fingerpost", *sys.argv[4:]]
    main()
