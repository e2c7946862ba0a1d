"""Files that the HTTP server serves beside its endpoints."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fingerpost.apps.web.site import SiteFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What is served beside the endpoints.

    Attributes:
        files: by their path.
        headers: of each file.
        work: runs while the server does.
        announce: called with the server's address once it listens.
    """

    files: Mapping[str, SiteFile]
    headers: Mapping[str, str]
    work: Callable[[], Coroutine[Any, Any, None]] | None = None
    announce: Callable[[str], None] | None = None

    def list_routes(self) -> list[Route]:
        """Return one route a file."""
        return [Route(path, self._answer) for path in self.files]

    async def _answer(self, request: Request) -> Response:
        """Return a file, or that it has not changed since the browser got it."""
        file = self.files[request.url.path]
        tag = f'"{file.tag}"'
        headers = {**self.headers, "Cache-Control": "no-cache", "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(file.body, media_type=file.media_type, headers=headers)
