"""A key is found in every form in which servers repeat one."""

import pytest

from fingerpost.net.redaction import redact

KEY = "Ab/c+d<Top7"


@pytest.mark.parametrize(
    "echoed",
    [
        "Ab/c+d<Top7",
        "ab/c+d<top7",
        "Ab%2Fc%2Bd%3CTop7",
        "Ab%2fc%2bd%3cTop7",
        "Ab\\/c+d<Top7",
        "Ab/c\\u002bd\\u003cTop7",
        "Ab/c\\u002Bd\\u003CTop7",
        "Ab/c+d&lt;Top7",
    ],
)
def test_a_key_is_found_as_servers_write_it(echoed):
    """Plain, as a host, percent-encoded in either case, and escaped for JSON and for HTML."""
    assert redact(f'{{"url": "{echoed}"}}'.encode(), [KEY]) == b'{"url": "***"}'
