"""Start a server in a separate process, and call it over one persistent connection."""

import http.client
import json
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

from fingerpost.apps.warm_up import load_kernels
from fingerpost.transit.kernel_mode import are_compiled

DEADLINE_S = 300
FINGERPOST = [sys.executable, "-c", "from fingerpost.apps.cli import main; main()"]
SERVE = [*FINGERPOST, "serve"]
VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}
_SERVING = re.compile(r"serving at http://([^:]+):(\d+)/mcp")
_BEGINS = re.compile(r"worker (\d+) is starting")


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its address, and the processes that answer."""

    host: str
    port: int
    processes: Sequence[int]

    def count_bytes(self, field: str = "VmRSS") -> int:
        """Return the memory of all processes; the field ``VmHWM`` is the peak."""
        return sum(
            1024 * int(re.search(rf"{field}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])
            for pid in self.processes
        )


class Caller:
    """One persistent connection with the modern protocol."""

    def __init__(self, host: str, port: int) -> None:
        self._connection = http.client.HTTPConnection(host, port, timeout=DEADLINE_S)

    def call(self, tool: str, arguments: dict) -> tuple[float, bytes]:
        """Return the milliseconds from the first byte sent to the last byte received, and the response."""
        body, headers = prepare_call(tool, arguments)
        begin = time.perf_counter()
        self._connection.request("POST", "/mcp", body, headers)
        received = self._connection.getresponse().read()
        return (time.perf_counter() - begin) * 1000, received


def prepare_call(tool: str, arguments: dict) -> tuple[bytes, dict[str, str]]:
    """Return the body and headers of a call."""
    body, headers = prepare_request("tools/call", {"name": tool, "arguments": arguments, "_meta": META})
    return body, {**headers, "Mcp-Name": tool}


def prepare_request(method: str, params: dict) -> tuple[bytes, dict[str, str]]:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": method,
    }
    return json.dumps(body).encode(), headers


def write_call(tool: str, arguments: dict) -> bytes:
    """Return the whole HTTP request of a call."""
    return _write(*prepare_call(tool, arguments))


def write_request(method: str, params: dict) -> bytes:
    return _write(*prepare_request(method, params))


def _write(body: bytes, headers: dict[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in {**headers, "Content-Length": len(body)}.items())
    return f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}\r\n".encode() + body


def compile_kernels() -> None:
    """Compile the kernels now, so that no process compiles during a measurement."""
    os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).resolve().parents[1] / ".venv" / "kernels"))
    if not are_compiled():
        load_kernels()


@contextmanager
def serving(command: Sequence[str], opened: int = 1, **environ: str) -> Iterator[Server]:
    """Run a server command until the block ends; wait until it listens and ``opened`` workers opened their networks."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, stderr=log, env={**os.environ, **environ})
        try:
            give_up = time.monotonic() + DEADLINE_S
            logged = ""
            while not _SERVING.search(logged) or logged.count("the networks are open") < opened:
                if time.monotonic() > give_up or process.poll() is not None:
                    raise RuntimeError(f"the server did not become ready: {logged}")
                time.sleep(0.02)
                log.seek(0)
                logged = log.read()
            host, port = _SERVING.search(logged).groups()
            yield Server(host, int(port), [int(pid) for pid in _BEGINS.findall(logged)] or [process.pid])
        finally:
            process.terminate()
            process.wait(DEADLINE_S)
