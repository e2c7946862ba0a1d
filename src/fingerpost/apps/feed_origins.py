"""Where the feeds of a network come from, kept so that they can be fetched again.

::

    feeds/
      HSL/
        origins.json         each feed's address or path, and what is known of the content that was imported
        .lock                held by whoever adds or refreshes
        3f…/hsl.zip          what was fetched
"""

import fcntl
import json
import os
import re
import shutil
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit

from fingerpost.errors import SettingsInvalid
from fingerpost.net.download import Downloaded
from fingerpost.net.request import read_template
from fingerpost.net.response import Validators

_RECORD = "origins.json"
_LOCK = ".lock"
_NAMED = re.compile(r"([A-Za-z0-9_-]+)=(.+)", re.DOTALL)
_ODD = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where one feed comes from: an address, or a path on this machine.

    Attributes:
        feed_name: the FEED of its stop ids, where it was given.
        url: without a key; ``secret_params`` names the variables that hold them.
        path: absolute.
        file: what was fetched, below the network's folder.
        known: what the source said of it.
        signature: of what lay at ``path``, to see whether it has changed.
    """

    feed_name: str | None = None
    url: str | None = None
    secret_params: dict[str, str] = field(default_factory=dict)
    path: str | None = None
    file: str | None = None
    known: Downloaded | None = None
    signature: str | None = None


def read_origin(text: str) -> Origin:
    """Return the feed that ``[FEED=]PATH`` or ``[FEED=]URL`` names; a path that is there is taken whole.

    Raises:
        ParameterError: an address that holds a key in the clear, or is none.
    """
    named = _NAMED.fullmatch(text)
    name, place = (None, text) if named is None or Path(text).exists() else (named[1], named[2])
    if "://" in place and not Path(place).exists():
        url, secret_params = read_template(place)
        return Origin(feed_name=name, url=url, secret_params=secret_params)
    return Origin(feed_name=name, path=str(Path(place).absolute()))


def sign(path: Path) -> str:
    """Return a value that changes when a file, or a file of a folder, is written to; empty where there is nothing."""
    try:
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        return " ".join(f"{file.name}:{file.stat().st_size}:{file.stat().st_mtime_ns}" for file in files)
    except OSError:
        return ""


class OriginFolder:
    """One network's folder of origins."""

    def __init__(self, home: Path, network: str) -> None:
        self.folder = home / "feeds" / network

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Wait until no other process adds or refreshes this network; a folder left with nothing in it goes again.

        Raises:
            SettingsInvalid: the disk refuses.
        """
        with self._take_lock():
            try:
                yield
            finally:
                with suppress(FileNotFoundError):
                    if [path.name for path in self.folder.iterdir()] == [_LOCK]:
                        self.remove()

    def _take_lock(self) -> IO[str]:
        path = self.folder / _LOCK
        while True:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                lock = path.open("w")
            except OSError as error:
                raise SettingsInvalid(f"{self.folder} cannot be written ({error.strerror or error})") from error
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Whoever held it before may have removed the folder: then this is the lock of nothing.
            with suppress(FileNotFoundError):
                if path.stat().st_ino == os.fstat(lock.fileno()).st_ino:
                    return lock
            lock.close()

    def new_path(self, url: str) -> Path:
        """Return where to put what an address gives, under the address's own name: feeds are told apart by it."""
        name = _ODD.sub("-", unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]).strip("-.")
        return self.folder / uuid.uuid4().hex / (name[:80] or "feed.zip")

    def read(self) -> list[Origin]:
        """Return the origins of the network as it was last imported; none where that is not known.

        Raises:
            SettingsInvalid: they cannot be read.
        """
        try:
            raw = json.loads((self.folder / _RECORD).read_text(encoding="utf-8"))
            return [_origin(each) for each in raw]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise SettingsInvalid(
                f"{self.folder / _RECORD} cannot be read ({error}). Run `fingerpost network add` for it again."
            ) from error

    def write(self, origins: Sequence[Origin]) -> None:
        """Keep the origins, in one step.

        Raises:
            SettingsInvalid: the disk refuses.
        """
        draft = self.folder / f".{_RECORD}.draft"
        try:
            with draft.open("w", encoding="utf-8") as file:
                json.dump([asdict(origin) for origin in origins], file, ensure_ascii=False)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.folder / _RECORD)
        except OSError as error:
            raise SettingsInvalid(f"{self.folder} cannot be written ({error.strerror or error})") from error

    def sweep(self, origins: Iterable[Origin]) -> None:
        """Remove what was fetched and belongs to none of these origins."""
        kept = {origin.file.partition("/")[0] for origin in origins if origin.file}
        for path in self.folder.glob("*"):
            if path.is_dir() and path.name not in kept:
                shutil.rmtree(path, ignore_errors=True)

    def remove(self) -> None:
        """Forget the network's origins."""
        shutil.rmtree(self.folder, ignore_errors=True)


def list_networks_with_origins(home: Path) -> list[str]:
    """Return the names of the networks whose origins are known, sorted."""
    return sorted(path.parent.name for path in (home / "feeds").glob(f"*/{_RECORD}"))


def _origin(raw: dict[str, object]) -> Origin:
    known = raw.pop("known")
    if isinstance(known, dict):
        known = Downloaded(**{**known, "validators": Validators(**known["validators"])})
    return Origin(**{**raw, "known": known})  # type: ignore[arg-type]  # a wrong key is a TypeError, which read() tells
