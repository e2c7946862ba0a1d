"""The commands of docs/backup.md bring a home folder back."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.apps.conftest import write_town
from tests.project.sources import ROOT

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs" / "backup.md"


def test_the_commands_of_the_page_restore_a_home_folder(tmp_path):
    feed = write_town(tmp_path)
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "PATH": programs, "FINGERPOST_HOME": str(tmp_path / "home")}
    commands = "\n".join(re.findall(r"^    (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))

    def run(script, **changed):
        done = subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=tmp_path,
            env=environ | changed,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(f"fingerpost network add TOWN {feed} && fingerpost vars set home 41.0,-8.0")
    before = run("fingerpost vars list && fingerpost network show TOWN")
    run(commands)
    after = run("fingerpost vars list && fingerpost network show TOWN", FINGERPOST_HOME=str(tmp_path / "restored"))

    assert after.replace("/restored/", "/home/") == before
    assert (tmp_path / "restored" / "variables.sqlite").stat().st_mode & 0o077 == 0
