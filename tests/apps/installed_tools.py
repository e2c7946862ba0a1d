"""A package with two tools of its own, installed for the processes that a test starts."""

import os

MODULE = '''
import os, sys, time
from pathlib import Path

def double(n: int) -> int:
    """Twice a whole number."""
    with open(os.environ["CALLS"], "a") as calls:
        calls.write(f"{n}\\n")
    return 2 * n

def linger(n: int) -> int:
    """The number itself, once the pipe BEGUN is gone; until then it tells the pipe which process waits."""
    begun = Path(os.environ["BEGUN"])
    if begun.exists():
        begun.write_text(str(os.getpid()))
    while begun.exists():
        time.sleep(0.01)
    return n

linger.idempotent = True
plan_trip = double
'''
ENTRY_POINTS = """[fingerpost.transit.tools]
double = my_own_tools:double
linger = my_own_tools:linger
broken = my_own_tools:nothing_of_that_name
"""


class Installed:
    """The folder of the package, what its tools leave behind, and the pipe at which the second one waits."""

    def __init__(self, folder):
        self.folder = folder
        self.packages = folder / "packages"
        self.begun = folder / "begun"

    def install(self):
        """Write the package with what an installer writes beside it."""
        info = self.packages / "my_own_tools-1.0.dist-info"
        info.mkdir(parents=True)
        (self.packages / "my_own_tools.py").write_text(MODULE)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-own-tools\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(ENTRY_POINTS)

    def variables(self):
        """Return the environment of the processes that have the package."""
        return {
            "PYTHONPATH": str(self.packages),
            "CALLS": str(self.folder / "calls"),
            "BEGUN": str(self.begun),
        }

    def hold_up(self):
        """Let the second tool wait from now on."""
        os.mkfifo(self.begun)

    def wait_for_process(self):
        """Return the id of the process in which the second tool waits, as soon as it does."""
        return int(self.begun.read_text())

    def let_go(self):
        """Let the second tool answer from now on."""
        self.begun.unlink()

    def list_calls(self):
        """Return the numbers with which the first tool was called."""
        return (self.folder / "calls").read_text().split()
