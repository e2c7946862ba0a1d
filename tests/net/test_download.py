"""A file is downloaded completely, or the old one remains."""

import asyncio
import hashlib
from dataclasses import replace

import pytest

from fingerpost.errors import SettingsInvalid, SourceFailed, SourceUnreachable
from fingerpost.net.client import download
from fingerpost.net.request import Request
from tests.net.local_server import LIMITS, answer, new_client, serving

BROKEN = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"


def asking(server, **given):
    return Request(url=server.url + "/feed.zip", limits=LIMITS, **given)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "feed.zip"


async def breaking(writer):
    writer.write(BROKEN)
    await writer.drain()


async def test_a_file_arrives_with_its_digest(tmp_path):
    path = tmp_path / "feeds" / "feed.zip"
    seen = []
    async with serving(answer(body=b"hello", ETag='"1"')) as server, new_client() as client:
        got = await download(client, asking(server), path, progress=seen.append)

    assert (path.read_bytes(), [one.name for one in path.parent.iterdir()]) == (b"hello", ["feed.zip"])
    assert (got.changed, got.sha256, got.size_bytes, got.validators.etag, seen) == (
        True,
        hashlib.sha256(b"hello").hexdigest(),
        5,
        '"1"',
        [5],
    )


async def test_an_unchanged_file_is_not_fetched(path):
    async with serving(answer(body=b"hello", ETag='"1"'), answer("304 Not Modified")) as server, new_client() as client:
        first = await download(client, asking(server), path)
        again = await download(client, asking(server), path, known=first)

    assert (server.asked[1].headers["if-none-match"], again) == ('"1"', replace(first, changed=False))


async def test_equal_content_is_unchanged_if_the_source_cannot_tell(path):
    answers = [answer(body=b"hello"), answer(body=b"hello"), answer(body=b"other")]
    async with serving(*answers) as server, new_client() as client:
        first = await download(client, asking(server), path)
        same = await download(client, asking(server), path, known=first)
        other = await download(client, asking(server), path, known=same)

    assert ([one.changed for one in (first, same, other)], path.read_bytes()) == ([True, False, True], b"other")


async def test_a_file_that_was_lost_is_fetched_again(path):
    async with serving(answer(body=b"hello", ETag='"1"')) as server, new_client() as client:
        first = await download(client, asking(server), path)
        path.unlink()
        again = await download(client, asking(server), path, known=first)

    assert ("if-none-match" in server.asked[1].headers, again.changed, path.read_bytes()) == (False, True, b"hello")


@pytest.mark.parametrize(("bad", "error"), [(breaking, SourceUnreachable), (answer(body=b"x" * 100_001), SourceFailed)])
async def test_a_failure_leaves_the_old_file(tmp_path, path, bad, error):
    path.write_bytes(b"old")
    async with serving(bad) as server, new_client() as client:
        with pytest.raises(error):
            await download(client, asking(server), path)

    assert (path.read_bytes(), [one.name for one in tmp_path.iterdir()]) == (b"old", ["feed.zip"])


async def test_a_second_attempt_restarts_the_file(path):
    async with serving(breaking, answer(body=b"whole")) as server, new_client() as client:
        got = await download(client, asking(server), path)

    assert (path.read_bytes(), got.size_bytes) == (b"whole", 5)


async def test_a_cancelled_download_leaves_nothing(tmp_path):
    begun = asyncio.Event()

    async def hang(writer):
        writer.write(BROKEN)
        await writer.drain()
        begun.set()
        await asyncio.sleep(3600)

    async with serving(hang) as server, new_client() as client:
        task = asyncio.create_task(download(client, asking(server), tmp_path / "feed.zip"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert list(tmp_path.iterdir()) == []


async def test_a_disk_that_refuses_is_the_operators(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    async with serving(answer(body=b"hello")) as server, new_client() as client:
        with pytest.raises(SettingsInvalid, match="is not writable"):
            await download(client, asking(server), tmp_path / "file" / "feed.zip")
