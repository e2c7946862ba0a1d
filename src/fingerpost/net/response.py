"""A source's response."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fingerpost.errors import SourceChanged


@dataclass(frozen=True, slots=True, kw_only=True)
class Validators:
    """Validators of a response, for conditional requests (RFC 9110, section 8.8)."""

    etag: str | None = None
    last_modified: str | None = None

    @property
    def conditions(self) -> dict[str, str]:
        """The headers that ask for an answer only if it has changed."""
        named = {"if-none-match": self.etag, "if-modified-since": self.last_modified}
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A complete HTTP response.

    Attributes:
        status: of HTTP.
        headers: by name in lower case.
        body: after decompression.
        shown: the address that answered, without a secret.
        retrieved_at: when the source last confirmed it, in UTC.
        from_cache: it was not fetched for this request.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    redacted_url: str
    retrieved_at: datetime
    from_cache: bool = False

    @property
    def validators(self) -> Validators:
        """The validators to send with the next request."""
        return Validators(etag=self.headers.get("etag"), last_modified=self.headers.get("last-modified"))

    def json(self) -> Any:
        """Return the body as JSON.

        Raises:
            SourceChanged: it is not JSON.
        """
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            message = f"{self.redacted_url} answered something that is not JSON"
            raise SourceChanged(message, {"status": self.status, "bytes": len(self.body)}) from error
