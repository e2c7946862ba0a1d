"""A request that is too large is refused before anything reads it as JSON, and what is refused is counted rightly."""

import asyncio
import json

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.apps.mcp.address import Address
from fingerpost.apps.mcp.http import new_app
from fingerpost.apps.mcp.request_size import (
    MOST_BYTES,
    MOST_ESCAPES,
    MOST_PLAN_VALUES,
    MOST_VALUES,
    find_declared_excess,
    find_excess,
    has_many_values,
)
from fingerpost.apps.warm_up import WarmUp

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='a,[]{}"\\ :é'),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(alphabet='a,[{"\\'), inner, max_size=5),
    max_leaves=30,
)


def count(value):
    """Values inside, the slow way: an empty list or object counts twice."""
    if isinstance(value, dict):
        return 1 + (sum(map(count, value.values())) or 1)
    if isinstance(value, list):
        return 1 + (sum(map(count, value)) or 1)
    return 1


@given(JSON, st.booleans(), st.integers(1, 40))
def test_values_are_counted_without_reading_them(value, is_ascii, most):
    """As a walk over the read value counts them, whatever stands in its texts."""
    body = json.dumps(value, ensure_ascii=is_ascii).encode()

    assert has_many_values(body, most) == (count(value) > most)


@given(st.binary(), st.integers(1, 10))
def test_whatever_bytes_come_are_counted(body, most):
    """What is no JSON raises nothing."""
    assert has_many_values(body, most) in (True, False)


def say(body):
    return asyncio.run(find_excess([{"type": "http.request", "body": body}]))


def list_of(values, name="find_stops"):
    return b'{"name":"' + name.encode() + b'","a":[' + b"100000," * (values - 5) + b"0]}"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b" " * MOST_BYTES, None),
        (b" " * (MOST_BYTES + 1), "more than 1,500,000 bytes"),
        (list_of(MOST_VALUES), None),
        (list_of(MOST_VALUES + 2), "more than 10,500 values"),
        (list_of(MOST_PLAN_VALUES, "run_plan"), None),
        (list_of(MOST_PLAN_VALUES + 2, "run_plan"), "more than 20,000 values"),
        (b'"' + b"\\n" * MOST_ESCAPES + b'"', None),
        (b'"' + b"\\n" * (MOST_ESCAPES + 1) + b'"', "more than 100,000 escapes; write its texts in UTF-8"),
        (b'{"a":"' + b"," * 1_000_000 + b'"}', None),
        (b' [{"id":1}' + b" " * 60_000 + b"]", "A list of requests is not taken"),
    ],
    ids=lambda each: str(each)[:12],
)
def test_a_request_at_its_bound_is_read_and_beyond_it_is_not(body, said):
    """The sentence says what to do."""
    told = say(body)

    assert (told is None) if said is None else said in told


@pytest.mark.parametrize(
    ("header", "is_refused"),
    [(None, False), ("1500000", False), ("1500001", True), ("9" * 20, True), ("x", False), ("-1", False), ("²", False)],
)
def test_a_declared_length_beyond_the_bound_is_not_waited_for(header, is_refused):
    """What is no length is for the server of HTTP to refuse."""
    assert (find_declared_excess(header) is not None) == is_refused


@pytest.mark.parametrize("headers", [{}, {"content-length": "4000000"}], ids=["as it is sent", "by its header"])
async def test_over_http_it_is_a_sentence(application, headers):
    """Status 413 with an error of JSON-RPC."""
    app = new_app(application, Address("127.0.0.1", 8000), WarmUp(application.networks))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1:8000") as client:
        answer = await client.post("/mcp", content=b"x" * 1_600_000, headers=headers)

    assert answer.status_code == 413
    assert answer.json()["error"] == {
        "code": -32600,
        "message": "The request has more than 1,500,000 bytes; send a shorter call",
    }
