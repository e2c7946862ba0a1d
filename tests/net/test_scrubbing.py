"""What a server echoes of the key that was sent to it, as the reader of its JSON would see it."""

import json
from datetime import UTC, datetime
from urllib.parse import quote

import pytest

from fingerpost.net.request import Request
from fingerpost.net.response import Response
from fingerpost.net.scrubbing import scrub

KEY = "mArk3r/0f+N0b0dy"


def escaped(text):
    """Write every character as an escape of JSON, which no encoder does by itself."""
    return "".join(f"\\u{ord(char):04x}" for char in text)


def read(body, monkeypatch):
    """Return what is left of a body after the key was taken out."""
    monkeypatch.setenv("MY_KEY", KEY)
    request = Request(url="https://otp.example/", secret_params={"key": "MY_KEY"})
    response = Response(
        status=200,
        headers={},
        body=body,
        redacted_url="https://otp.example/",
        retrieved_at=datetime(2026, 3, 10, tzinfo=UTC),
    )
    return scrub(response, request).body


@pytest.mark.parametrize(
    "written",
    [KEY, quote(KEY, safe=""), quote(KEY, safe="").replace("%", "\\u0025"), escaped(KEY), escaped(quote(KEY))],
)
def test_no_reader_of_an_answer_meets_the_key(written, monkeypatch):
    """However the percent signs, or all its characters, are written."""
    assert json.loads(read(f'{{"said": "{written}"}}'.encode(), monkeypatch)) == {"said": "***"}


def test_the_rest_of_an_answer_reads_as_before(monkeypatch):
    """Quotes, backslashes and what only looks like an escape keep theirs."""
    others = 'A "name" \\ with \\u0041, é and \x7f'
    body = json.dumps({"key": KEY, "others": others, "more": "\\\\u0022"}).replace("name", escaped("name"))

    assert json.loads(read(body.encode(), monkeypatch)) == {"key": "***", "others": others, "more": "\\\\u0022"}


def test_an_answer_without_the_key_is_the_servers_own(monkeypatch):
    """Byte for byte."""
    body = b'{"name": "\\u0041lpha"}'

    assert read(body, monkeypatch) == body
