"""Serve the files of the web page, which calls tools at ``/mcp`` like any other client."""

import mimetypes
from hashlib import sha256
from os import PathLike, stat_result
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope

from fingerpost.apps.views.page import read_asset


class Site(StaticFiles):
    """Serves the document at ``/`` and the files below ``/assets``, with a strict content policy."""

    def __init__(self) -> None:
        super().__init__(packages=[(__package__, "assets")])
        self._headers = {
            "Cache-Control": "no-cache",
            "Content-Security-Policy": (
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            ),
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        # Some systems register another type for scripts, and browsers refuse it.
        mimetypes.add_type("text/javascript", ".js")

        async def answer_document(_request: Request) -> Response:
            return HTMLResponse(read_asset("web/index.html"), headers=self._headers)

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
