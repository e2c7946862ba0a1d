"""A key is sent only to its server: no log, answer, error, span, metric or file in a home folder contains it.

Every tool is asked over a server that repeats the key wherever it can, in every kind of trouble.
"""

import json
import logging
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from urllib.parse import quote

import pytest

from fingerpost.errors import ToolError
from fingerpost.net.request import RequestLimits
from tests.embedded.conftest import Town
from tests.net.local_server import answer
from tests.net.reply_server import serving_replies
from tests.realtime.messages import NOW as RECEIVED
from tests.realtime.messages import alert, message
from tests.resilience.remote_servers import (
    KINDS,
    LEARNED,
    NOW,
    URL,
    VARIABLE,
    list_questions,
    new_client,
    new_record,
    say_error,
    tools_over,
)

# Characters that addresses, JSON and pages write differently.
KEY = "m4rk3r/k&y+0f=th1s"
ESCAPED = "".join(f"\\u{ord(char):04X}" for char in KEY)
FORMS = (KEY, quote(KEY, safe=""), "m4rk3r", ESCAPED)
# Large enough for a machine that is busy; half an answer is waited for no longer than need be.
ONCE, BRIEFLY = (RequestLimits(read_s=read_s, total_s=60.0, attempts=1) for read_s in (60.0, 0.1))
ECHO = f"The key {KEY} ({quote(KEY, safe='')}) is not known"
# What a server may write for the key in JSON: as it is, as an address, with escapes.
SPELLINGS = {
    "plain": KEY,
    "of an address": quote(KEY, safe=""),
    "escaped": KEY.replace("/", "\\/"),
    "in part": f"{KEY[:5]}{ESCAPED[30:60]}{KEY[10:]}",
    "escaped everywhere": ESCAPED,
    "twice": f"{KEY}{KEY}",
}

TROUBLES = {
    **dict.fromkeys(f"none, with the key in every name, {spelling}" for spelling in SPELLINGS),
    "401": answer("401 Unauthorized", json.dumps({"message": ECHO}).encode()),
    "403": answer("403 Forbidden", ECHO.encode()),
    "404": answer("404 Not Found", json.dumps({"message": ECHO, "error": ECHO}).encode()),
    "404 of a page": answer("404 Not Found", f"<html>{ECHO}</html>".encode()),
    "409": answer("409 Conflict", json.dumps({"message": ECHO}).encode()),
    "422": answer("422 Unprocessable Entity", json.dumps({"error": ECHO}).encode()),
    "429": answer("429 Too Many Requests", json.dumps({"message": f"Invalid app_key {KEY}"}).encode(), Retry_After="1"),
    "500": answer("500 Oh", ECHO.encode()),
    "502 with headers": answer("502 Bad Gateway", b"", X_Told=quote(KEY, safe=""), Set_Cookie=f"k={quote(KEY)}"),
    "a page as success": answer(body=ECHO.encode()),
    "another shape": answer(body=json.dumps({"journeys": ECHO, "itineraries": ECHO, "message": ECHO}).encode()),
    "GraphQL errors": answer(body=json.dumps({"data": None, "errors": [{"message": ECHO, "path": [KEY]}]}).encode()),
    "redirect elsewhere": answer("302 Found", Location=f"http://town.example/elsewhere?k={quote(KEY, safe='')}"),
    "redirect to nowhere": answer("301 Moved", Location=f"http://{quote(KEY, safe='')}.invalid/"),
    "half an answer": b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + ECHO.encode(),
    "no HTTP": ECHO.encode() + b"\r\n\r\n",
}


