"""How a source outside is asked, for those who need not know what carries the request."""

from typing import Protocol

from fingerpost.net.request import Request
from fingerpost.net.response import Response


class Fetch(Protocol):
    """Asks a URL; ``Client.fetch`` and ``LoopClients.fetch`` are two. ``known`` makes the request conditional."""

    async def __call__(self, request: Request, known: Response | None = None) -> Response:
        """Return the answer, ``known`` itself where it still holds.

        Raises:
            ToolError: the source did not answer, or with a failure.
        """
        ...
