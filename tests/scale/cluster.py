"""A private PostgreSQL in a temporary folder: its programs, and a server that tests may stop, restart and cut."""

import os
import pwd
import shutil
import socket
import subprocess
from pathlib import Path

URL = "FINGERPOST_TEST_DATABASE_URL"
USER, PASSWORD = "fingerpost", "not-a-secret-81"
PATIENCE_S = 300

_DEBIAN = Path("/usr/lib/postgresql")
_NOBODY = ("postgres", "nobody")


class PostgresMissing(Exception):
    """PostgreSQL is not on this machine and cannot be had; the message says why."""


def find_programs():
    """Return the folder of ``initdb`` and ``pg_ctl``, installed from Debian where they are missing and we are root.

    Raises:
        PostgresMissing: they cannot be had.
    """
    if found := _find_programs():
        return found
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise PostgresMissing("install PostgreSQL (on Debian, as root: apt-get install postgresql)")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "--yes", "--no-install-recommends", "postgresql"]):
        done = subprocess.run(
            ["apt-get", "--quiet", *arguments], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            said = (done.stderr.strip().splitlines() or ["no reason"])[-1]
            raise PostgresMissing(f"apt-get {arguments[0]} failed: {said}")
    if found := _find_programs():
        return found
    raise PostgresMissing("Debian's package brought no initdb")


def _find_programs():
    folders = [Path(found).resolve().parent for found in [shutil.which("initdb")] if found]
    folders += sorted(_DEBIAN.glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").is_file() and (folder / "pg_ctl").is_file()), None)


class Cluster:
    """One server on a free port of the loopback, of another user where we are root, which initdb refuses."""

    def __init__(self, programs, folder):
        self._programs = programs
        self._folder = folder
        self._data = folder / "data"
        self._owner = next((name for name in _NOBODY if _is_user(name)), None) if os.geteuid() == 0 else None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    @property
    def url(self):
        return f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def create(self):
        password = self._folder / "password"
        password.write_text(PASSWORD)
        if self._owner is not None:
            self._folder.chmod(0o711)
            shutil.chown(password, self._owner)
            self._data.mkdir()
            shutil.chown(self._data, self._owner)
        self._run(
            "initdb", f"--pgdata={self._data}", f"--username={USER}", f"--pwfile={password}", "--encoding=UTF8",
            "--locale=C", "--auth=scram-sha-256", "--no-instructions", "--no-sync",
        )  # fmt: skip

    def start(self):
        # A process that is killed loses nothing that it wrote, only a power failure would.
        options = (
            f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories={self._data} -c fsync=off"
        )
        self._run(
            "pg_ctl", f"--pgdata={self._data}", "start", "--wait", f"--log={self._data}/log", f"--options={options}"
        )

    def stop(self, mode="fast"):
        self._run("pg_ctl", f"--pgdata={self._data}", "stop", "--wait", f"--mode={mode}")

    def _run(self, program, *arguments):
        command = [str(self._programs / program), *arguments]
        if self._owner is not None:
            command = ["runuser", "-u", self._owner, "--", *command]
        # The server keeps what it inherits open; a pipe would never end.
        log = self._folder / "pg.log"
        with log.open("a") as said:
            done = subprocess.run(
                command, cwd="/", stdout=said, stderr=subprocess.STDOUT, timeout=PATIENCE_S, check=False
            )
        if done.returncode != 0:
            raise PostgresMissing(f"{program} failed: {log.read_text().strip().splitlines()[-1]}")


def _is_user(name):
    try:
        return pwd.getpwnam(name).pw_uid != 0
    except KeyError:
        return False
