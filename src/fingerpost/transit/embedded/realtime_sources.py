"""Parse the realtime sources of a network's record."""

from dataclasses import dataclass
from pathlib import Path

from fingerpost.errors import ParameterError
from fingerpost.transit.embedded.named_places import read_place


@dataclass(frozen=True, slots=True)
class RealtimeSource:
    """A path or URL (``${NAME}`` stands for a key in the environment), and the FEED that it updates, if only one."""

    location: str
    feed_name: str | None = None

    @property
    def is_url(self) -> bool:
        """Whether the location is a URL."""
        return self.location.lower().startswith(("http://", "https://"))

    @property
    def shown(self) -> str:
        """The source without this machine's paths: a URL, or a file's name."""
        return self.location if self.is_url else Path(self.location).name

    @property
    def text(self) -> str:
        """The source as a record names it; a URL has its keys by name only."""
        return self.location if self.feed_name is None else f"{self.feed_name}={self.location}"


def read_source(text: str, base: Path | None = None) -> RealtimeSource:
    """Parse ``[FEED=]PATH`` or ``[FEED=]URL``; an existing path is taken literally.

    A relative path counts from ``base``, by default the current folder. A file may come later than its record.

    Raises:
        ParameterError: an address that holds a key in the clear or is none.
    """
    place = read_place(text, base)
    return RealtimeSource(str(place.path) if place.url is None else place.url, place.feed_name)


def read_typed_source(text: str) -> RealtimeSource:
    """Return the source that somebody typed, whose file must be there now.

    Raises:
        ParameterError: as ``read_source``, or there is no such file.
    """
    source = read_source(text)
    if not source.is_url and not Path(source.location).is_file():
        place = text.removeprefix(f"{source.feed_name}=")
        raise ParameterError(
            f"There is no realtime file {place}", {"field": "realtime"}, hint="Name a GTFS-Realtime file, or a URL"
        )
    return source
