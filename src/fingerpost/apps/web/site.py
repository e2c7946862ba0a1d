"""The routes of the web page: its document, its modules, and the headers that let it reach nothing but this server.

The page calls tools at ``/mcp`` like any other client, so that a call has one way, whose transport refuses foreign
hosts, foreign origins, and whatever a form of another site could send (rules of ``TransportSecuritySettings``).
"""

from hashlib import sha256
from html import escape

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fingerpost.apps.web.map_tiles import MapTiles
from fingerpost.views.page import list_assets, read_asset

_MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_DOCUMENT = "web/index.html"


def list_routes(tiles: MapTiles | None) -> list[Route]:
    """Return the page at ``/`` and its files below ``/assets``."""
    images = "'self'" if tiles is None else f"'self' {tiles.origin}"
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        f"img-src {images}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    document = read_asset(_DOCUMENT).format(
        tiles=escape("" if tiles is None else tiles.template),
        attribution=escape("" if tiles is None else tiles.attribution),
    )
    assets = {
        name: (read_asset(name), media_type)
        for name in list_assets()
        if (media_type := _MEDIA_TYPES.get(name[name.rfind(".") :])) is not None
    }

    async def page(request: Request) -> Response:
        return _answer(request, document, "text/html", policy)

    async def asset(request: Request) -> Response:
        found = assets.get(request.path_params["name"])
        if found is None:
            return Response(status_code=404)
        return _answer(request, *found, policy)

    return [Route("/", page), Route("/assets/{name:path}", asset)]


def _answer(request: Request, text: str, media_type: str, policy: str) -> Response:
    """Return a file, or that it has not changed since the browser got it."""
    body = text.encode()
    headers = {
        "Content-Security-Policy": policy,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-cache",
        "ETag": f'"{sha256(body).hexdigest()[:32]}"',
    }
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=media_type, headers=headers)
