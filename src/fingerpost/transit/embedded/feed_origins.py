"""Parse the paths and URLs of a network's feeds, and store downloads and the state of the last import.

Network records list feeds as ``[FEED=]PATH`` or ``[FEED=]URL``. The home folder contains::

    feeds/
      .HSL.lock              locked while the network is added, refreshed or prepared
      HSL/
        origins.json         for each feed, the fetched file and its validators, or a path's signature
        3f…/hsl.zip          a fetched file
"""

import os
import re
import shutil
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from fingerpost.contract.wire import get_adapter
from fingerpost.errors import ParameterError, SettingsInvalid, new_unwritable_error
from fingerpost.net.request import read_template
from fingerpost.net.response import Download
from fingerpost.store.atomic_file import locked, replace_file
from fingerpost.store.network_records import NetworkRecord

_NAMED = re.compile(r"([A-Za-z0-9_-]+)=(.+)", re.DOTALL)
# Never store a match as a path, because it may be a mistyped URL that contains a key.
_URL_WITHOUT_SLASHES = re.compile(r"\s*https?:(?!//)", re.IGNORECASE)


class NamedLocation(NamedTuple):
    """An optional FEED, and either a path or a URL; keys in URLs are written ``${NAME}``."""

    feed_name: str | None
    path: Path | None
    url: str | None

    @property
    def location(self) -> str:
        return f"{self.url if self.path is None else self.path}"

    @property
    def text(self) -> str:
        return self.location if self.feed_name is None else f"{self.feed_name}={self.location}"

    @property
    def display_name(self) -> str:
        """The URL, or the file's name without its folder."""
        return self.location if self.path is None else self.path.name


def parse_location(text: str, base: Path | None = None) -> NamedLocation:
    """Parse a path or URL; paths are relative to ``base``, by default the current folder.

    Raises:
        ParameterError: a URL is malformed, or contains a key in plain text.
    """
    folder = base or Path.cwd()
    match = _NAMED.fullmatch(text)
    name, location = (None, text) if match is None or _exists(folder / text) else (match[1], match[2])
    if _URL_WITHOUT_SLASHES.match(location) and not _exists(folder / location):
        raise ParameterError(
            "An address must begin with http:// or https://, with two slashes",
            {"field": "url"},
            hint="Write https://HOST/PATH; to use a file with such a name, put ./ before it",
        )
    if "://" in location and not _exists(folder / location):
        read_template(location)
        return NamedLocation(name, None, location)
    return NamedLocation(name, (folder / expand_home(location)).absolute(), None)


# For each record key: what messages call its files, and the hint if a file is missing.
_FILE_KINDS = {
    "feeds": ("file or folder", "Check the path of the feed"),
    "realtime": ("realtime file", "Give the path of a GTFS-Realtime file, or a URL"),
    "extract": ("extract", "Give an OpenStreetMap extract (.osm.pbf)"),
}


def parse_file_argument(key: str, text: str) -> str:
    """Return the stored form of a feed, realtime source or extract; raise ParameterError if the file does not exist."""
    location = NamedLocation(None, expand_home(text).absolute(), None) if key == "extract" else parse_location(text)
    path = location.path
    if path is not None and not (path.exists() if key == "feeds" else path.is_file()):
        kind, hint = _FILE_KINDS[key]
        shown = text.removeprefix(f"{location.feed_name}=") or "''"
        raise ParameterError(f"There is no {kind} {shown}", {"field": key}, hint=hint)
    return location.text


def expand_home(text: str) -> Path:
    # Path.expanduser raises an error for files named ~like-this.zip.
    return Path(os.path.expanduser(text))  # noqa: PTH111


def check_locations(record: NetworkRecord) -> None:
    """Validate the paths and URLs of a record; ``details["field"]`` of an error names the invalid key."""
    texts = [("feeds", text) for text in record.feeds] + [("realtime", text) for text in record.realtime]
    if record.url is not None:
        texts.append(("url", record.url))
    for key, text in texts:
        try:
            (read_template if key == "url" else parse_location)(text)
        except ParameterError as error:
            raise ParameterError(error.message, {"field": key}, hint=error.remedy) from error


def _exists(path: Path) -> bool:
    # A URL may be too long for a file name.
    with suppress(OSError):
        return path.exists()
    return False


_STATE_FILE = "origins.json"
_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The state of a feed at its last import: a downloaded file with its validators, or a path's signature."""

    file: str | None = None
    known: Download | None = None
    signature: str | None = None


def sign(path: Path) -> str:
    """Return a string that changes when a file, or any file in a folder, changes; empty if there is no file."""
    try:
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        return " ".join(f"{file.name}:{file.stat().st_size}:{file.stat().st_mtime_ns}" for file in files)
    except OSError:
        return ""


class OriginFolder:
    def __init__(self, home: Path, network: str) -> None:
        self.folder = home / "feeds" / network
        self._lock = home / "feeds" / f".{network}.lock"

    def locked(self) -> AbstractContextManager[None]:
        """Lock the folder during the block, then remove files left behind by failed or earlier imports."""
        return locked(self._lock, self.folder, self._remove_unused)

    def new_path(self, url: str) -> Path:
        """Return a new path for a download; it ends with the URL's file name, which determines the feed's name."""
        name = _UNSAFE_CHARACTERS.sub("-", unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]).strip("-.")
        return self.folder / uuid.uuid4().hex / (name[:80] or "feed.zip")

    def read(self) -> dict[str, Content]:
        path = self.folder / _STATE_FILE
        try:
            contents: dict[str, Content] = get_adapter(dict[str, Content]).validate_json(path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise SettingsInvalid(
                f"{path} cannot be read. Run `fingerpost network add` again for this network"
            ) from error
        return contents

    def write(self, contents: Mapping[str, Content]) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(self.folder / _STATE_FILE, get_adapter(dict[str, Content]).dump_json(dict(contents)))
        except OSError as error:
            raise new_unwritable_error(self.folder, error) from error

    def _remove_unused(self) -> None:
        try:
            contents = self.read()
        except SettingsInvalid:
            # Remove nothing, because the list of used files cannot be read.
            return
        used = {content.file.partition("/")[0] for content in contents.values() if content.file}
        for path in self.folder.glob("*"):
            if path.is_dir() and path.name not in used:
                shutil.rmtree(path, ignore_errors=True)
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.remove()

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
