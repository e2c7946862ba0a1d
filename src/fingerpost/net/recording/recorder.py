"""Records calls to sources while they are made."""

import hashlib
import json
import logging
import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from fingerpost import clock
from fingerpost.errors import ToolError
from fingerpost.net.body import Body
from fingerpost.net.passage import Ended, Health, Passage, Served
from fingerpost.net.recording.cleaning import Cleaner, KnownKeys, clean_headers, clean_text, clean_url, holds_short_key
from fingerpost.net.recording.folder import (
    CALL_FILE,
    FORMAT,
    HEAD_FILE,
    INDEX_FILE,
    REQUEST_FILE,
    Call,
    Failure,
    Identity,
    Step,
    add_line,
    name_body,
    take_number,
    write_json,
    writing,
)
from fingerpost.net.request import Request
from fingerpost.net.response import Response

_log = logging.getLogger(__name__)


class Recorder:
    """A ``Tape`` that records into a folder. Several clients, threads and processes may share one.

    What a call met is written once the call has ended, so that a killed process leaves no half of one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._counts: dict[str, int] = {}
        self._keys = KnownKeys()

    def open(self, request: Request, live: Passage, secrets: Collection[str]) -> Passage:
        """Return the way of the next call, which is the live one with ears.

        Raises:
            SettingsInvalid: the folder cannot be written.
        """
        with self._lock, writing(self._folder):
            self._keys.add(secrets)
            identity = identify(request, self._keys.values)
            place = self._folder / identity.folder_name
            place.mkdir(parents=True, exist_ok=True)
            if not (self._folder / HEAD_FILE).exists():
                write_json(self._folder / HEAD_FILE, {"format": FORMAT, "what": "Calls recorded by fingerpost"})
            if identity.folder_name not in self._counts:
                self._write_request(place, request, identity)
            path = take_number(place, self._counts.get(identity.folder_name, 0) + 1)
            self._counts[identity.folder_name] = int(path.name)
        return _RecordedPassage(self._folder, path, identity, live, self._keys)

    def _write_request(self, place: Path, request: Request, identity: Identity) -> None:
        described = asdict(identity)
        if request.content:
            cleaner = Cleaner(self._keys.values)
            content = cleaner.feed(request.content) + cleaner.end()
            if cleaner.problem is None:
                content_type = identity.headers.get("content-type", "")
                described["body"] = f"request-body.{name_body(1, content_type).partition('.')[2]}"
                (place / described["body"]).write_bytes(content)
            else:
                described["body"] = f"withheld: {cleaner.problem}"
        write_json(place / REQUEST_FILE, described)


class _RecordedPassage:
    """The live way of one call, and what happens on it."""

    recorded = None

    def __init__(self, folder: Path, path: Path, identity: Identity, live: Passage, keys: KnownKeys) -> None:
        self._folder = folder
        self._path = path
        self._identity = identity
        self._live = live
        self._keys = keys
        self._steps: list[Step] = []
        self._asked = identity.shown
        self._withheld: str | None = None

    def enter(self, host: str) -> None:
        try:
            self._live.enter(host)
        except ToolError as error:
            self._note_failure(error, "breaker")
            self._write(Served.SOURCE, Ended.FAILED)
            raise

    async def wait(self, host: str, *, longest_s: float) -> None:
        try:
            await self._live.wait(host, longest_s=longest_s)
        except ToolError as error:
            self._note_failure(error, "limiter")
            raise

    async def pause(self, host: str, wait_s: float) -> None:
        await self._live.pause(host, wait_s)

    async def send(self, request: Request, conditions: Mapping[str, str], body: Body, secrets: list[str]) -> Response:
        number = len(self._steps) + 1
        kept = _KeptBody(body, self._path / f".{number}.part", secrets, self._keys)
        try:
            try:
                response = await self._live.send(request, conditions, kept, secrets)
            except ToolError as error:
                self._note_asked(request, secrets)
                self._note_failure(error, "wire")
                raise
            self._note_asked(request, secrets)
            if not kept.is_open and response.body:
                kept.keep(response.body)
            self._note_answer(response, kept, number, conditional=bool(conditions))
            return response
        finally:
            with writing(self._folder):
                kept.discard()

    def end(self, host: str, health: Health, ended: Ended) -> None:
        self._live.end(host, health, ended)
        self._write(Served.SOURCE, ended)

    def serve(self, served: Served) -> None:
        self._write(served, Ended.ANSWERED)

    def _note_asked(self, request: Request, secrets: Collection[str]) -> None:
        self._keys.add(secrets)
        self._asked = f"{request.method.upper()} {clean_url(request.shown, self._keys.values)}"

    def _note_failure(self, error: ToolError, by: str) -> None:
        message = clean_text(error.message, self._keys.values)
        failure = Failure(
            kind=type(error).__name__, message=message, by=by, retryable=error.retryable, hint=error.hint,
            details=json.loads(clean_text(json.dumps(error.details, default=str), self._keys.values)),
        )  # fmt: skip
        self._steps.append(Step(asked=self._asked, failure=failure))

    def _note_answer(self, response: Response, kept: "_KeptBody", number: int, *, conditional: bool) -> None:
        headers = clean_headers(response.headers, self._keys.values)
        if holds_short_key(headers.values(), self._keys.values):
            self._withheld = "its headers hold the letters of a key that is too short to be taken out"
        name = None
        with writing(self._folder):
            if kept.is_open:
                self._withheld = kept.close() or self._withheld
                name = name_body(number, headers.get("content-type", ""))
                if self._withheld is None:
                    kept.path.replace(self._path / name)
        self._steps.append(
            Step(
                asked=self._asked,
                status=response.status,
                headers=headers,
                body=name,
                bytes=kept.size_bytes if name else None,
                retrieved_at=response.retrieved_at.isoformat(),
                conditional=conditional,
            )
        )

    def _write(self, served: Served, ended: Ended) -> None:
        call = Call(served=served.value, ended=ended.value, steps=tuple(self._steps))
        if self._withheld is not None:
            call = Call(served=served.value, ended=ended.value, withheld=self._withheld)
            _log.warning("%s is not recorded: %s", self._identity.shown, self._withheld)
        with writing(self._folder):
            if self._withheld is not None:
                for body in self._path.iterdir():
                    body.unlink()
            write_json(self._path / CALL_FILE, asdict(call))
            place = f"{self._path.parent.name}/{self._path.name}"
            instant = clock.now().isoformat(timespec="milliseconds")
            add_line(self._folder / INDEX_FILE, f"{instant} {self._identity.shown} -> {_outcome(call)} [{place}]")


class _KeptBody:
    """Lets content through to the caller, and a copy without keys to the disk."""

    def __init__(self, inner: Body, path: Path, own: list[str], keys: KnownKeys) -> None:
        self._inner = inner
        self._own = own
        self._keys = keys
        self._cleaner = Cleaner(())
        self._file: BinaryIO | None = None
        self.path = path
        self.size_bytes = 0

    @property
    def is_open(self) -> bool:
        return self._file is not None

    def restart(self) -> None:
        self._inner.restart()
        self._begin()

    def write(self, piece: bytes) -> None:
        self._inner.write(piece)
        self._write(self._cleaner.feed(piece))

    def keep(self, content: bytes) -> None:
        """Keep content that does not flow to the caller: of a refusal."""
        self._begin()
        self._write(self._cleaner.feed(content))

    def close(self) -> str | None:
        """Finish the copy; return why it must not be kept, or None."""
        self._write(self._cleaner.end())
        if self._file is not None:
            self._file.close()
        return self._cleaner.problem

    def discard(self) -> None:
        """Remove the draft, where it is still one."""
        if self._file is not None:
            self._file.close()
            with suppress(FileNotFoundError):
                self.path.unlink()

    def _begin(self) -> None:
        self.discard()
        # The keys of a request are known once it has left.
        self._keys.add(self._own)
        self._cleaner = Cleaner(self._keys.values)
        self.size_bytes = 0
        with writing(self.path.parent):
            self._file = self.path.open("wb")

    def _write(self, clean: bytes) -> None:
        self.size_bytes += len(clean)
        with writing(self.path.parent):
            if self._file is not None:
                self._file.write(clean)


def identify(request: Request, secrets: Collection[str]) -> Identity:
    """Return what tells a request from others, without a key."""
    return Identity(
        key=hashlib.sha256(request.key.encode("utf-8", "replace")).hexdigest(),
        method=request.method.upper(),
        address=clean_url(request.shown, secrets),
        headers={name: clean_text(value, secrets) for name, value in sorted(request.varying.items())},
        body_sha256=request.content_sha256 if request.content else None,
    )


def _outcome(call: Call) -> str:
    if call.withheld is not None:
        return f"not recorded: {call.withheld}"
    if call.served != Served.SOURCE.value:
        return "from memory" if call.served == Served.MEMORY.value else "joined a call under way"
    if call.ended == Ended.LEFT.value:
        return "its caller waited no longer"
    last = call.steps[-1] if call.steps else None
    if last is None:
        return "no answer within the call's time"
    attempts = f" (step {len(call.steps)})" if len(call.steps) > 1 else ""
    if last.failure is not None:
        return f"{last.failure.kind}: {last.failure.message}{attempts}"
    return f"{last.status}, {last.bytes or 0:,} bytes{attempts}"
