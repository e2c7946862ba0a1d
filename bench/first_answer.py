"""Compare the first answer of a fresh install with that of a warm one, over HTTP and at the terminal.

A fresh install has an empty home and an empty folder for compiled kernels, and compiles them during its first answer.
A warm one has compiled them, in the folder that NUMBA_CACHE_DIR names, if it is set. Each round queries both, one after
the other, so that both run under the same load. Both start a process and plan one trip.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import HEAD, read_options, report_pairs
from serving import Caller, serving

# A fresh install's first answer may take at most this many times as long as a warm one's.
BOUND = 5.0
COMMAND = str(Path(sys.executable).with_name("fingerpost"))
ENDS = {"origin": {"type": "label", "value": "Kamppi"}, "destination": {"type": "label", "value": "Espoo"}}
KERNELS = "NUMBA_CACHE_DIR"


def main() -> int:
    rounds = read_options(__doc__, rounds=5).rounds
    for name in [name for name in os.environ if name.startswith("FINGERPOST_")]:
        del os.environ[name]
    kernels = os.environ.pop(KERNELS, None)
    good = True
    with tempfile.TemporaryDirectory() as folder:
        warm = {"FINGERPOST_HOME": folder, KERNELS: kernels or str(Path(folder) / "kernels")}
        # A first answer would only start a compiler in the background.
        compiling = "from fingerpost.apps.warm_up import compile_kernels; compile_kernels()"
        subprocess.run([sys.executable, "-c", compiling], env=os.environ | warm, check=True)
        ask_cli(warm)
        print(f"The first answer of a fresh install (ours) beside a warm one's (theirs), in s:\n{HEAD}")
        for name, ask in (("terminal", ask_cli), ("HTTP", ask_http)):
            fresh_s, warm_s = [], []
            for _ in range(rounds):
                with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
                    fresh_s.append(ask({"FINGERPOST_HOME": home, KERNELS: str(Path(home) / "kernels")}))
                    _end_compiler(home)
                warm_s.append(ask(warm))
            good &= report_pairs(name, fresh_s, warm_s, bound=BOUND)
    return 0 if good else 1


def ask_cli(settings: dict[str, str]) -> float:
    """Return the seconds from starting a process to its answer."""
    began = time.perf_counter()
    subprocess.run([COMMAND, "plan", "Kamppi", "Espoo"], env=os.environ | settings, check=True, capture_output=True)
    return time.perf_counter() - began


def ask_http(settings: dict[str, str]) -> float:
    """Return the seconds from starting a server to its first answer, which is requested as soon as it listens."""
    began = time.perf_counter()
    with serving([COMMAND, "serve", "--http", "127.0.0.1:0"], opened=0, **settings) as server:
        _, received = Caller(server.host, server.port).call("plan_trip", ENDS)
        taken_s = time.perf_counter() - began
    if b'"isError":false' not in received:
        raise RuntimeError(f"the first trip was refused: {received[:300]!r}")
    return taken_s


def _end_compiler(home: str) -> None:
    """End the process that compiles for a home, because it would slow the next answer down; only on Linux."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"FINGERPOST_HOME={home}\0".encode() in (folder / "environ").read_bytes() + b"\0":
                os.kill(int(folder.name), signal.SIGKILL)
        except OSError:
            # The process belongs to another user, or has ended.
            continue


if __name__ == "__main__":
    sys.exit(main())
