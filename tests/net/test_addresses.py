"""Connections are made only to checked addresses."""

import httpcore2
import pytest

from fingerpost.errors import SourceUnreachable
from fingerpost.net.client import Client
from fingerpost.net.request import Request
from fingerpost.net.transport import AddressRefused, CheckedBackend, is_public
from tests.net.local_server import LIMITS, answer, names, new_client, serving


class Wire(httpcore2.AsyncNetworkBackend):
    def __init__(self, dead=()):
        self.dead = dead
        self.tried = []

    async def connect_tcp(self, host, port, timeout=None, local_address=None, socket_options=None):  # noqa: ASYNC109
        self.tried.append(host)
        if host in self.dead:
            raise httpcore2.ConnectError("dead")
        return httpcore2.AsyncMockStream([])


PUBLIC = "8.8.8.8 172.32.0.1 2001:4860:4860::8888 ::ffff:8.8.8.8 64:ff9b::808:808"
OTHER = """127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255
    ::1 :: fe80::1%eth0 fd00::1 ff02::1 ::ffff:127.0.0.1 64:ff9b::7f00:1 2002:7f00:1::"""


@pytest.mark.parametrize(
    ("address", "expected"),
    [*((address, True) for address in PUBLIC.split()), *((address, False) for address in OTHER.split())],
)
def test_an_address_is_public_or_not(address, expected):
    assert is_public(address) == expected


async def test_a_name_is_looked_up_once_and_its_checked_address_is_used():
    answers = iter([["8.8.8.8"], ["127.0.0.1"]])

    async def rebinding(host, port):
        return next(answers)

    wire = Wire()
    await CheckedBackend(resolve=rebinding, inner=wire).connect_tcp("evil.example", 80)

    assert wire.tried == ["8.8.8.8"]


@pytest.mark.parametrize(
    ("first", "dead", "tried"),
    [("127.0.0.1", {}, ["9.9.9.9"]), ("8.8.8.8", {"8.8.8.8"}, ["8.8.8.8", "9.9.9.9"])],
    ids=["private", "dead"],
)
async def test_the_next_address_is_tried(first, dead, tried):
    wire = Wire(dead)
    backend = CheckedBackend(resolve=names(two_example=[first, "9.9.9.9"]), inner=wire)
    await backend.connect_tcp("two.example", 80, timeout=5)

    assert wire.tried == tried


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0x7f.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]"])
async def test_loopback_is_not_called(host):
    async with serving(answer(body=b"secret")) as server, Client() as client:
        with pytest.raises(AddressRefused):
            await client.fetch(Request(url=f"http://{host}:{server.port}/", limits=LIMITS))

    assert server.connections == 0


async def test_a_private_host_is_called_if_allowed_by_name():
    """The permission is the name's: another name for the same machine has none."""
    resolve = names(other_example=["127.0.0.1"])
    async with serving(answer(body=b"mine")) as server, new_client(resolve=resolve) as client:
        allowed = await client.fetch(Request(url=server.url, limits=LIMITS))
        with pytest.raises(AddressRefused):
            await client.fetch(Request(url=f"http://other.example:{server.port}/", limits=LIMITS))

    assert allowed.body == b"mine"


async def test_an_unknown_name_is_unreachable():
    async def unknown(host, port):
        return []

    with pytest.raises(SourceUnreachable, match="has no address"):
        await CheckedBackend(resolve=unknown, inner=Wire()).connect_tcp("nowhere.invalid", 80)
