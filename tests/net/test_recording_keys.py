"""No key reaches a recording, however a source repeats it."""

import base64
import gzip
import html
import json
import logging
from urllib.parse import quote

import pytest

from fingerpost.net.recording.cleaning import Cleaner
from fingerpost.net.recording.player import RecordingMissing
from fingerpost.net.request import Request
from tests.net.local_server import answer, new_client, serving
from tests.net.test_client import ONCE
from tests.net.test_recording import outcome, read_all, recording, replaying

# Every character that some encoding writes differently.
KEY = 's3cr"et/&k+y=ö'
FORMS = {
    "plain": KEY,
    "url": quote(KEY, safe=""),
    "url in lower case": quote(KEY, safe="").replace("%2F", "%2f"),
    "url in json": quote(KEY, safe="").replace("%", "\\u0025"),
    "url in html": quote(KEY, safe="").replace("%", "&#37;"),
    "json": json.dumps(KEY)[1:-1],
    "json of php": json.dumps(KEY)[1:-1].replace("/", "\\/"),
    "html": html.escape(KEY),
    "base64": base64.b64encode(KEY.encode()).decode(),
}
ENVIRON = {"MY_KEY": KEY}
PARTS = ("s3cr", "czNjc")


def asking(server, path="/", **given):
    return Request(url=server.url + path, **{"limits": ONCE, "secret_params": {"apikey": "MY_KEY"}, **given})


def assert_free_of_key(folder):
    kept = read_all(folder)
    assert [part for part in PARTS if part.encode() in kept] == []


