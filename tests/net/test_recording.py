"""What was recorded is replayed: the same answers, the same failures, in the same order, and nobody is asked."""

import gzip
import json
from dataclasses import replace

import pytest

from fingerpost.errors import SettingsInvalid, SourceFailed, ToolError
from fingerpost.net.download import download
from fingerpost.net.recording.player import Player, RecordingMissing
from fingerpost.net.recording.recorder import Recorder
from fingerpost.net.request import Request
from tests.net.local_server import LIMITS, answer, new_client, serving
from tests.net.test_client import ONCE, hang, reset, then

# No zip and no text: every byte there is, and none of UTF-8.
BINARY = bytes(range(256)) * 500


class NoWire:
    """Whoever replays has no network."""

    async def handle_async_request(self, request):
        raise AssertionError(f"{request.url} was asked")

    async def aclose(self):
        pass


def recording(folder, **given):
    return new_client(tape=Recorder(folder), **given)


def replaying(folder, **given):
    client = new_client(tape=Player(folder), **given)
    client._transport = NoWire()
    return client


async def outcome(client, request):
    """Return everything that a caller can see of a call."""
    try:
        got = await client.fetch(request)
    except ToolError as error:
        return type(error), error.message, error.details, error.hint, error.retryable
    return got.status, got.body, got.redacted_url, got.from_cache, got.retrieved_at


async def record_and_replay(folder, requests, *answers, time=None, **given):
    """Make requests one after the other, live and from the recording; return both lists of outcomes."""
    async with serving(*answers) as server:
        asked = [request(server) for request in requests]
        async with recording(folder, time=time, **given) as client:
            live = [await outcome(client, request) for request in asked]
    async with replaying(folder) as client:
        return live, [await outcome(client, request) for request in asked]


def asking(path="/", **given):
    return lambda server: Request(url=server.url + path, **{"limits": ONCE, **given})


def read_all(folder):
    """Return every name and every byte of a recording."""
    return b"\n".join(
        part
        for path in folder.rglob("*")
        for part in (str(path.relative_to(folder)).encode(), path.read_bytes() if path.is_file() else b"")
    )


async def test_one_address_answers_differently_over_time(tmp_path):
    """Three answers to one request, then the server is gone: the same three, in order."""
    live, replayed = await record_and_replay(
        tmp_path, [asking("/now")] * 3, answer(body=b"1"), answer(body=b"2"), answer(body=b"3")
    )

    assert replayed == live
    assert [one[1] for one in live] == [b"1", b"2", b"3"]


async def test_requests_are_told_apart_by_what_an_answer_depends_on(tmp_path):
    """Body, query and language count; the order of the requests does not."""
    given = [{"method": "POST", "content": b'{"query": "a"}'}, {"method": "POST", "content": b'{"query": "b"}'}]
    given += [{"params": {"q": "1"}}, {"params": {"q": "2"}}, {"headers": {"Accept-Language": "fi"}}]
    requests = [asking("/graphql", **one) for one in given]
    async with serving(*(answer(body=str(number).encode()) for number in range(len(given)))) as server:
        asked = [request(server) for request in requests]
        async with recording(tmp_path) as client:
            live = [(await client.fetch(request)).body for request in asked]
    async with replaying(tmp_path) as client:
        replayed = [(await client.fetch(request)).body for request in reversed(asked)]

    assert (live, replayed) == ([b"0", b"1", b"2", b"3", b"4"], [b"4", b"3", b"2", b"1", b"0"])


@pytest.mark.parametrize(
    ("kind", "body"), [("application/x-protobuf", BINARY), ("text/plain", b"x" * 99_000), ("application/json", b"{}")]
)
@pytest.mark.parametrize("packed", [False, True])
async def test_content_is_kept_byte_for_byte(tmp_path, kind, body, packed):
    """Binary, large, empty of sense, compressed or not: the content is the same, and lies readable in a file."""
    wire = gzip.compress(body) if packed else body
    encoding = {"Content_Encoding": "gzip"} if packed else {}
    request = asking(limits=replace(ONCE, max_bytes=200_000))
    live, replayed = await record_and_replay(tmp_path, [request], answer(body=wire, Content_Type=kind, **encoding))

    assert replayed == live
    assert live[0][1] == body
    assert [path.read_bytes() for path in tmp_path.glob("*/0001/1.*")] == [body]


