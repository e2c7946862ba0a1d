"""The source of map tiles behind the web page's maps, where the operator has configured one."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from fingerpost.errors import SettingsInvalid

# A host and a port; nothing that would end the directive of a content policy, or begin another.
_HOST = re.compile(r"[A-Za-z0-9.-]+(?::\d{1,5})?")
_PLACES = ("{z}", "{x}", "{y}")


@dataclass(frozen=True, slots=True)
class MapTiles:
    """Where tiles come from, and who is to be named beside them.

    Attributes:
        template: an http or https address with ``{z}``, ``{x}`` and ``{y}``, in Web Mercator.
        attribution: shown below each map.
    """

    template: str
    attribution: str

    @classmethod
    def read(cls, template: str, attribution: str) -> "MapTiles | None":
        """Return the tiles of a template, None for an empty one.

        Raises:
            SettingsInvalid: the template is no such address, or nobody is named beside it.
        """
        if not template:
            return None
        parts = urlsplit(template)
        is_address = parts.scheme in ("http", "https") and _HOST.fullmatch(parts.netloc) is not None
        if not is_address or any(place not in template for place in _PLACES):
            raise SettingsInvalid(
                f"{template!r} is no source of tiles. Write it like https://tiles.example.org/{{z}}/{{x}}/{{y}}.png."
            )
        if not attribution:
            raise SettingsInvalid("Tiles need their attribution, which their source states. Give it as well.")
        return cls(template, attribution)

    @property
    def origin(self) -> str:
        """Scheme and host, as a content policy names them."""
        parts = urlsplit(self.template)
        return f"{parts.scheme}://{parts.netloc}"
