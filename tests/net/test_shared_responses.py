"""Processes on one machine send one request to a source, and share the response."""

import asyncio
import errno
import os
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from fingerpost.errors import SourceUnreachable
from fingerpost.net import shared_responses
from fingerpost.net.request import Request
from fingerpost.net.response import Response
from fingerpost.net.shared_responses import SharedResponses

REQUEST = Request(url="https://example.org/updates.pb")
FETCHED_AT = datetime(2026, 3, 10, 6, tzinfo=UTC)
# Not UTF-8, like most messages of GTFS-Realtime.
BINARY = b"\x0a\xff"


class Machine:
    def __init__(self, folder):
        self.folder, self.asked, self.answer = folder, [], BINARY

    def process(self):
        return SharedResponses(folder=self.folder, fetch=self.fetch, fresh_s=15)

    def stored(self):
        (path,) = [path for path in self.folder.iterdir() if not path.suffix]
        return path

    def pass_time(self, seconds):
        then = self.stored().stat().st_mtime - seconds
        os.utime(self.stored(), (then, then))

    async def fetch(self, request, known=None):
        self.asked.append(None if known is None else known.body)
        await asyncio.sleep(0)
        if isinstance(self.answer, Exception):
            raise self.answer
        return Response(
            status=200,
            headers={"etag": '"1"', "set-cookie": "secret"},
            body=self.answer,
            redacted_url=request.redacted_url,
            retrieved_at=FETCHED_AT,
        )


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path / "realtime")


@pytest.mark.parametrize(("later_s", "asked"), [(10, 1), (15, 2)])
async def test_a_second_process_requests_only_expired_answers(machine, later_s, asked):
    first = await machine.process()(REQUEST)
    machine.pass_time(later_s)
    second = await machine.process()(REQUEST)

    assert len(machine.asked) == asked
    assert first.body == second.body == BINARY
    assert second.from_cache is (asked == 1)


async def test_many_simultaneous_callers_cause_one_request(machine):
    answers = await asyncio.gather(*(machine.process()(REQUEST) for _ in range(20)))

    assert len(machine.asked) == 1
    assert {answer.body for answer in answers} == {BINARY}


async def test_an_old_answer_makes_the_next_request_conditional(machine):
    await machine.process()(REQUEST)
    machine.pass_time(60)
    await machine.process()(REQUEST)

    assert machine.asked == [None, BINARY]


async def test_known_values_are_returned_as_known(machine):
    known = await machine.process()(REQUEST)
    again = await machine.process()(REQUEST, known)

    assert again == replace(known, from_cache=True)
    assert again.body is known.body


async def test_a_failure_reaches_every_waiting_caller_and_is_not_cached(machine):
    machine.answer = SourceUnreachable("down")
    with pytest.raises(SourceUnreachable):
        await machine.process()(REQUEST)
    machine.answer = b"two"

    assert [(await machine.process()(REQUEST)).body for _ in range(2)] == [b"two", b"two"]
    assert len(machine.asked) == 2


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\xff\xfe", b'{"bytes": 3}\nab'], ids=repr)
async def test_a_damaged_file_is_ignored(machine, content):
    await machine.process()(REQUEST)
    machine.stored().write_bytes(content)

    assert (await machine.process()(REQUEST)).body == BINARY


async def test_without_a_shared_folder_every_process_sends_requests(machine, caplog):
    machine.folder.write_bytes(b"a file")
    answers = [await machine.process()(REQUEST) for _ in range(2)]

    assert [answer.body for answer in answers] == [BINARY, BINARY]
    assert len(machine.asked) == 2
    assert "realtime data is not being shared with other processes" in caplog.text


async def test_no_key_and_no_cookie_is_written(machine, monkeypatch):
    monkeypatch.setenv("FEED_KEY", "marker-5a1e")
    await machine.process()(replace(REQUEST, secret_params={"key": "FEED_KEY"}))
    written = b"".join(path.name.encode() + path.read_bytes() for path in machine.folder.iterdir())

    assert b"marker-5a1e" not in written
    assert b"secret" not in written


async def test_a_response_that_cannot_be_stored_is_returned(machine, monkeypatch, caplog):
    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shared_responses, "replace_file", refuse)

    assert (await machine.process()(REQUEST)).body == BINARY
    assert len(machine.asked) == 1
    assert "realtime data is not being shared with other processes" in caplog.text
