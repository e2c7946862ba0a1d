"""OpenTripPlanner graphs, built once for the same data, and a server for one on the loopback address."""

import contextlib
import hashlib
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.otp_server.program import VERSION, cache_folder, find_java, get_jar

LOOPBACK = "127.0.0.1"
# It takes 8 s on a machine that has nothing else to do.
READY_WITHIN_S = 600.0
BUILT_WITHIN_S = 1200.0

_HEAP = "-Xmx1G"
_MANY_YEARS = {"transitServiceStart": "2000-01-01", "transitServiceEnd": "2099-12-31"}
_FEATURES = {"otpFeatures": {"ActuatorAPI": True}}
# Feeds of past years have real time here too.
_TIMETABLE_UPDATES = {"purgeExpiredData": False, "maxSnapshotFrequency": "1s"}


class ServerBroken(Exception):
    """OpenTripPlanner ended, or was not ready in time; the message has the end of its log."""


@dataclass(frozen=True, kw_only=True)
class Graph:
    """A folder with a built graph; ``feeds`` are the FEEDs of its ids."""

    folder: Path
    feeds: tuple[str, ...]


def build_graph(feeds: dict[str, Path], streets: Sequence[Path], **build_config: object) -> Graph:
    """Return the graph of GTFS zips by FEED, and of street extracts; the same graph is built once."""
    java, jar = find_java(), get_jar()
    files = {**{f"{name}.gtfs.zip": path for name, path in feeds.items()}}
    files |= {f"{number}.osm.pbf": path for number, path in enumerate(streets)}
    config = {
        **_MANY_YEARS,
        **build_config,
        "transitFeeds": [{"type": "gtfs", "feedId": name, "source": f"{name}.gtfs.zip"} for name in feeds],
        "osm": [{"source": f"{number}.osm.pbf"} for number in range(len(streets))],
    }
    digest = hashlib.sha256(json.dumps([VERSION, config]).encode())
    for name, path in sorted(files.items()):
        digest.update(name.encode() + hashlib.sha256(path.read_bytes()).digest())
    kept = cache_folder() / "graphs" / digest.hexdigest()[:16]
    graph = Graph(folder=kept, feeds=tuple(feeds))
    if (kept / "graph.obj").is_file():
        return graph
    draft = kept.with_name(f"{kept.name}-{os.getpid()}")
    draft.mkdir(parents=True)
    try:
        for name, path in files.items():
            shutil.copyfile(path, draft / name)
        (draft / "build-config.json").write_text(json.dumps(config))
        (draft / "otp-config.json").write_text(json.dumps(_FEATURES))
        with (draft / "build.log").open("wb") as log:
            command = [*_java_command(java, jar), "--build", "--save", str(draft)]
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False, timeout=BUILT_WITHIN_S
            )
        if done.returncode or not (draft / "graph.obj").is_file():
            raise ServerBroken(f"no graph was made of {', '.join(feeds)}:\n{_end_of(draft / 'build.log')}")
        for name in files:
            (draft / name).unlink()
        (draft / "build-config.json").unlink()
        with contextlib.suppress(OSError):
            # Another run may have been quicker; its graph is the same.
            draft.rename(kept)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return graph


@dataclass(kw_only=True)
class OtpServer:
    """One OpenTripPlanner that serves a graph; where ``realtime`` is an address, it follows trips.pb and alerts.pb.

    It may be started again after it was stopped or killed, on the same port.
    """

    graph: Graph
    folder: Path
    realtime: str | None = None
    port: int = 0
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}/otp/gtfs/v1"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self, *, wait: bool = True) -> None:
        assert not self.is_running
        self.port = self.port or _free_port()
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in ("graph.obj", "otp-config.json"):
            if not (self.folder / name).exists():
                (self.folder / name).symlink_to(self.graph.folder / name)
        (self.folder / "router-config.json").write_text(json.dumps(self._router_config()))
        command = [*_java_command(find_java(), get_jar()), "--load", "--bindAddress", LOOPBACK]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "--port", str(self.port), str(self.folder)], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        if wait:
            self.wait_until_ready()

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_WITHIN_S
        while not self._is_healthy():
            if not self.is_running or time.monotonic() > deadline:
                state = "was not ready in time" if self.is_running else "ended"
                self.stop()
                raise ServerBroken(f"OpenTripPlanner {state}:\n{_end_of(self._log)}")
            time.sleep(0.25)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self.kill()

    def ask(self, query: str, **variables: object) -> dict[str, object]:
        """Return what it answers to a GraphQL document, ``errors`` included; for checks beside fingerpost."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        with _opener().open(request, timeout=60) as response:
            return json.load(response)

    @property
    def _log(self) -> Path:
        return self.folder / "server.log"

    def _is_healthy(self) -> bool:
        try:
            with _opener().open(f"http://{LOOPBACK}:{self.port}/otp/actuators/health", timeout=5) as response:
                return response.status == 200
        except OSError:
            return False

    def _router_config(self) -> dict[str, object]:
        updaters = []
        for feed in self.graph.feeds if self.realtime else ():
            for kind, file in (("stop-time-updater", "trips.pb"), ("real-time-alerts", "alerts.pb")):
                address = f"{self.realtime}/{file}"
                updaters.append({"type": kind, "feedId": feed, "url": address, "frequency": "1s"})
        return {"timetableUpdates": _TIMETABLE_UPDATES, "updaters": updaters}


def _java_command(java: Path, jar: Path) -> list[str]:
    # Without the first, every Java of these years warns of a library inside the jar.
    quiet = ["--sun-misc-unsafe-memory-access=allow", "-XX:-UsePerfData", "-Djava.awt.headless=true"]
    cache = cache_folder() / "elevation"
    cache.mkdir(parents=True, exist_ok=True)
    return [str(java), _HEAP, *quiet, "-jar", str(jar), "--cache", str(cache), "--abortOnUnknownConfig"]


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((LOOPBACK, 0))
        return int(found.getsockname()[1])


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _end_of(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-3000:] if log.exists() else ""
