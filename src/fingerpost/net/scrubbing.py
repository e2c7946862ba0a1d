"""Take keys out of an answer, should the server have echoed one, in whatever way it writes them."""

from dataclasses import replace

from fingerpost.net.recording.cleaning import Cleaner
from fingerpost.net.recording.key_pattern import SHORTEST_KEY
from fingerpost.net.request import Request, list_secrets
from fingerpost.net.response import Response


def scrub(response: Response, request: Request) -> Response:
    """Return a response without the keys that left with its request."""
    if not request.secret_headers and not request.secret_params:
        return response
    cleaner = Cleaner([secret for secret in list_secrets(request) if len(secret) >= SHORTEST_KEY])
    body = cleaner.feed(response.body) + cleaner.end()
    return replace(response, body=body) if cleaner.found else response
