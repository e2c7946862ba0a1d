"""Compare the first answer of a fresh install with that of a warm one, over HTTP and at the terminal.

A fresh install has an empty home and no compiled kernels, and compiles them during its first answer. A warm one has
compiled them, in the folder that NUMBA_CACHE_DIR names, if it is set. Each round queries both, one after the other, so
that both run under the same load. Both start a process and plan one trip.
"""

import argparse
import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import HEAD, report_pairs, timed_ms
from serving import DEADLINE_S, Caller

# A fresh install's first answer may take at most this many times as long as a warm one's.
BOUND = 5.0
COMMAND = str(Path(sys.executable).with_name("fingerpost"))
ENDS = {"origin": {"type": "label", "value": "Kamppi"}, "destination": {"type": "label", "value": "Espoo"}}
KERNELS = "NUMBA_CACHE_DIR"


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the first answer of a fresh install.")
    parser.add_argument("--rounds", type=int, default=5, help="answers of each kind")
    rounds = parser.parse_args().rounds
    good = True
    with tempfile.TemporaryDirectory() as folder:
        warm = {"FINGERPOST_HOME": folder, KERNELS: os.environ.get(KERNELS, str(Path(folder) / "kernels"))}
        # Compile the kernels that are missing from that folder.
        ask_cli(warm)
        print(f"The first answer of a fresh install (ours) beside a warm one's (theirs), in s:\n{HEAD}")
        for name, ask in (("terminal", ask_cli), ("HTTP", ask_http)):
            fresh_s, warm_s = [], []
            for _ in range(rounds):
                with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
                    fresh_s.append(timed_ms(ask, {"FINGERPOST_HOME": home})[0] / 1e3)
                    _end_compiler(home)
                warm_s.append(timed_ms(ask, warm)[0] / 1e3)
            good &= report_pairs(name, fresh_s, warm_s, bound=BOUND)
    return 0 if good else 1


def ask_cli(settings: dict[str, str]) -> None:
    subprocess.run([COMMAND, "plan", "Kamppi", "Espoo"], env=_environ(settings), check=True, capture_output=True)


def ask_http(settings: dict[str, str]) -> None:
    """Start a server, and plan a trip through it as soon as it listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [COMMAND, "serve", "--http", f"127.0.0.1:{port}"]
    server = subprocess.Popen(command, env=_environ(settings), stderr=subprocess.DEVNULL)
    try:
        received = _ask_once_it_listens(port)
        if b'"isError":false' not in received:
            raise RuntimeError(f"the first trip was refused: {received[:300]!r}")
    finally:
        # Killed, so that a clean stop is not measured.
        server.kill()
        server.wait()


def _ask_once_it_listens(port: int) -> bytes:
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        try:
            return Caller("127.0.0.1", port).call("plan_trip", ENDS)[1]
        except (OSError, http.client.HTTPException):
            time.sleep(0.02)
    raise RuntimeError("the server did not come up")


def _environ(settings: dict[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("FINGERPOST_", "NUMBA_"))}
    return {**kept, **settings}


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
