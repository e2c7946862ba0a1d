"""A folder of recorded calls.

::

    recording.json                       what this folder is, and its format
    index.txt                            a line for each call, in the order in which they ended
    get-feeds.example-rt.pb-3f2a9c81d0b4/
        request.json                     method, address, headers and body that tell this request from others
        request-body.json                its body, where it has one
        0001/                            the first call with this request
            call.json                    every step of it: what was asked, what came
            1.pb                         the content of its first step
        0002/                            the second one
"""

import errno
import json
import os
import re
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fingerpost.errors import SettingsInvalid

FORMAT = 1
HEAD_FILE = "recording.json"
INDEX_FILE = "index.txt"
REQUEST_FILE = "request.json"
CALL_FILE = "call.json"

_LONGEST_NAME = 60
_EXTENSIONS = {
    "json": "json",
    "graphql": "json",
    "zip": "zip",
    "protobuf": "pb",
    "xml": "xml",
    "html": "html",
    "csv": "csv",
    "text/plain": "txt",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What tells a request from others; two calls of one identity are told apart by their order.

    ``key`` decides, the digest of ``Request.key``; the rest is for people, and keys are taken out of it.
    """

    key: str
    method: str
    address: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body_sha256: str | None = None

    @property
    def shown(self) -> str:
        """The request in a few words."""
        body = f" (body {self.body_sha256[:12]})" if self.body_sha256 else ""
        return f"{self.method} {self.address}{body}"

    @property
    def folder_name(self) -> str:
        """A name for the folder of this request: readable, and unlike that of any other."""
        parts = urlsplit(self.address)
        readable = re.sub(r"[^A-Za-z0-9.]+", "-", f"{self.method}-{parts.netloc}{parts.path}").strip("-.").lower()
        return f"{readable[:_LONGEST_NAME].rstrip('-.')}-{self.key[:12]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An error of the tree as a step of a call met it.

    ``kind`` is its class; ``by`` says who raised it: the wire, the limiter or the breaker.
    """

    kind: str
    message: str
    by: str
    retryable: bool
    hint: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that happened to a call: an answer, or a failure.

    Attributes:
        asked: the method and the address, redirected ones too.
        status, headers, body: of an answer; ``body`` names a file beside, None where nothing came.
        retrieved_at: RFC 3339.
        conditional: it was asked for a newer answer only.
    """

    asked: str
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    bytes: int | None = None
    retrieved_at: str | None = None
    conditional: bool = False
    failure: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call, whole.

    Attributes:
        served: by the source, by a call that was under way, or from memory.
        ended: ``answered``, ``failed`` (with its last failure, or because its time was used up), or ``left`` by its
            caller, who waited no longer.
        withheld: why the call was not recorded; it then has no steps.
    """

    served: str
    ended: str
    steps: tuple[Step, ...] = ()
    withheld: str | None = None


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON file whole or not at all; what is None or empty is left out."""
    text = json.dumps(_without_empty(value), indent=2, ensure_ascii=False)
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    draft.write_text(text + "\n", encoding="utf-8")
    draft.replace(path)


def read_call(path: Path) -> Call:
    """Return a call from its file.

    Raises:
        SettingsInvalid: the file is damaged.
    """
    with _reading(path):
        raw = json.loads(path.read_text(encoding="utf-8"))
        steps = []
        for step in raw.pop("steps", []):
            failure = step.pop("failure", None)
            steps.append(Step(**step, failure=None if failure is None else Failure(**failure)))
        return Call(**raw, steps=tuple(steps))


def read_identity(path: Path) -> Identity:
    """Return what request a folder is of.

    Raises:
        SettingsInvalid: the file is damaged.
    """
    with _reading(path):
        raw = json.loads(path.read_text(encoding="utf-8"))
        raw.pop("body", None)
        return Identity(**raw)


def name_body(number: int, content_type: str) -> str:
    """Return the name of the file for the content of a step, counted from 1."""
    kind = content_type.partition(";")[0].strip().lower()
    extension = next((short for word, short in _EXTENSIONS.items() if word in kind), "bin")
    return f"{number}.{extension}"


def add_line(path: Path, line: str) -> None:
    """Add a line to a text file that other processes add to as well."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, f"{line}\n".encode("utf-8", "replace"))
    finally:
        os.close(handle)


def take_number(folder: Path, first: int) -> Path:
    """Make the folder of a request's next call; no two processes are given the same one."""
    number = first
    while True:
        path = folder / f"{number:04d}"
        try:
            path.mkdir()
        except FileExistsError:
            number += 1
        else:
            return path


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Say it in our words where the disk refuses.

    Raises:
        SettingsInvalid: it does.
    """
    try:
        yield
    except OSError as error:
        full = " Free space." if error.errno == errno.ENOSPC else ""
        raise SettingsInvalid(
            f"The recording {folder.name} cannot be written ({error.strerror or error}).{full}"
        ) from error


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, TypeError, AttributeError) as error:
        shown = "/".join(path.parts[-3:])
        raise SettingsInvalid(f"The recording's file {shown} cannot be read ({error}). Record it anew.") from error


def _without_empty(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_empty(item) for name, item in value.items() if item is not None and item not in ({}, ())}
    if isinstance(value, list | tuple):
        return [_without_empty(item) for item in value]
    return value