@pytest.mark.parametrize("written", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("packed", [False, True])
async def test_a_key_in_a_body_is_taken_out(tmp_path, written, packed):
    """The caller sees the body as it came; the folder, and whoever replays it without the key, see ``***``."""
    text = f"you asked with <{written}>, and again <{written}>".encode()
    wire, encoding = (gzip.compress(text), {"Content_Encoding": "gzip"}) if packed else (text, {})
    async with serving(answer(body=wire, **encoding)) as server, recording(tmp_path, environ=ENVIRON) as client:
        live = await client.fetch(asking(server))
    async with replaying(tmp_path, environ={}) as client:
        replayed = await client.fetch(asking(server))

    assert (live.body, replayed.body) == (text, b"you asked with <***>, and again <***>")
    assert_free_of_key(tmp_path)


async def test_a_key_in_a_refusal_in_headers_and_in_redirects_is_taken_out(tmp_path):
    """A source that repeats the key wherever it can: the same failure follows from what is left."""
    there = f"/{quote(KEY, safe='')}/x?sig=abcdefgh&back={quote(KEY)}"
    moved = answer("302 Found", Location=there, X_Echo=quote(KEY), Set_Cookie="a=b")
    refused = answer("403 No", f"{quote(KEY)} is not welcome".encode(), X_Auth_Token="another-secret", X_Kept="kept")
    async with serving(moved, refused) as server, recording(tmp_path, environ=ENVIRON) as client:
        live = await outcome(client, asking(server))
    async with replaying(tmp_path, environ={}) as client:
        replayed = await outcome(client, asking(server))

    assert (replayed, live[0].__name__) == (live, "SourceKeyRefused")
    assert_free_of_key(tmp_path)
    kept = read_all(tmp_path)
    assert [word in kept for word in (b"abcdefgh", b"another-secret", b"cookie", b"X-Kept", b"x-kept")] == [
        False, False, False, False, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "given",
    [
        {"secret_headers": {"authorization": "MY_KEY"}, "secret_params": {}},
        {"headers": {"x-api-key": "s3cr3t-in-code"}, "secret_params": {}},
        {"method": "POST", "content": f"key={KEY}".encode()},
    ],
)
async def test_a_key_that_leaves_is_not_kept_with_the_request(tmp_path, given):
    """As a header, as a header in the clear, in the body that is sent."""
    environ = {"MY_KEY": quote(KEY)} if "secret_headers" in given else ENVIRON
    async with serving(answer(body=b"ok")) as server, recording(tmp_path, environ=environ) as client:
        await client.fetch(asking(server, **given))

    assert_free_of_key(tmp_path)


async def test_a_password_in_an_address_is_not_kept(tmp_path):
    """Nor its token; the recording is found again."""
    url = "http://user:s3cr3t-word@feeds.example:{port}/"
    async with serving(answer(body=b"token dXNlcjpzM2NyM3Qtd29yZA== for s3cr3t-word")) as server:
        request = Request(url=url.format(port=server.port), limits=ONCE)
        async with recording(tmp_path) as client:
            await client.fetch(request)
    async with replaying(tmp_path) as client:
        replayed = await client.fetch(request)

    assert replayed.body == b"token *** for ***"
    assert b"czNjc" not in read_all(tmp_path)
    assert_free_of_key(tmp_path)


async def test_the_key_of_one_source_is_taken_out_of_another_ones_answer(tmp_path):
    """They belong together behind the scenes."""
    answers = answer(body=b"ok"), answer(body=KEY.encode())
    async with serving(*answers) as server, recording(tmp_path, environ=ENVIRON) as client:
        await client.fetch(asking(server))
        await client.fetch(asking(server, "/other", secret_params={}))

    assert_free_of_key(tmp_path)


@pytest.mark.parametrize(
    ("key", "body", "told"),
    [
        (KEY, b"\x0a\xff" + KEY.encode() + b"\x00", "its content is binary and holds a key"),
        ("xyz", b"the xyz of it", "the letters of a key that has fewer than 4 characters"),
    ],
)
async def test_what_a_key_cannot_be_taken_out_of_is_not_recorded(tmp_path, caplog, key, body, told):
    """A message that would be damaged, a key that looks like any word: the run goes on, the folder stays clean."""
    async with serving(answer(body=body)) as server:
        with caplog.at_level(logging.WARNING):
            async with recording(tmp_path, environ={"MY_KEY": key}) as client:
                live = await client.fetch(asking(server))
    async with replaying(tmp_path, environ={}) as client:
        with pytest.raises(RecordingMissing, match=told):
            await client.fetch(asking(server))

    assert (live.body, told in caplog.text) == (body, True)
    assert told in (tmp_path / "index.txt").read_text()
    assert key.encode() not in read_all(tmp_path).replace(b"fewer than 4 characters", b"")


async def test_a_key_that_is_not_set_is_a_failure_like_any_other(tmp_path):
    """It is recorded, and replayed where the key is set by now."""
    async with serving(answer(body=b"ok")) as server, recording(tmp_path, environ={}) as client:
        live = await outcome(client, asking(server))
    async with replaying(tmp_path, environ=ENVIRON) as client:
        replayed = await outcome(client, asking(server))

    assert (replayed, live[1]) == (live, "This source needs a key, and MY_KEY is not set")


async def test_a_key_that_is_a_common_word_does_not_hide_the_request(tmp_path):
    """The key is ``feeds``, and so is the host: the call is found, though its address is shown as ``***``."""
    word = {"MY_KEY": "feeds"}
    async with serving(answer(body=b"all feeds")) as server, recording(tmp_path, environ=word) as client:
        await client.fetch(asking(server))
    async with replaying(tmp_path, environ={}) as client:
        assert (await client.fetch(asking(server))).body == b"all ***"


@pytest.mark.parametrize("size", [1, 2, 5, 11, 64])
def test_a_key_that_comes_in_pieces_is_found(size):
    """However the content is cut."""
    text = b"<abcdef><abcdefabcdef>abcdabcdef"
    cleaner = Cleaner(["abcdef"])
    clean = b"".join(cleaner.feed(text[at : at + size]) for at in range(0, len(text), size)) + cleaner.end()

    assert (clean, cleaner.found) == (b"<***><******>abcd***", 4)


@pytest.mark.parametrize("size", [1, 2, 3, 64])
def test_a_short_key_that_comes_in_pieces_is_found(size):
    """Then the content cannot be kept."""
    text = b"the abc of it"
    cleaner = Cleaner(["abc"])
    for at in range(0, len(text), size):
        cleaner.feed(text[at : at + size])

    assert cleaner.found_short


@pytest.mark.parametrize(
    ("content", "is_binary"),
    [("Ä".encode(), False), (b"\xc3", True), (b"a\0", True), (b"\xff\xfe", True), (b"", False)],
)
def test_text_is_told_from_binary(content, is_binary):
    """UTF-8 without NUL is text, however it is cut."""
    cleaner = Cleaner(["abcdef"])
    for at in range(len(content)):
        cleaner.feed(content[at : at + 1])
    cleaner.end()

    assert cleaner.is_binary == is_binary


async def test_without_a_tape_nothing_is_written(tmp_path, monkeypatch):
    """Who does not record leaves no trace."""
    monkeypatch.chdir(tmp_path)
    async with serving(answer(body=b"ok")) as server, new_client(environ=ENVIRON) as client:
        await client.fetch(asking(server))

    assert list(tmp_path.iterdir()) == []