@pytest.mark.parametrize(
    ("kind", "given"),
    [*((kind, {"key": VARIABLE}) for kind in KINDS), ("motis", {"url": f"{URL}?apikey=${{{VARIABLE}}}"})],
    ids=[*(f"{kind}, header" for kind in KINDS), "motis, parameter"],
)
@pytest.mark.parametrize("trouble", TROUBLES)
async def test_a_key_is_nowhere_but_on_the_wire(kind, given, trouble, tmp_path, caplog, monkeypatch, seen):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("FINGERPOST_NOW", NOW)
    monkeypatch.setenv("FINGERPOST_HOME", str(tmp_path))
    monkeypatch.setenv(VARIABLE, KEY)
    sent = []

    async def reply(asked):
        sent.append(asked)
        if TROUBLES[trouble] is not None:
            return TROUBLES[trouble]
        told = json.dumps(KINDS[kind].tell(asked, f"Stop {ECHO}"))
        return answer(body=told.replace(KEY, SPELLINGS[trouble.rpartition(", ")[2]]).encode())

    limits = BRIEFLY if trouble == "half an answer" else ONCE
    record, environ = new_record(kind, **given), {VARIABLE: KEY}
    async with serving_replies(reply) as port:
        answers = await _learn(tmp_path, port, record, environ, limits)
        async with tools_over(tmp_path, port, record, environ=environ, limits=limits) as (tools, networks):
            for tool, arguments in list_questions(kind, "Stop").values():
                answered = await tools[tool].answer(arguments, user="ann")
                answers += [answered.text, json.dumps(answered.body, ensure_ascii=False), repr(answered)]
            opened = await networks.open()
            answers += [repr(opened), *(repr(network.profile) for network in opened.answering)]
    assert find_key(answers, caplog, seen, tmp_path) == []
    assert sent
    assert seen.spans
    assert [asked.target for asked in sent if not _has_key(asked)] == []


@pytest.mark.parametrize("trouble", [*TROUBLES, "validators"])
async def test_the_key_of_realtime_data_is_nowhere_but_on_the_wire(trouble, tmp_path, caplog, monkeypatch, seen):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("FINGERPOST_NOW", datetime.fromtimestamp(RECEIVED, UTC).isoformat())
    sent = []

    async def reply(asked):
        sent.append(asked.target)
        spelling = SPELLINGS.get(trouble.rpartition(", ")[2], KEY)
        told = message(alert(header=f"Closed: {spelling}", stop_id="ALPHA"), timestamp=RECEIVED)
        return TROUBLES.get(trouble) or answer(body=told, ETag=f'"{quote(KEY)}"', Last_Modified=KEY)

    def open_client():
        client = new_client(tmp_path, port, {VARIABLE: KEY})
        monkeypatch.setattr(client, "fetch", partial(_fetch_once, client.fetch))
        return client

    async with serving_replies(reply) as port:
        town = Town(tmp_path, open_client=open_client)
        town.follow(f"{URL}/a.pb?key=${{{VARIABLE}}}")
        answered = await town.tools["get_departures"].answer(
            {"stop": {"type": "id", "value": "TEST:ALPHA"}}, user="ann"
        )
        opened = await town.networks.open()
        health = [await network.find_realtime_health() for network in opened.answering]
        await town.networks.close()

    assert find_key([answered.text, repr(answered), repr(health)], caplog, seen, tmp_path) == []
    assert f"/a.pb?key={quote(KEY, safe='')}" in sent


async def _fetch_once(fetch, request, *rest):
    return await fetch(replace(request, limits=BRIEFLY), *rest)


def find_key(answers, caplog, seen, home):
    """Return what contains the key. Answers may be read as JSON or as text, and a log is what a person sees."""
    texts = {path: path.read_bytes().decode(errors="replace") for path in home.rglob("*") if path.is_file()}
    texts |= {text: text for text in (*answers, *seen.list_texts(), *map(logging.LogRecord.getMessage, caplog.records))}
    return [name for name, text in texts.items() if any(form.lower() in text.lower() for form in FORMS)]


async def _learn(home, port, record, environ, limits):
    async with new_client(home, port, environ) as client:
        try:
            return [repr(await KINDS[record.source].new_source(client.fetch, limits).learn(record)), repr(LEARNED)]
        except (ToolError, ValueError) as error:
            return [say_error(error)]


def _has_key(asked):
    if "elsewhere" in asked.target:
        return True
    in_header = KEY in (asked.headers.get("app_key"), asked.headers.get("authorization"))
    return in_header or f"apikey={quote(KEY, safe='')}" in asked.target
