"""Serve the files of the web page, which calls tools at ``/mcp`` like any other client."""

import mimetypes
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from os import PathLike, stat_result
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope

from fingerpost.apps.views.page import read_asset
from fingerpost.errors import SettingsInvalid

# A host and a port, without characters that could end a content policy's directive.
_HOST = re.compile(r"[A-Za-z0-9.-]+(?::\d{1,5})?")
_PLACEHOLDERS = ("{z}", "{x}", "{y}")


@dataclass(frozen=True, slots=True)
class MapTiles:
    """The URL of tiles in Web Mercator, with ``{z}``, ``{x}`` and ``{y}``, and their attribution."""

    template: str
    attribution: str

    @classmethod
    def read(cls, template: str, attribution: str) -> "MapTiles | None":
        if not template:
            return None
        parts = urlsplit(template)
        is_url = parts.scheme in ("http", "https") and _HOST.fullmatch(parts.netloc) is not None
        if not is_url or any(placeholder not in template for placeholder in _PLACEHOLDERS):
            raise SettingsInvalid(
                f"{template!r} is not a tile address. Write it like https://tiles.example.org/{{z}}/{{x}}/{{y}}.png"
            )
        if not attribution:
            raise SettingsInvalid("Tiles need an attribution. Add the one that their source gives")
        return cls(template, attribution)

    @property
    def origin(self) -> str:
        parts = urlsplit(self.template)
        return f"{parts.scheme}://{parts.netloc}"


class Site(StaticFiles):
    """Serves the document at ``/`` and the files below ``/assets``, with a strict content policy.

    ``work`` is a background task of the server; ``announce`` is called with the server's URL once it listens.
    """

    def __init__(
        self,
        tiles: MapTiles | None,
        *,
        work: Callable[[], Coroutine[Any, Any, None]] | None = None,
        announce: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(packages=[(__package__, "assets")])
        self.work = work
        self.announce = announce
        template, attribution = ("", "") if tiles is None else (tiles.template, tiles.attribution)
        document = read_asset("web/index.html").format(tiles=escape(template), attribution=escape(attribution))
        images = "'self'" if tiles is None else f"'self' {tiles.origin}"
        self._headers = {
            "Cache-Control": "no-cache",
            "Content-Security-Policy": (
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                f"img-src {images}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            ),
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        # Some systems register another type for scripts, and browsers refuse it.
        mimetypes.add_type("text/javascript", ".js")

        async def answer_document(_request: Request) -> Response:
            return HTMLResponse(document, headers=self._headers)

        self.routes = [Route("/", answer_document), Mount("/assets", self)]

    def file_response(
        self, full_path: PathLike[str] | str, stat_result: stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        # Do not use starlette's tag of time and size: in reproducible packages, the files of all versions have the same
        # time.
        headers = self._headers | {"ETag": f'"{sha256(Path(full_path).read_bytes()).hexdigest()}"'}
        response = FileResponse(full_path, status_code, headers, stat_result=stat_result)
        if self.is_not_modified(response.headers, Headers(scope=scope)):
            return NotModifiedResponse(response.headers)
        return response
