"""Take keys out of an answer, should the server have echoed one."""

from dataclasses import replace

from fingerpost.net.redaction import redact_text
from fingerpost.net.request import Request, list_secrets
from fingerpost.net.response import Response


def scrub(response: Response, request: Request) -> Response:
    """Return a response without the keys that left with its request."""
    if not request.secret_headers and not request.secret_params:
        return response
    secrets = [secret for secret in list_secrets(request) if secret.encode() in response.body]
    if not secrets:
        return response
    return replace(response, body=redact_text(response.body.decode(errors="replace"), secrets).encode())
