"""``python -m tests.conditions [NAME...]``: run ``make test`` in fresh clones under conditions that users have.

Each condition clones the committed state into a temporary folder, sets up its environment, and runs the README's test
command. The table that is printed is Markdown. Exit status 1 if any run failed. Part of ``make soak``.
"""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

ROOT = Path(__file__).resolve().parents[1]
_ABSENT = "/absent/shared"
_SYSTEM_PYTHON = "/usr/bin/python3"
# Runs when Python starts. libfaketime 0.9.10 would also break Python's sleep and waits with a timeout.
_FAKE_CLOCK = """
import os
if offset_s := os.environ.get("FAKE_CLOCK_OFFSET_S"):
    import time, time_machine
    time_machine.travel(time.time() + float(offset_s), tick=True).start()
"""
_RANDOM_ORDER = "--random-order --random-order-seed=20261125"


@dataclass(frozen=True)
class Condition:
    """How one run differs from the plain one.

    ``clock`` is the local date and time at which every Python process believes to start; ``options`` are pytest's.
    """

    name: str
    environment: dict[str, str] = field(default_factory=dict)
    shell: str = ""
    options: str = ""
    clock: str = ""
    busy_processes: int = 0
    as_ordinary_user: bool = False


CONDITIONS = (
    Condition("plain"),
    Condition("256 open files", shell="ulimit -n 256;"),
    Condition("without shared data", environment={"FINGERPOST_SHARED": _ABSENT}),
    Condition("random order", options=_RANDOM_ORDER),
    Condition("two busy processes", busy_processes=2),
    Condition("24 March 2027, noon", clock="2027-03-24 12:00:00"),
    Condition("night of the clock change", environment={"TZ": "Europe/Helsinki"}, clock="2027-03-28 03:30:00"),
    Condition("leap day, midnight", clock="2028-02-29 23:59:00"),
    Condition("new year's eve", clock="2026-12-31 23:58:00"),
    Condition("New York", environment={"TZ": "America/New_York"}),
    Condition("Kolkata", environment={"TZ": "Asia/Kolkata"}),
    Condition("ordinary user", as_ordinary_user=True),
    # Several at once, for when there is time for one run only.
    Condition(
        "all at once",
        environment={"TZ": "Asia/Kolkata", "FINGERPOST_SHARED": _ABSENT},
        shell="ulimit -n 256;",
        options=_RANDOM_ORDER,
        clock="2028-02-29 23:59:00",
        busy_processes=2,
        as_ordinary_user=True,
    ),
)


def main(names: list[str]) -> int:
    unknown = set(names) - {condition.name for condition in CONDITIONS}
    if unknown:
        known = ", ".join(condition.name for condition in CONDITIONS)
        sys.stdout.write(f"Unknown condition: {', '.join(sorted(unknown))}. Known: {known}\n")
        return 2
    sys.stdout.write("| condition | result | seconds |\n|---|---|---|\n")
    failed = 0
    for condition in CONDITIONS:
        if names and condition.name not in names:
            continue
        reason = find_obstacle(condition)
        if reason:
            sys.stdout.write(f"| {condition.name} | not run: {reason} | |\n")
            continue
        begin = time.monotonic()
        returncode, output = run(condition)
        summary = re.findall(r"^=*\s*(\d+ (?:passed|failed).*?)=*$", output, re.MULTILINE)
        result = summary[-1].strip() if summary else f"exit status {returncode}"
        sys.stdout.write(f"| {condition.name} | {result} | {time.monotonic() - begin:.0f} |\n")
        sys.stdout.flush()
        if returncode:
            failed += 1
            lines = output.splitlines()
            reasons = [line for line in lines if line.startswith(("FAILED", "ERROR"))] or lines[-20:]
            sys.stdout.writelines(f"    {line}\n" for line in reasons)
    return int(failed > 0)


def find_obstacle(condition: Condition) -> str | None:
    if condition.as_ordinary_user and (os.geteuid() != 0 or shutil.which("setpriv") is None):
        return "needs root and setpriv, to become an ordinary user"
    if condition.as_ordinary_user and not Path(_SYSTEM_PYTHON).exists():
        return f"needs {_SYSTEM_PYTHON}"
    return None


def run(condition: Condition) -> tuple[int, str]:
    with tempfile.TemporaryDirectory(prefix="fingerpost-conditions-", ignore_cleanup_errors=True) as folder:
        clone = Path(folder) / "fingerpost"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        environment = os.environ | {
            "FINGERPOST_SHARED": str(ROOT.parent / "shared"),
            "PYTEST_ADDOPTS": condition.options,
        }
        for name in ("NUMBA_CACHE_DIR", "CI"):
            environment.pop(name, None)
        environment |= condition.environment
        as_user = ""
        if condition.as_ordinary_user:
            # The Python of root's own folder is not theirs to run.
            environment |= {"HOME": folder, "PYTHON": _SYSTEM_PYTHON}
            subprocess.run(["chown", "--recursive", "nobody", folder], check=True)
            as_user = "setpriv --reuid=nobody --regid=nogroup --clear-groups"
        set_up = f"{as_user} make .venv/ready oracle"
        if condition.clock:
            zone = ZoneInfo(condition.environment.get("TZ", "UTC"))
            start = datetime.fromisoformat(condition.clock).replace(tzinfo=zone)
            offset_s = start.timestamp() - time.time()  # noqa: TID251  (the machine's own time)
            environment |= {"TZ": zone.key, "FAKE_CLOCK_OFFSET_S": str(offset_s)}
            environment["PYTEST_ADDOPTS"] += " -W ignore::pytest.PytestAssertRewriteWarning"
            set_up += f" && {as_user} .venv/bin/python -m pip install --quiet 'time-machine>=3,<4'"
            set_up += " && cd $(.venv/bin/python -c 'import site; print(site.getsitepackages()[0])')"
            set_up += (
                f" && echo {shlex.quote(_FAKE_CLOCK)} > fake_clock.py && echo 'import fake_clock' > fake_clock.pth"
            )
            set_up += " && cd -"
        command = f"{set_up} && {condition.shell} {as_user} make test"
        with busy(condition.busy_processes):
            done = subprocess.run(
                ["bash", "-c", command], cwd=clone, env=environment, capture_output=True, text=True, check=False
            )
    return done.returncode, done.stdout + done.stderr


@contextlib.contextmanager
def busy(processes: int) -> Iterator[None]:
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
