"""A server of so many workers, as users start it, for what measures load."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from over_http import DEADLINE_S, SERVING
from questions import NOW

from fingerpost.apps.kernels import load_kernels
from fingerpost.transit.kernel_mode import are_compiled

KERNELS = Path(__file__).resolve().parents[1] / ".venv" / "kernels"
_BEGINS = re.compile(r"worker (\d+) begins")


@dataclass(frozen=True, slots=True)
class Served:
    """A server that is ready: its address, and the processes that answer."""

    host: str
    port: int
    processes: Sequence[int]

    def count_bytes(self) -> int:
        """Return the memory that its processes hold for themselves and share, in bytes (Linux)."""
        return sum(
            1024 * int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])
            for pid in self.processes
        )


@contextmanager
def serving(workers: int, address: str = "127.0.0.1:0", prefix: Sequence[str] = (), **environ: str) -> Iterator[Served]:
    """Run a server with a home of its own until the block ends; ``prefix`` leads to the machine that it runs on."""
    command = "from fingerpost.apps.cli import main; main()"
    serve = ["serve", "--http", address, "--workers", str(workers)]
    os.environ.setdefault("NUMBA_CACHE_DIR", str(KERNELS))
    # Nothing compiles while it is measured.
    if not are_compiled():
        load_kernels()
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [*prefix, sys.executable, "-c", command, *serve],
            stderr=log,
            env={**os.environ, "FINGERPOST_HOME": home, "FINGERPOST_NOW": NOW, **environ},
        )
        try:
            give_up = time.monotonic() + DEADLINE_S
            said = ""
            while said.count("the networks are open") < workers:
                if time.monotonic() > give_up or process.poll() is not None:
                    raise RuntimeError(f"the server did not become ready: {said}")
                time.sleep(0.1)
                log.seek(0)
                said = log.read()
            found = SERVING.search(said)
            begun = [int(pid) for pid in _BEGINS.findall(said)] or [process.pid]
            yield Served(found[1], int(found[2]), begun)
        finally:
            process.terminate()
            process.wait(DEADLINE_S)
