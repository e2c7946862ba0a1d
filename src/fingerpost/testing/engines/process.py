"""Worker processes that tests kill.

They are forked from one process that has imported what they need, so that each is there at once.
"""

import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from fingerpost.testing.engines import worker
from fingerpost.testing.engines.engine import Engine, EngineBroken
from fingerpost.testing.engines.fixtures import Build

# Only a broken engine is ever waited for so long.
PATIENCE_S = 120.0
# From look to look; meanwhile whoever is waited for has the core.
LOOK_S = 0.01

FORKING = multiprocessing.get_context("forkserver")
_IMPORTED = ["__main__", worker.__name__]


def import_before_forking(*modules: str) -> None:
    """Have what the engines under test import late imported once; to be called before the first worker is begun."""
    FORKING.set_forkserver_preload([*_IMPORTED, *modules])


import_before_forking()


class Worker:
    """One worker process, ended with the block."""

    def __init__(
        self, engine: Engine, folder: Path, plans: Sequence[Mapping[str, Any]] = (), build: Build = Build.FIRST
    ) -> None:
        # Ids are drawn freely.
        environment = {name: value for name, value in os.environ.items() if name != "FINGERPOST_NOW"}
        self._said, says = FORKING.Pipe(duplex=False)
        self._complained = tempfile.NamedTemporaryFile("r")  # noqa: SIM115  (it is closed with the block)
        arguments = (says, self._complained.name, environment, engine.opens, folder, build, list(plans))
        self._process = FORKING.Process(target=worker.tell, args=arguments, daemon=True)
        self._process.start()
        says.close()

    def __enter__(self) -> Self:
        """Wait until it executes runs."""
        said = self._hear()
        if said != worker.READY:
            self.__exit__(None, None, None)
            raise EngineBroken(f"A process that opens the engine breaks: {said}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave nothing running."""
        self.kill()
        self._said.close()
        self._complained.close()

    def kill(self) -> None:
        """Kill it with ``SIGKILL``."""
        self._process.kill()
        self._process.join()

    def kill_within(self, seconds: float) -> bool:
        """Kill it after a while, and return whether it was still at work then."""
        self._process.join(seconds)
        if self.has_ended:
            return False
        self.kill()
        return True

    def ends(self) -> dict[str, str]:
        """Wait for it to end, and return each run's state, or why it was refused."""
        said = self._hear()
        if said is None:
            raise EngineBroken(f"A process has not carried its runs to an end within {PATIENCE_S:g} s")
        if not isinstance(said, dict):
            raise EngineBroken(f"A process that carries runs on breaks: {said}")
        self._process.join(PATIENCE_S)
        return cast("dict[str, str]", said)

    def _hear(self) -> object:
        """Return what it says next: None where it is silent for too long."""
        try:
            return self._said.recv() if self._said.poll(PATIENCE_S) else None
        except EOFError:
            self._process.join()
            said = self._complained.read().strip().splitlines()
            return said[-1] if said else f"it ended with {self._process.exitcode}"

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""
        return self._process.exitcode is not None


def wait_until(is_so: Callable[[], bool], sentence: str) -> None:
    """Wait until a condition holds.

    Raises:
        Broken: it never is; the sentence says what was waited for.
    """
    until = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > until:
            raise EngineBroken(f"Waited {PATIENCE_S:g} s in vain: {sentence}")
        time.sleep(LOOK_S)
