"""The script that makes sure of a browser, on machines whose commands write down how they were called."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "install_browser.sh"
BROWSER = "chromium-headless-shell"


class Machine:
    """A folder of commands, which is all that the script finds."""

    def __init__(self, folder):
        self.folder = folder
        self.folder.mkdir()
        self.calls = folder / "calls"
        self.calls.touch()
        self.add("id", "echo 0")
        self.add("env", 'shift; exec "$@"')

    def add(self, name, body="exit 0"):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def add_apt(self, *, has=(BROWSER,), is_fresh=True):
        """Install a package manager that has some packages, from the beginning or once its lists are updated."""
        known = "true" if is_fresh else f"[ -e {self.folder}/updated ]"
        packages = "|".join(has) or "none"
        self.add(
            "apt-get",
            f'echo "$*" >> {self.calls}\n'
            f"case $1 in update) : > {self.folder}/updated; exit 0;; esac\n"
            f"case $5 in {packages}) {known};; *) exit 100;; esac",
        )

    def run(self, **environment):
        done = subprocess.run(
            ["/bin/sh", str(SCRIPT)],
            env={"PATH": str(self.folder), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def list_calls(self):
        """Return which package each install was of, and every update."""
        calls = (line.split() for line in self.calls.read_text(encoding="utf-8").splitlines())
        return [words[4] if words[0] == "install" else words[0] for words in calls]


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path / "bin")


@pytest.mark.parametrize(
    ("has", "is_fresh", "calls"),
    [
        ([BROWSER], True, [BROWSER]),
        ([BROWSER], False, [BROWSER, "update", BROWSER]),
        (["chromium"], True, [BROWSER, "update", BROWSER, "chromium"]),
    ],
    ids=["lists are there", "lists are old", "no package without windows"],
)
def test_a_missing_browser_is_installed(machine, has, is_fresh, calls):
    """As root on Debian: at once, after an update of the lists, or the browser with windows where there is no other."""
    machine.add_apt(has=has, is_fresh=is_fresh)

    assert machine.run() == (0, "Installing Chromium ...\n", "")
    assert machine.list_calls() == calls


@pytest.mark.parametrize(
    ("present", "environment", "calls"),
    [
        (BROWSER, {"CI": "true"}, []),
        ("chromium", {}, []),
        ("chromium", {"CI": ""}, []),
        ("chromium", {"CI": "true"}, [BROWSER]),
    ],
)
def test_a_browser_that_is_there_is_left_alone_except_in_ci(machine, present, environment, calls):
    """Nobody's machine gets a second one; CI gets the quick one."""
    machine.add(present)
    machine.add_apt()

    assert machine.run(**environment)[0] == 0
    assert machine.list_calls() == calls


def test_where_none_can_be_had_it_says_why_and_ends_well(machine):
    """No package manager, no right, no package: one sentence, and status 0, because the tests skip themselves."""
    told = [machine.run()]
    machine.add_apt(has=[])
    told.append(machine.run())
    machine.add("id", "echo 1000")
    machine.add("sudo", "exit 1")
    told.append(machine.run())

    assert told == [
        (0, "No Chromium here, and no apt-get to install it with.\n", ""),
        (0, "Installing Chromium ...\nNo Chromium here, and it could not be installed.\n", ""),
        (0, "No Chromium here, and no right to install it: apt-get install chromium-headless-shell.\n", ""),
    ]


def test_an_ordinary_user_installs_by_a_sudo_that_asks_for_no_password(machine):
    """Every command that changes something goes through it."""
    machine.add("id", "echo 1000")
    machine.add("sudo", f'shift; [ "$1" = true ] || echo "$1" >> {machine.folder}/rooted; exec "$@"')
    machine.add("true")
    machine.add_apt()

    assert machine.run()[0] == 0
    assert (machine.folder / "rooted").read_text(encoding="utf-8") == "env\n"
    assert machine.list_calls() == [BROWSER]
