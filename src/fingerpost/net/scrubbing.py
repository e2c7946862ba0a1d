"""Take keys out of an answer, should the server have echoed one, in whatever way it writes them."""

import re
from dataclasses import replace

from fingerpost.net.recording.cleaning import Cleaner
from fingerpost.net.recording.key_pattern import SHORTEST_KEY
from fingerpost.net.request import Request, list_secrets
from fingerpost.net.response import Response

# A backslash and what it escapes: a printable ASCII character by its number, or anything.
_ESCAPE = re.compile(rb"\\(?:u00([2-7][0-9a-fA-F])|.)", re.DOTALL)
_PRINTABLE = re.compile(rb"\\u00[2-7]")
_NEEDS_ESCAPE = b'"\\\x7f'


def scrub(response: Response, request: Request) -> Response:
    """Return a response without the keys that left with its request."""
    if not request.secret_headers and not request.secret_params:
        return response
    cleaner = Cleaner([secret for secret in list_secrets(request) if len(secret) >= SHORTEST_KEY])
    body = cleaner.feed(_without_needless_escapes(response.body)) + cleaner.end()
    return replace(response, body=body) if cleaner.found else response


def _without_needless_escapes(body: bytes) -> bytes:
    """Return JSON with what its reader will see in it: a key may be encoded twice, the second time by such escapes."""
    if not _PRINTABLE.search(body) or not body.lstrip().startswith((b"{", b"[")):
        return body
    return _ESCAPE.sub(_unescape, body)


def _unescape(escape: re.Match[bytes]) -> bytes:
    character = bytes.fromhex(escape[1].decode()) if escape[1] else b""
    return character if character and character not in _NEEDS_ESCAPE else escape[0]
