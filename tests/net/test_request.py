"""Addresses, keys, and their redacted forms."""

import pytest

from fingerpost.errors import ParameterError
from fingerpost.net.redaction import is_secret_name, redact, redact_url
from fingerpost.net.request import Request, format_server, parse_host, read_template
from fingerpost.transit.embedded.feed_origins import parse_location


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example/x?q=1#top", "https://a.example/x?q=1"),
        ("https://me:pw@a.example:8443/x", "https://a.example:8443/x"),
        ("https://a.example/x?app_key=abc&q=1", "https://a.example/x?app_key=***&q=1"),
        (
            "https://a.example/x?digitransit-subscription-key=abc",
            "https://a.example/x?digitransit-subscription-key=***",
        ),
        ("https://a.example/x?token=a&token=b", "https://a.example/x?token=***&token=***"),
        ("https://a.example/x?q=1;api_key=abc;r=2", "https://a.example/x?q=1;api_key=***;r=2"),
        ("https://a.example/x?apikey%20=abc&q=1,2", "https://a.example/x?apikey%20=***&q=1,2"),
    ],
)
def test_a_shown_address_contains_no_secret(url, expected):
    assert redact_url(url) == expected


SECRET = """key api_key apikey X-Api-Key Authorization access_token client-secret authkey userkey api_key[] api_key[0]
    auth[token] api%5Fkey apiKey2 jwt bearer credential passphrase sessionToken AWSAccessKeyId APP_KEY"""
INNOCENT = """monkey keyword tokens_left accept keyboard turkey author authority design credentialed userid code"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [("apikey ", True), *((name, True) for name in SECRET.split()), *((name, False) for name in INNOCENT.split())],
)
def test_names_of_secrets_are_known(name, expected):
    assert is_secret_name(name) == expected


@pytest.mark.parametrize(
    ("key", "echoed"),
    [
        ('A+b/"c', 'A+b/"c A%2Bb%2F%22c A%2Bb/%22c A+b/\\"c A+b\\/\\"c a%2bb%2f%22c'),
        ("Ab/c+d<Top7", "Ab/c+d<Top7 ab/c+d<top7 Ab%2Fc%2Bd%3CTop7 Ab%2fc%2bd%3cTop7 Ab\\/c+d<Top7"),
        ("Ab/c+d<Top7", r"Ab/c\u002bd\u003cTop7 Ab/c\u002Bd\u003CTop7 Ab/c+d&lt;Top7"),
    ],
)
def test_a_key_is_redacted_as_servers_write_it(key, echoed):
    expected = " ".join(["***"] * len(echoed.split())) + " ab"

    assert redact(f"{echoed} ab", [key, "ab"]) == expected
    assert redact(f"{echoed} ab".encode(), [key, "ab"]) == expected.encode()


def test_input_is_never_read_as_the_name_of_a_key():
    url, _, secrets = Request(url="https://a.example/", params={"text": "${MY_KEY}"}).prepare({"MY_KEY": "abcdef"})

    assert (url, secrets) == ("https://a.example/?text=%24%7BMY_KEY%7D", [])


def test_two_keys_are_one_question():
    one = Request(url="https://a.example/?api_key=abc", secret_headers={"x-key": "A"})
    two = Request(url="https://a.example/?api_key=xyz", secret_headers={"x-key": "B"})

    assert one.key == two.key


INNOCENT_PARAMETERS = "monkey=1 keyboard=x author=me design=2 a=1;b=2 code=HSL price=$5 x={a}"


@pytest.mark.parametrize(
    ("rest", "kept", "secrets"),
    [
        ("feed.zip?v=2&api_key=${K}", "feed.zip?v=2", {"api_key": "K"}),
        # First, last and between; parted with & or with ;.
        ("?key=${K}", "", {"key": "K"}),
        ("?stops=1;2;3&key=${K}", "?stops=1;2;3", {"key": "K"}),
        ("?key=${K};stops=1,2", "?stops=1,2", {"key": "K"}),
        ("?a=%20&key=${K}&b=2", "?a=%20&b=2", {"key": "K"}),
        ("a%20b/feed.zip?x=1,2&y", "a%20b/feed.zip?x=1,2&y", {}),
        *((f"?{parameter}", f"?{parameter}", {}) for parameter in INNOCENT_PARAMETERS.split()),
    ],
)
def test_a_template_names_its_keys_and_preserves_the_rest(rest, kept, secrets):
    assert read_template(f"https://a.example/{rest}") == (f"https://a.example/{kept}", secrets)


IN_THE_CLEAR = """?api_key=abc #api_key=abc ?x=1#abc ?a=1;api_key=abc ?authkey=abc ?api_key[]=abc ?api_key%5B%5D=abc
    ?apikey%20=abc ?api%5Fkey=abc ?userkey=abc ?jwt=abc ?bearer=abc ?credential=abc ?sessionToken=abc"""
NOT_FILLED_IN = "${KEY}/x ?x=a${KEY} ?x=${KEY}a ?x=${my-key} ?${KEY}=1 ?${KEY}=${KEY}"


@pytest.mark.parametrize(
    "url",
    [
        *(f"https://a.example/{rest}" for rest in [*IN_THE_CLEAR.split(), *NOT_FILLED_IN.split()]),
        "https://me:pw@a.example/",
        "https://${KEY}.example/x",
    ],
)
def test_a_key_that_would_be_stored_or_is_missing_is_refused(url):
    with pytest.raises(ParameterError) as raised:
        read_template(url)

    assert ("abc" in str(raised.value) or "pw" in str(raised.value), "${NAME}" in raised.value.hint) == (False, True)


@pytest.mark.parametrize("text", ["https:/a.example/?key=abc", "A=HTTP:/a.example/x", "https:a.example/?key=abc"])
def test_half_an_address_is_not_a_path(tmp_path, text):
    """As a path it would be stored, with its key."""
    with pytest.raises(ParameterError, match="two slashes") as raised:
        parse_location(text, tmp_path)

    assert "abc" not in str(raised.value)


@pytest.mark.parametrize("text", ["https/feed.zip", "./https:/feed.zip", "my-https:/feed.zip"])
def test_a_path_that_only_looks_like_an_address_is_a_path(tmp_path, text):
    assert parse_location(text, tmp_path).path == tmp_path / text


@pytest.mark.parametrize(
    ("url", "server", "host"),
    [
        ("https://otp.example/a", "otp.example", "otp.example"),
        ("https://otp.example:443/a", "otp.example", "otp.example"),
        ("http://otp.example:443/a", "otp.example:443", "otp.example"),
        ("http://[::1]/a", "::1", "::1"),
        ("http://[::1]:8080/a", "[::1]:8080", "::1"),
    ],
)
def test_a_server_is_its_host_and_a_port_that_is_not_the_schemes_own(url, server, host):
    named = format_server(Request(url=url).split())

    assert (named, parse_host(named)) == (server, host)