FAILURES = {
    "silence": (hang,),
    "reset": (reset,),
    "broken off": (then(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"),),
    "broken gzip": (answer(body=gzip.compress(b"hello" * 99)[:-9], Content_Encoding="gzip"),),
    "no gzip": (answer(body=b"hello", Content_Encoding="gzip"),),
    "unknown encoding": (answer(body=b"hello", Content_Encoding="br"),),
    "no HTTP": (then(b"SSH-2.0-OpenSSH\r\n"),),
    "too large": (answer(body=b"x" * 100_001),),
    "not there": (answer("404 Not Found", b"no such stop"),),
    "failing": (answer("500 Oh", b"trace"),),
    "limiting": (answer("429 Slow Down", Retry_After="7"),),
    "refusing": (answer("401 No"),),
    "going round": (answer("302 Found", Location="/"),),
    "going nowhere": (answer("302 Found"),),
}


@pytest.mark.parametrize("answers", FAILURES.values(), ids=FAILURES)
async def test_a_failure_is_the_same_failure(tmp_path, answers):
    """Class, message, details, hint, and whether it is worth another attempt."""
    request = asking(limits=replace(ONCE, read_s=0.05))
    live, replayed = await record_and_replay(tmp_path, [request], *answers)

    assert replayed == live
    assert issubclass(live[0][0], ToolError)


async def test_attempts_and_redirects_are_one_call(tmp_path):
    """Busy, then moved, then there: three steps that replay as one."""
    answers = [answer("503 Busy"), answer("302 Found", Location="/there"), answer(body=b"here")]
    live, replayed = await record_and_replay(tmp_path, [asking(limits=LIMITS)], *answers)
    call = json.loads(next(tmp_path.glob("*/0001/call.json")).read_text())

    assert (replayed, live[0][1]) == (live, b"here")
    assert [(step["asked"].rpartition("/")[2], step["status"]) for step in call["steps"]] == [
        ("", 503),
        ("", 302),
        ("there", 200),
    ]


async def test_a_sources_own_reading_of_an_answer_is_asked_again(tmp_path):
    """The judge sees the recorded body."""

    def judge(response):
        return SourceFailed("It said no") if b"errors" in response.body else None

    request = asking(method="POST", content=b"q", check_response=judge)
    live, replayed = await record_and_replay(tmp_path, [request], answer(body=b'{"errors": []}'))

    assert (replayed, live[0][1]) == (live, "It said no")


async def test_a_download_is_recorded_and_replayed(tmp_path):
    """New, unchanged, and new again; each file is whole."""
    folder = tmp_path / "recording"

    async def run(client, request, path):
        seen, known = [], None
        for _ in range(3):
            known = await download(client, request, path, known=known)
            seen.append((known.changed, known.sha256, path.read_bytes()))
        return seen

    answers = [answer(body=BINARY[:9000], ETag='"1"'), answer("304 Not Modified"), answer(body=b"two")]
    async with serving(*answers) as server:
        request = asking("/feed.zip")(server)
        async with recording(folder) as client:
            live = await run(client, request, tmp_path / "live.zip")
    async with replaying(folder) as client:
        assert await run(client, request, tmp_path / "replayed.zip") == live
    assert [changed for changed, *_ in live] == [True, False, True]


async def test_a_question_for_changes_is_no_other_question(tmp_path):
    """A run that has nothing of before cannot be told that nothing changed."""
    async with serving(answer(body=b"1", ETag='"a"'), answer("304 Not Modified")) as server:
        request = asking()(server)
        async with recording(tmp_path) as client:
            known = await client.fetch(request)
            await client.fetch(request, known)
    async with replaying(tmp_path) as client:
        await client.fetch(request)
        with pytest.raises(RecordingMissing, match="as a question for changes only"):
            await client.fetch(request)


async def test_what_was_not_recorded_is_named_and_how_to_record_it(tmp_path):
    """Another query and another body are other requests; the key of the address is not shown."""
    async with serving(answer(body=b"x")) as server, recording(tmp_path) as client:
        await client.fetch(asking("/a")(server))
        url = server.url
    async with replaying(tmp_path) as client:
        with pytest.raises(RecordingMissing) as other:
            await client.fetch(asking("/b?token=abcdef&q=1")(server))
        with pytest.raises(RecordingMissing) as posted:
            await client.fetch(asking("/a", method="POST", content=b"{}")(server))
        await client.fetch(asking("/a")(server))
        with pytest.raises(RecordingMissing) as more:
            await client.fetch(asking("/a")(server))

    name = tmp_path.name
    assert other.value.message == f"The recording {name} does not hold GET {url}/b?token=***&q=1."
    assert "FINGERPOST_RECORD=FOLDER" in other.value.hint
    assert posted.value.message == (
        f"The recording {name} does not hold POST {url}/a (body 44136fa355b3)."
        " It holds 1 with another method, body or headers."
    )
    assert more.value.message == (
        f"The recording {name} has no further answer to GET {url}/a; this run asks it more often"
    )


async def test_a_run_that_takes_more_steps_than_were_recorded_is_told(tmp_path):
    """The answer was taken for a success then, and is a failure now."""
    async with serving(answer(body=b"x")) as server, recording(tmp_path) as client:
        await client.fetch(asking()(server))

    def refuse(response):
        error = SourceFailed("no")
        error.retryable = True
        return error

    async with replaying(tmp_path) as client:
        with pytest.raises(RecordingMissing, match="has no further step of the call"):
            await client.fetch(asking(limits=LIMITS, check_response=refuse)(server))


@pytest.mark.parametrize(
    ("head", "told"),
    [(None, "holds no recording"), ("{", "holds no recording"), ('{"format": 99}', "of format 99")],
)
def test_a_folder_that_holds_no_recording_is_told(tmp_path, head, told):
    """Missing, damaged, or of another version."""
    if head is not None:
        (tmp_path / "recording.json").write_text(head)
    with pytest.raises(SettingsInvalid, match=told):
        Player(tmp_path)


async def test_a_damaged_call_is_told(tmp_path):
    """The file is named."""
    async with serving(answer(body=b"x")) as server, recording(tmp_path) as client:
        await client.fetch(asking("/a")(server))
    next(tmp_path.glob("*/0001/call.json")).write_text('{"served": "source"')
    async with replaying(tmp_path) as client:
        with pytest.raises(SettingsInvalid, match=r"0001/call\.json cannot be read"):
            await client.fetch(asking("/a")(server))


async def test_a_disk_that_refuses_ends_the_call_with_a_sentence(tmp_path):
    """A file stands where the folder should be."""
    (tmp_path / "file").write_text("")
    async with serving(answer(body=b"x")) as server, recording(tmp_path / "file") as client:
        with pytest.raises(SettingsInvalid, match="The recording file cannot be written"):
            await client.fetch(asking()(server))


async def test_the_index_tells_the_run_in_its_order(tmp_path, monkeypatch):
    """A line a call: when, what, how it ended, and where it lies."""
    monkeypatch.setenv("FINGERPOST_NOW", "2026-03-10T08:00:00Z")
    async with serving(answer(body=b"hello"), answer("404 Not Found")) as server, recording(tmp_path) as client:
        await outcome(client, asking("/a", fresh_s=60)(server))
        await outcome(client, asking("/a", fresh_s=60)(server))
        await outcome(client, asking("/b")(server))
    lines = (tmp_path / "index.txt").read_text().replace(server.url, "").splitlines()

    assert [line.partition(" [")[0] for line in lines] == [
        "2026-03-10T08:00:00.000+00:00 GET /a -> 200, 5 bytes",
        "2026-03-10T08:00:00.000+00:00 GET /a -> from memory",
        "2026-03-10T08:00:00.000+00:00 GET /b -> 404, 0 bytes",
    ]
    assert all((tmp_path / line.partition(" [")[2].rstrip("]") / "call.json").exists() for line in lines)
