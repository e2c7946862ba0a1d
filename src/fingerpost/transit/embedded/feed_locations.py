"""Where the files of a network are: paths and URLs, with a name before them where there are several."""

import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from fingerpost.errors import ParameterError
from fingerpost.net.request import read_template
from fingerpost.store.network_record import NetworkRecord

_NAMED = re.compile(r"([A-Za-z0-9_-]+)=(.+)", re.DOTALL)


# Taken for a path, it would be stored with the key that it may hold.
_HALF_ADDRESS = re.compile(r"\s*https?:(?!//)", re.IGNORECASE)


class NamedPlace(NamedTuple):
    """A path, or a URL where ``path`` is None, and the FEED that was named before it."""

    feed_name: str | None
    path: Path | None
    url: str | None

    @property
    def text(self) -> str:
        """The text for a record: as typed, with a path made absolute."""
        place = self.url if self.path is None else self.path
        return f"{place}" if self.feed_name is None else f"{self.feed_name}={place}"


def read_place(text: str, base: Path | None = None) -> NamedPlace:
    """Return the place that a text names; a path at which something lies is taken whole.

    A relative path counts from ``base``, by default the current folder.

    Raises:
        ParameterError: an address that holds a key in the clear, or is none.
    """
    here = base or Path.cwd()
    named = _NAMED.fullmatch(text)
    name, place = (None, text) if named is None or _exists(here / text) else (named[1], named[2])
    if _HALF_ADDRESS.match(place) and not _exists(here / place):
        raise ParameterError(
            "An address must begin with http:// or https://, with two slashes",
            {"field": "url"},
            hint="Write https://HOST/PATH; for a file of such a name write ./ before it",
        )
    if "://" in place and not _exists(here / place):
        read_template(place)
        return NamedPlace(name, None, place)
    return NamedPlace(name, (here / expand_home(place)).absolute(), None)


def expand_home(text: str) -> Path:
    """Return a path, a leading ``~`` or ``~USER`` expanded; as it stands where there is no such user."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        # Many programs name their drafts ~like-this.zip.
        return Path(text)


def check_places(record: NetworkRecord) -> None:
    """Check that a record's paths and URLs can be used.

    Raises:
        ParameterError: an address is none, or holds a key in the clear; ``details["field"]`` is the record's key.
    """
    texts = [("feeds", text) for text in record.feeds] + [("realtime", text) for text in record.realtime]
    if record.url is not None:
        texts.append(("url", record.url))
    for key, text in texts:
        try:
            if key == "url":
                read_template(text)
            else:
                read_place(text)
        except ParameterError as error:
            raise ParameterError(error.message, {"field": key}, hint=error.hint) from error


def _exists(path: Path) -> bool:
    # A long URL is too long a name for a file.
    with suppress(OSError):
        return path.exists()
    return False
