"""Start the real command, and wait for its output instead of for a fixed time."""

import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager

from tests.event_loop import BLOCKED, MAX_BLOCKED_MS

# What hangs ends; a machine that gives us a tenth of its time compiles the engine for minutes, and is not hung.
DEADLINE_S = 600
_SERVING = re.compile(r"serving at (http://\S+)/mcp")

COMMAND = [sys.executable, "-c", "from fingerpost.apps.cli import main; main()"]
WATCHED_COMMAND = [sys.executable, "-m", "tests.event_loop", str(MAX_BLOCKED_MS)]


def run(*arguments, stdin="", **environment):
    return subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        env={**os.environ, **environment},
        check=False,
    )


class HttpServer:
    def __init__(self, process):
        self.process = process
        self.lines = []
        self.url = ""
        self._told = threading.Condition()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self):
        for line in self.process.stderr:
            with self._told:
                self.lines.append(line)
                found = _SERVING.search(line)
                if found:
                    self.url = found[1]
                self._told.notify_all()

    def close(self):
        self._listener.join(DEADLINE_S)
        self.process.stdout.close()
        self.process.stderr.close()

    def wait_for(self, text):
        with self._told:
            if not self._told.wait_for(lambda: any(text in line for line in self.lines), DEADLINE_S):
                raise TimeoutError(f"the server never said {text!r}: {''.join(self.lines)}")


@contextmanager
def serving(*command, ready=False, **environment):
    """Serve over HTTP on a port of the machine's choice, until the block ends; ``command`` stands in for ours.

    Fail if a callback blocked the server's event loop.
    """
    process = subprocess.Popen(
        command or [*WATCHED_COMMAND, "serve", "--http", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    server = HttpServer(process)
    try:
        server.wait_for("serving at")
        if ready:
            server.wait_for("the networks are open")
        yield server
    finally:
        process.terminate()
        process.wait(DEADLINE_S)
        server.close()
    assert [line for line in server.lines if BLOCKED in line] == []
