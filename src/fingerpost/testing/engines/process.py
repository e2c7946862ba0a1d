"""Worker processes that tests kill."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from fingerpost.testing.engines.engine import Engine, EngineBroken
from fingerpost.testing.engines.fixtures import Build

# Only a broken engine is ever waited for so long.
PATIENCE_S = 30.0


class Worker:
    """One worker process, ended with the block."""

    def __init__(
        self, engine: Engine, folder: Path, plans: Sequence[Mapping[str, Any]] = (), build: Build = Build.FIRST
    ) -> None:
        # The engine may stand in a module that only this process knows the way to; and ids are drawn freely.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        environment.pop("FINGERPOST_NOW", None)
        module = "fingerpost.testing.engines.worker"
        # A pipe that nobody empties would hold up an engine that has much to say.
        self._complained = tempfile.TemporaryFile("w+")  # noqa: SIM115  (it is closed with the block)
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, engine.opens, str(folder), build, json.dumps(list(plans))],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=self._complained,
            text=True,
        )
        assert self._process.stdout is not None
        self._output = self._process.stdout

    def __enter__(self) -> Self:
        """Wait until it executes runs."""
        patience = threading.Timer(PATIENCE_S, self._process.kill)
        patience.start()
        output = self._output.readline()
        patience.cancel()
        if output != "ready\n":
            self._process.kill()
            self._process.wait()
            raise EngineBroken(f"A process that opens the engine breaks: {self._complaint()}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave nothing running."""
        self.kill()
        self._output.close()
        self._complained.close()

    def kill(self) -> None:
        """Kill it with ``SIGKILL``."""
        self._process.kill()
        self._process.wait()

    def kill_within(self, seconds: float) -> bool:
        """Kill it after a while, and return whether it was still at work then."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return True
        return False

    def ends(self) -> dict[str, str]:
        """Wait for it to end, and return each run's state, or why it was refused."""
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired as error:
            raise EngineBroken(f"A process has not carried its runs to an end within {PATIENCE_S:g} s") from error
        if self._process.returncode != 0:
            raise EngineBroken(f"A process that carries runs on breaks: {self._complaint()}")
        return cast("dict[str, str]", json.loads(self._output.read()))

    def _complaint(self) -> str:
        self._complained.seek(0)
        return "".join(self._complained.read().strip().splitlines()[-1:])

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None


def wait_until(is_so: Callable[[], bool], sentence: str) -> None:
    """Wait until a condition holds.

    Raises:
        Broken: it never is; the sentence says what was waited for.
    """
    until = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > until:
            raise EngineBroken(f"Waited {PATIENCE_S:g} s in vain: {sentence}")
