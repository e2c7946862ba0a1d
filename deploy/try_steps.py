"""Run the steps of the container file without a container engine, and query the server (``make try-deploy``).

The script copies files and installs packages (several hundred megabytes) below a temporary folder. It skips and
reports steps that need root.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
_PATIENCE_S = 300
_AS_ROOT = ("useradd",)


def main() -> int:
    """Run the steps, and return the exit status."""
    from tests.deploy.container_file import read_instructions

    instructions = read_instructions((ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        binaries = folder / "venv" / "bin"
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        environ = {
            **os.environ,
            "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
            "FINGERPOST_HOME": made + "/home",
        }
        for name, rest in instructions:
            if name == "COPY":
                _copy(*shlex.split(rest), below=folder)
            elif name == "RUN" and shlex.split(rest)[0] in _AS_ROOT:
                print(f"skipped, because it needs root: {rest}")
            elif name == "RUN":
                print(f"step: {rest}")
                subprocess.run(
                    rest.replace("/build", f"{folder}/build"), shell=True, check=True, env=environ, cwd=folder
                )
        (command,) = [json.loads(rest) for name, rest in instructions if name == "CMD"]
        return _ask(command, environ, folder)


def _copy(*words: str, below: Path) -> None:
    target = below / words[-1].strip("/")
    for word in words[:-1]:
        source = ROOT / word
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


def _ask(command: list[str], environ: dict[str, str], folder: Path) -> int:
    """Start the command on a free port of loopback, request each page, and stop the command."""
    here = [re.sub(r"^0\.0\.0\.0:\d+$", "127.0.0.1:0", word) for word in command]
    log = folder / "log"
    with log.open("w") as written, subprocess.Popen(here, env=environ, stderr=written, cwd=folder) as server:
        try:
            give_up_s = time.monotonic() + _PATIENCE_S
            while not (found := re.search(r"serving at (http://\S+)/mcp", log.read_text())):
                if time.monotonic() > give_up_s or server.poll() is not None:
                    print(f"the server did not start: {log.read_text()}")
                    return 1
                time.sleep(0.2)
            for page in ("/health", "/ready"):
                # Connections wait until a worker listens.
                print(f"{page}: {_get(found[1] + page, give_up_s)}")
        finally:
            server.terminate()
            status = server.wait(_PATIENCE_S)
    print(f"exit status {status}")
    return status


def _get(url: str, give_up_s: float) -> int:
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return answer.status
        except OSError:
            if time.monotonic() > give_up_s:
                raise
            time.sleep(0.5)


if __name__ == "__main__":
    sys.exit(main())
