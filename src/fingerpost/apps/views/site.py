"""List the files of the web page, with headers that let it reach nothing but its server.

The page calls tools at ``/mcp`` like any other client.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from urllib.parse import urlsplit

from fingerpost.apps.views.page import list_assets, read_asset
from fingerpost.errors import SettingsInvalid

_MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_DOCUMENT = "web/index.html"
# A host and a port, without characters that end a directive of a content policy.
_HOST = re.compile(r"[A-Za-z0-9.-]+(?::\d{1,5})?")
_PLACES = ("{z}", "{x}", "{y}")


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
        is_address = parts.scheme in ("http", "https") and _HOST.fullmatch(parts.netloc) is not None
        if not is_address or any(place not in template for place in _PLACES):
            raise SettingsInvalid(
                f"{template!r} is not an address of tiles. Write it like https://tiles.example.org/{{z}}/{{x}}/{{y}}.png"
            )
        if not attribution:
            raise SettingsInvalid("Tiles need an attribution; their source states it. Add it")
        return cls(template, attribution)

    @property
    def origin(self) -> str:
        parts = urlsplit(self.template)
        return f"{parts.scheme}://{parts.netloc}"


@dataclass(frozen=True, slots=True)
class SiteFile:
    """A file of the page; ``tag`` changes with the body."""

    body: bytes
    media_type: str
    tag: str


def list_files(tiles: MapTiles | None) -> Mapping[str, SiteFile]:
    """Return all files of the page by their path: the document at ``/``, the others below ``/assets``."""
    document = read_asset(_DOCUMENT).format(
        tiles=escape("" if tiles is None else tiles.template),
        attribution=escape("" if tiles is None else tiles.attribution),
    )
    files = {"/": _file(document, "text/html")}
    for name in list_assets():
        media_type = _MEDIA_TYPES.get(name[name.rfind(".") :])
        if media_type is not None:
            files[f"/assets/{name}"] = _file(read_asset(name), media_type)
    return files


def list_headers(tiles: MapTiles | None) -> Mapping[str, str]:
    """Return the headers of each file: a strict content policy, and no trust in other sites."""
    images = "'self'" if tiles is None else f"'self' {tiles.origin}"
    return {
        "Content-Security-Policy": (
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            f"img-src {images}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }


def _file(text: str, media_type: str) -> SiteFile:
    body = text.encode()
    return SiteFile(body, media_type, sha256(body).hexdigest()[:32])
