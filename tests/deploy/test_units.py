"""systemd accepts the units, and they start existing commands."""

import shlex
import shutil
import subprocess
import sys

import pytest

from tests.apps.processes import DEADLINE_S
from tests.deploy.test_containers import parse_command
from tests.project.sources import ROOT

FOLDER = ROOT / "deploy" / "systemd"
UNITS = sorted(path.name for path in FOLDER.iterdir())
INSTALLED = "/opt/fingerpost/bin/fingerpost"


def read_keys(name):
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


@pytest.mark.parametrize("name", [unit for unit in UNITS if unit.endswith(".service")])
def test_a_service_starts_a_command_of_ours_under_a_user_of_its_own(name):
    keys = read_keys(name)
    parse_command(["fingerpost", *shlex.split(keys["ExecStart"].removeprefix(INSTALLED))])

    # Both services are one user, so that the server can read what the refresh wrote.
    assert (keys["User"], keys["DynamicUser"]) == ("fingerpost", "yes")
    assert (keys["NoNewPrivileges"], keys["ProtectSystem"]) == ("yes", "strict")
    assert keys["Environment"].split() == [
        f"FINGERPOST_HOME=/var/lib/{keys['StateDirectory']}",
        f"NUMBA_CACHE_DIR=/var/cache/{keys['CacheDirectory']}",
    ]


def test_systemd_accepts_the_units(tmp_path):
    """With nothing to say; the command, which is not installed here, is stood in for by this Python."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze here")
    for name in UNITS:
        text = (FOLDER / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace(INSTALLED, sys.executable), encoding="utf-8")
    ended = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *(str(tmp_path / name) for name in UNITS)],
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_S,
    )

    assert [line for line in ended.stderr.splitlines() if "fingerpost" in line] == []
    assert ended.returncode == 0
