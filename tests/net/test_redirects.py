"""Allowed redirects, and the parts of a request that follow them."""

import pytest

from fingerpost.errors import SourceFailed
from fingerpost.net.request import Request, follow_redirect
from fingerpost.net.transport import AddressRefused
from tests.net.local_server import HOST, LIMITS, answer, names, new_client, serving

KEYED = Request(
    url="https://a.example/feed?x=1",
    params={"y": "2"},
    secret_params={"app_key": "K"},
    secret_headers={"x-key": "K"},
    headers={"accept": "text/plain", "Authorization": "Bearer abc"},
)


def moved(location, status="302 Found"):
    return answer(status, Location=location)


@pytest.mark.parametrize(("hops", "arrives"), [(5, True), (6, False)])
async def test_the_number_of_redirects_is_bounded(hops, arrives):
    answers = [moved("/on")] * hops + [answer(body=b"hello")]
    async with serving(*answers) as server, new_client() as client:
        if arrives:
            got = await client.fetch(Request(url=server.url, limits=LIMITS))
            assert (got.body, got.redacted_url) == (b"hello", server.url + "/on")
        else:
            with pytest.raises(SourceFailed, match="too many times"):
                await client.fetch(Request(url=server.url, limits=LIMITS))
            assert len(server.asked) == 6


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://intern.example:{port}/"]
)
async def test_a_redirect_to_a_private_address_is_not_followed(target):
    resolve = names(intern_example=["192.168.0.7"], localhost=["127.0.0.1"], **{"127_0_0_1": ["127.0.0.1"]})
    async with serving(answer()) as server, new_client(resolve=resolve) as client:
        server.answers[0] = moved(target.format(port=server.port))
        with pytest.raises(AddressRefused):
            await client.fetch(Request(url=server.url, limits=LIMITS))

    assert (len(server.asked), server.connections) == (1, 1)


@pytest.mark.parametrize(
    "reply",
    [
        *map(moved, ["ftp://a.example/", "file:///etc/passwd", "https://a.example:port/"]),
        pytest.param(answer("302 Found"), id="without a place"),
    ],
)
async def test_a_redirect_to_no_http_address_is_a_failure(reply):
    async with serving(reply) as server, new_client() as client:
        with pytest.raises(SourceFailed, match="unusable address"):
            await client.fetch(Request(url=server.url, limits=LIMITS))


def test_a_key_stays_with_its_origin():
    same = follow_redirect(KEYED, 302, {"location": "/b?z=3"})

    assert (same.url, dict(same.params), dict(same.secret_params), dict(same.secret_headers)) == (
        "https://a.example/b?z=3",
        {},
        {},
        {"x-key": "K"},
    )


@pytest.mark.parametrize("location", ["https://b.example/", "https://a.example:8443/", "//b.example/"])
def test_a_key_does_not_go_to_another_origin(location):
    other = follow_redirect(KEYED, 307, {"location": location})

    assert (dict(other.secret_headers), dict(other.headers)) == ({}, {"accept": "text/plain"})


def test_tls_is_never_downgraded():
    with pytest.raises(SourceFailed, match="unencrypted http"):
        follow_redirect(KEYED, 302, {"location": "http://a.example/"})
    up = follow_redirect(Request(url=f"http://{HOST}/"), 301, {"location": f"https://{HOST}/"})

    assert up.url == f"https://{HOST}/"


def test_a_redirected_post_keeps_its_body_or_is_refused():
    """After 301 to 303 browsers would send GET, and an API would answer something else."""
    post = Request(url="https://a.example/", content=b"q")
    for status in (307, 308):
        then = follow_redirect(post, status, {"location": "/b"})
        assert (then.method, then.content) == ("POST", b"q")
    for status in (301, 302, 303):
        with pytest.raises(SourceFailed, match="correct the address"):
            follow_redirect(post, status, {"location": "/b"})


@pytest.mark.parametrize("login", ["ann", "ann:pw", ":pw"])
def test_a_redirect_with_a_login_is_refused(login):
    with pytest.raises(SourceFailed, match="an address with a password"):
        follow_redirect(KEYED, 302, {"location": f"https://{login}@a.example/"})
