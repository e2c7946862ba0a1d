"""Several processes serve HTTP at one address: if one fails, the others still answer."""

import os
import re
import signal
import socket
import time
from contextlib import closing, suppress

import pytest
from mcp import Client

from fingerpost.apps.mcp.listener import Address, SharedAddress, listen
from fingerpost.errors import SettingsInvalid
from tests.apps.processes import COMMAND, DEADLINE_S, serving
from tests.apps.questions import KAMPPI_TO_ESPOO

pytestmark = pytest.mark.slow

ANY_PORT = Address("127.0.0.1", 0)
_STARTED = re.compile(r"worker (\d+) is starting")


def list_workers(server):
    return [int(found[1]) for line in server.lines if (found := _STARTED.search(line))]


def wait_until(is_so):
    ends_s = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < ends_s, "it never came"
        time.sleep(0.05)


async def ask(url):
    async with Client(f"{url}/mcp") as client:
        answer = await client.call_tool("plan_trip", KAMPPI_TO_ESPOO)
    return answer.structured_content["destination"]["name"]


async def query_all(url, count):
    return [await ask(url) for _ in range(count)]


async def ask_while_one_dies(url):
    """Ask again after a connection that the dying worker had accepted; the kernel gives it no further ones."""
    try:
        return await ask(url)
    except Exception:  # noqa: BLE001 - whatever the client makes of a reset connection
        return await ask(url)


async def test_a_worker_that_is_killed_is_replaced_and_the_others_answer(tmp_path):
    """Each worker has a socket of its own, which ends with it: no connection waits for a dead one."""
    command = [*COMMAND, "serve", "--http", "127.0.0.1:0", "--workers", "2"]
    with serving(*command, FINGERPOST_HOME=str(tmp_path)) as server:
        wait_until(lambda: len(list_workers(server)) == 2)
        wait_until(lambda: sum("the networks are open" in line for line in server.lines) == 2)
        before = await query_all(server.url, 6)
        killed = list_workers(server)[0]
        os.kill(killed, signal.SIGKILL)
        during = [await ask_while_one_dies(server.url) for _ in range(6)]
        wait_until(lambda: len(list_workers(server)) == 3)
        after = await query_all(server.url, 6)
        server.process.send_signal(signal.SIGTERM)
        status = server.process.wait(DEADLINE_S)

    assert before + during + after == ["Espoo"] * 18
    assert any(f"Child process [{killed}] died" in line for line in server.lines)
    assert status == 0


def test_workers_end_with_their_parent(tmp_path):
    """They would hold the port, and nobody would replace one that dies; then listening there raises."""
    command = [*COMMAND, "serve", "--http", "127.0.0.1:0", "--workers", "2"]
    with serving(*command, FINGERPOST_HOME=str(tmp_path)) as server:
        wait_until(lambda: len(list_workers(server)) == 2)
        server.process.kill()
        server.process.wait(DEADLINE_S)
        # They hold its standard error, which ends with the last of them.
        server.close()

        address = Address.parse(server.url.removeprefix("http://"))
        with listen(address) as free:
            assert free.getsockname() == (address.host, address.port)


def test_the_system_holds_little_of_an_answer_that_is_not_read():
    """By default it holds 3 MB for each connection; Linux counts twice what was asked for."""
    with listen(ANY_PORT) as listener:
        assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) in (65_536, 131_072)


@pytest.mark.parametrize("serve", [SharedAddress, listen])
def test_a_second_server_at_one_address_is_refused(serve):
    """The kernel would spread connections among both without a word."""
    with closing(SharedAddress(ANY_PORT)) as first, pytest.raises(SettingsInvalid, match="Address already in use"):
        serve(first.address)


def test_connections_are_spread_among_the_sockets():
    """With one socket for all, whoever wakes first takes all: of 64 connections each of two gets some."""
    with closing(SharedAddress(ANY_PORT)) as shared:
        make, arguments = shared.__reduce__()
        one, other = make(*arguments), make(*arguments)
    with one, other:
        clients = [socket.create_connection(one.getsockname()) for _ in range(64)]
        for each in (one, other):
            each.setblocking(False)
        counts = [_accept_all(each) for each in (one, other)]
        for client in clients:
            client.close()

    assert sum(counts) == 64
    assert min(counts) > 0


def _accept_all(listener):
    count = 0
    with suppress(BlockingIOError):
        while True:
            listener.accept()[0].close()
            count += 1
    return count


def test_workers_need_an_address(invoke):
    ended = invoke("serve", "--workers", "2")

    assert ended.returncode == 2
    assert "Stdio serves one client, so --workers needs --http" in ended.stderr
