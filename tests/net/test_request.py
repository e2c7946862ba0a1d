"""Addresses, keys and what is shown of them."""

import pytest

from fingerpost.errors import ParameterError
from fingerpost.net.redaction import is_secret_name, redact, redact_url
from fingerpost.net.request import Request, read_template
from fingerpost.transit.embedded.feed_locations import read_place


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
def test_a_shown_address_holds_no_secret(url, expected):
    """Login, fragment and the values of secret parameters are gone; the rest stays as it is."""
    assert redact_url(url) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("key", True),
        ("api_key", True),
        ("apikey", True),
        ("X-Api-Key", True),
        ("Authorization", True),
        ("access_token", True),
        ("client-secret", True),
        ("monkey", False),
        ("keyword", False),
        ("tokens_left", False),
        ("accept", False),
        ("authkey", True),
        ("userkey", True),
        ("api_key[]", True),
        ("api_key[0]", True),
        ("auth[token]", True),
        ("apikey ", True),
        ("api%5Fkey", True),
        ("apiKey2", True),
        ("jwt", True),
        ("bearer", True),
        ("credential", True),
        ("passphrase", True),
        ("sessionToken", True),
        ("AWSAccessKeyId", True),
        ("APP_KEY", True),
        ("keyboard", False),
        ("turkey", False),
        ("author", False),
        ("authority", False),
        ("design", False),
        ("credentialed", False),
        ("userid", False),
        ("code", False),
    ],
)
def test_names_of_secrets_are_known(name, expected):
    """Names that are a secret's, not those that only look like one."""
    assert is_secret_name(name) == expected


def test_a_key_is_redacted_as_it_is_and_as_urls_and_json_write_it():
    """A very short one would be found in innocent words and stays."""
    key = 'A+b/"c'
    text = 'A+b/"c, A%2Bb%2F%22c, A%2Bb/%22c, A+b/\\"c, A+b\\/\\"c, a%2bb%2f%22c, ab'

    assert redact(text, [key, "ab"]) == "***, ***, ***, ***, ***, ***, ab"
    assert redact(text.encode(), [key, "ab"]) == b"***, ***, ***, ***, ***, ***, ab"


def test_a_login_in_the_address_becomes_a_header():
    """RFC 7617's own example; the address leaves without it."""
    url, headers, secrets = Request(url="https://Aladdin:open%20sesame@a.example/x").wire({})

    assert (url, headers["authorization"]) == ("https://a.example/x", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    assert secrets == ["QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "open sesame"]


def test_what_a_caller_says_is_never_read_as_the_name_of_a_key():
    """A reference in a parameter is text, not a key."""
    url, _, secrets = Request(url="https://a.example/", params={"text": "${MY_KEY}"}).wire({"MY_KEY": "abcdef"})

    assert (url, secrets) == ("https://a.example/?text=%24%7BMY_KEY%7D", [])


def test_two_keys_are_one_question():
    """The key of a cache does not depend on who asks."""
    one = Request(url="https://a.example/?api_key=abc", secret_headers={"x-key": "A"})
    two = Request(url="https://a.example/?api_key=xyz", secret_headers={"x-key": "B"})

    assert one.key == two.key


def test_a_template_names_its_key():
    """The address to keep, and which variable fills which parameter."""
    assert read_template("https://a.example/feed.zip?v=2&api_key=${MY_KEY}") == (
        "https://a.example/feed.zip?v=2",
        {"api_key": "MY_KEY"},
    )


def test_an_address_without_a_key_is_kept_as_it_is():
    """Nothing is written anew that need not be."""
    url = "https://a.example/a%20b/feed.zip?x=1,2&y"
    assert read_template(url) == (url, {})


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("?key=${K}", ""),
        ("?stops=1;2;3&key=${K}", "?stops=1;2;3"),
        ("?key=${K};stops=1,2", "?stops=1,2"),
        ("?a=%20&key=${K}&b=2", "?a=%20&b=2"),
    ],
)
def test_a_reference_leaves_the_rest_of_the_query_as_it_is(url, kept):
    """First, last and between; parted with & or with ;."""
    assert read_template(f"https://a.example/{url}") == (f"https://a.example/{kept}", {"key": "K"})


@pytest.mark.parametrize(
    "query", ["monkey=1", "keyboard=x", "author=me", "design=2", "a=1;b=2", "code=HSL", "price=$5", "x={a}"]
)
def test_an_innocent_parameter_is_taken(query):
    """Its name only looks like a key's."""
    assert read_template(f"https://a.example/?{query}") == (f"https://a.example/?{query}", {})


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/?api_key=abc",
        "https://me:pw@a.example/",
        "https://a.example/#api_key=abc",
        "https://a.example/?x=1#abc",
        "https://a.example/?a=1;api_key=abc",
        "https://a.example/?authkey=abc",
        "https://a.example/?api_key[]=abc",
        "https://a.example/?api_key%5B%5D=abc",
        "https://a.example/?apikey%20=abc",
        "https://a.example/?api%5Fkey=abc",
        "https://a.example/?userkey=abc",
        "https://a.example/?jwt=abc",
        "https://a.example/?bearer=abc",
        "https://a.example/?credential=abc",
        "https://a.example/?sessionToken=abc",
        "https://a.example/${KEY}/x",
        "https://${KEY}.example/x",
        "https://a.example/?x=a${KEY}",
        "https://a.example/?x=${KEY}a",
        "https://a.example/?x=${my-key}",
        "https://a.example/?${KEY}=1",
        "https://a.example/?${KEY}=${KEY}",
    ],
)
def test_a_key_that_would_be_stored_or_not_filled_in_is_not_taken(url):
    """The refusal says how to write it instead, and does not repeat the key."""
    with pytest.raises(ParameterError) as raised:
        read_template(url)

    assert ("abc" in str(raised.value) or "pw" in str(raised.value), "${NAME}" in raised.value.hint) == (False, True)


@pytest.mark.parametrize("text", ["https:/a.example/?key=abc", "A=HTTP:/a.example/x", "https:a.example/?key=abc"])
def test_half_an_address_is_not_taken_for_a_path(tmp_path, text):
    """As a path it would be stored, with its key."""
    with pytest.raises(ParameterError, match="two slashes") as raised:
        read_place(text, tmp_path)

    assert "abc" not in str(raised.value)


@pytest.mark.parametrize("text", ["https/feed.zip", "./https:/feed.zip", "my-https:/feed.zip"])
def test_a_path_that_only_looks_like_an_address_is_a_path(tmp_path, text):
    """It does not begin with a scheme."""
    assert read_place(text, tmp_path).path == tmp_path / text
