"""Replays recorded calls: nothing is asked, and nothing waits."""

import json
import threading
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from fingerpost import clock, errors
from fingerpost.errors import SettingsInvalid, SourceLimited, SourceTimeout, ToolError
from fingerpost.net.addresses import AddressRefused
from fingerpost.net.body import Body
from fingerpost.net.exchange import NOT_MODIFIED
from fingerpost.net.passage import Ended, Health, Passage, Served
from fingerpost.net.recording.folder import (
    CALL_FILE,
    FORMAT,
    HEAD_FILE,
    REQUEST_FILE,
    Call,
    Failure,
    Identity,
    Step,
    read_call,
    read_identity,
)
from fingerpost.net.recording.recorder import identify
from fingerpost.net.request import Request
from fingerpost.net.response import Response

_PIECE_BYTES = 1 << 18


class RecordingMissing(SettingsInvalid):
    """A replayed run asks something that its recording does not hold."""

    hint = "Record the run anew: FINGERPOST_RECORD=FOLDER in place of FINGERPOST_REPLAY, with a network"


class CallerLeft(SourceTimeout, TimeoutError):
    """The caller of the recorded call waited no longer, so its own time limit is replayed as expired."""


class Player:
    """A ``Tape`` that replays a folder. The calls of one request come in the order in which they were made.

    Several clients and threads may share one; together they are then the run that was recorded.

    Raises:
        SettingsInvalid: the folder holds no recording, or one of another format.
    """

    def __init__(self, folder: Path) -> None:
        check_recording(folder)
        self._name = folder.name
        self._lock = threading.Lock()
        found = sorted(folder.glob(f"*/{REQUEST_FILE}"))
        known = {path.parent: read_identity(path) for path in found}
        self._places = {identity.key: place for place, identity in known.items()}
        self._addresses = [identity.address for identity in known.values()]
        self._waiting: dict[str, Iterator[tuple[Path, Call]]] = {}
        self._sources: dict[str, tuple[Path, Call]] = {}

    def open(self, request: Request, live: Passage, secrets: Collection[str]) -> Passage:  # noqa: ARG002  (the port's)
        """Return the way of the next call.

        Raises:
            RecordingMissing: there is none.
        """
        identity = identify(request, secrets)
        key = identity.key
        with self._lock:
            if key not in self._places:
                raise self._missing(identity)
            waiting = self._waiting.setdefault(key, _list_calls(self._places[key]))
            path, call = next(waiting, (None, None))
            if path is None or call is None:
                raise RecordingMissing(
                    f"The recording {self._name} has no further answer to {identity.shown}; this run asks it more often"
                )
            if call.withheld is not None:
                raise RecordingMissing(
                    f"The answer to {identity.shown} was kept out of the recording {self._name}: {call.withheld}",
                    hint="Keep the source from repeating the key, or use a longer one, and record the run anew",
                )
            if call.served == Served.SOURCE.value:
                self._sources[key] = path, call
            # Who joined a call, or was served from memory, got what that call brought.
            path, source = self._sources.get(key, (path, call))
        return _ReplayedPassage(self._name, identity, path, Served(call.served), source)

    def _missing(self, identity: Identity) -> RecordingMissing:
        near = self._addresses.count(identity.address)
        others = f" It holds {near} with another method, body or headers." if near else ""
        return RecordingMissing(f"The recording {self._name} does not hold {identity.shown}.{others}")


