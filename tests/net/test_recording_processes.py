"""Several processes record into one folder, and one of them may die."""

import asyncio
import json
import signal
import sys
import time

from fingerpost.net.request import Request
from tests.net.local_server import answer, serving
from tests.net.test_client import ONCE
from tests.net.test_recording import recording, replaying
from tests.project.sources import ROOT

CALLS = """
import asyncio, sys
from pathlib import Path
from fingerpost.net.recording.recorder import Recorder
from fingerpost.net.request import Request
from tests.net.local_server import new_client

async def run(folder, url, times):
    async with new_client(tape=Recorder(Path(folder))) as client:
        for _ in range(int(times)):
            await client.fetch(Request(url=url))

asyncio.run(run(*sys.argv[1:]))
"""


async def start(folder, url, times):
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", CALLS, str(folder), url, str(times), cwd=ROOT, stderr=asyncio.subprocess.PIPE
    )


def wait_for_content(folder):
    """Return once some of the second call's body lies in its draft."""
    while not any(path.stat().st_size for path in folder.glob("*/0002/.*")):
        time.sleep(0.001)


async def test_two_processes_share_a_folder(tmp_path):
    """Eight calls each to one address: sixteen calls, each whole, none twice."""
    times = 8
    numbers = [answer(body=str(number).encode()) for number in range(2 * times)]
    async with serving(*numbers) as server:
        processes = [await start(tmp_path, f"{server.url}/a", times) for _ in range(2)]
        ended = [(await process.communicate(), process.returncode) for process in processes]
    async with replaying(tmp_path) as client:
        seen = [(await client.fetch(Request(url=f"{server.url}/a"))).body for _ in range(2 * times)]

    assert [code for _, code in ended] == [0, 0], ended
    assert sorted(map(int, seen)) == list(range(2 * times))
    assert len((tmp_path / "index.txt").read_text().splitlines()) == 2 * times


async def test_a_killed_process_leaves_whole_calls_only(tmp_path):
    """Killed while a body arrives: the call before it is there, this one is not, and a later run goes on."""
    under_way = asyncio.Event()

    async def half(writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"x" * 50_000)
        await writer.drain()
        under_way.set()
        await asyncio.sleep(3600)

    async with serving(answer(body=b"first"), half, answer(body=b"last")) as server:
        process = await start(tmp_path, f"{server.url}/a", 2)
        await under_way.wait()
        await asyncio.to_thread(wait_for_content, tmp_path)
        process.send_signal(signal.SIGKILL)
        await process.communicate()
        request = Request(url=f"{server.url}/a", bounds=ONCE)
        async with recording(tmp_path) as client:
            await client.fetch(request)
    async with replaying(tmp_path) as client:
        seen = [(await client.fetch(request)).body for _ in range(2)]

    assert seen == [b"first", b"last"]
    whole = [path for path in tmp_path.rglob("*") if path.is_file() and not path.name.endswith(".part")]
    assert [json.loads(path.read_text()) is not None for path in whole if path.suffix == ".json"]
    assert [path.name for path in tmp_path.glob("*/0002/*") if not path.name.startswith(".")] == []