class _ReplayedPassage:
    """The way of one call as it was."""

    def __init__(self, name: str, identity: Identity, folder: Path, recorded: Served, call: Call) -> None:
        self.recorded = recorded
        self._name = name
        self._identity = identity
        self._folder = folder
        self._ended = call.ended
        self._steps = list(call.steps)

    def enter(self, host: str) -> None:  # noqa: ARG002  (the port's own)
        self._refuse("breaker")

    async def wait(self, host: str, *, longest_s: float) -> None:  # noqa: ARG002  (the port's own)
        self._refuse("limiter")

    async def pause(self, host: str, wait_s: float) -> None:
        """Whoever replays waits for nobody."""

    async def send(self, request: Request, conditions: Mapping[str, str], body: Body, secrets: list[str]) -> Response:  # noqa: ARG002  (the port's own)
        if not self._steps and self._ended == Ended.LEFT.value:
            raise CallerLeft(f"{request.split().hostname} did not answer in time")
        if not self._steps and self._ended == Ended.FAILED.value:
            # The last failure stands, or the time of the call was used up.
            raise TimeoutError
        if not self._steps:
            raise RecordingMissing(
                f"The recording {self._name} has no further step of the call {self._identity.shown},"
                " and this run takes one more"
            )
        step = self._steps.pop(0)
        if step.failure is not None:
            raise _rebuild(step.failure)
        if step.status == NOT_MODIFIED and not conditions:
            raise RecordingMissing(
                f"The recording {self._name} has {self._identity.shown} as a question for changes only,"
                " and this run has nothing that could have changed"
            )
        return self._answer(request, step, body)

    def end(self, host: str, health: Health, ended: Ended) -> None:
        """Tell nobody: the breaker does not hear of a replay."""

    def serve(self, served: Served) -> None:
        """Note nothing: it is known already."""

    def _refuse(self, by: str) -> None:
        failure = self._steps[0].failure if self._steps else None
        if failure is not None and failure.by == by:
            del self._steps[0]
            raise _rebuild(failure)

    def _answer(self, request: Request, step: Step, body: Body) -> Response:
        head = Response(
            status=step.status or 0,
            headers=dict(step.headers),
            body=b"",
            shown=request.shown,
            retrieved_at=_retrieved_at(step),
        )
        flows = 200 <= head.status < 300
        if flows:
            body.restart()
        if step.body is None:
            return head
        path = self._folder / step.body
        try:
            if not flows:
                return replace(head, body=path.read_bytes())
            with path.open("rb") as file:
                while piece := file.read(_PIECE_BYTES):
                    body.write(piece)
        except FileNotFoundError as error:
            raise RecordingMissing(f"The recording {self._name} lacks a file of {self._identity.shown}") from error
        return head


def check_recording(folder: Path) -> None:
    """Make sure that a folder holds a recording.

    Raises:
        SettingsInvalid: it does not, or one of another format.
    """
    try:
        head = json.loads((folder / HEAD_FILE).read_text(encoding="utf-8"))
        found = head["format"]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise SettingsInvalid(
            f"{folder} holds no recording. Make one: FINGERPOST_RECORD={folder} in place of FINGERPOST_REPLAY."
        ) from error
    if found != FORMAT:
        raise SettingsInvalid(f"{folder} holds a recording of format {found}, and this version reads {FORMAT}.")


def _list_calls(place: Path) -> Iterator[tuple[Path, Call]]:
    """Yield the calls of a request in order.

    One that was cut off by the end of its process is none, and nor are those that waited for it.
    """
    numbered = sorted((path for path in place.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))
    is_cut_off = False
    for path in numbered:
        if not (path / CALL_FILE).exists():
            is_cut_off = True
            continue
        call = read_call(path / CALL_FILE)
        if is_cut_off and call.served == Served.JOINED.value:
            continue
        is_cut_off = False
        yield path, call


def _rebuild(failure: Failure) -> ToolError:
    """Return an error as it was."""
    kind = AddressRefused if failure.kind == AddressRefused.__name__ else getattr(errors, failure.kind, None)
    error: ToolError
    if kind is SourceLimited:
        error = SourceLimited(failure.message, retry_after_s=failure.details.get("retry_after_s", 0.0))
    elif isinstance(kind, type) and issubclass(kind, ToolError):
        error = kind(failure.message, dict(failure.details))
    else:
        raise SettingsInvalid(f"The recording names the error {failure.kind!r}, which is none of ours. Record it anew.")
    error.retryable = failure.retryable
    if failure.hint is not None:
        error.hint = failure.hint
    return error


def _retrieved_at(step: Step) -> datetime:
    """Return when the source was asked; never later than now, whatever the clock says."""
    now = clock.now()
    return now if step.retrieved_at is None else min(now, datetime.fromisoformat(step.retrieved_at))
