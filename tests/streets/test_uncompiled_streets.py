"""Streets are searched as plain Python where nothing is compiled yet."""

import os
import subprocess
import sys

from tests.project.sources import ROOT

ASK = """
import sys
from pathlib import Path
from fingerpost.transit import kernel_mode
kernel_mode.decide_at_first_call(lambda: True)
from tests.streets.towns import Town
found = Town("A-+s+-B----------------", Path(sys.argv[1])).walk("A", "B")
print(found, "numba" in sys.modules)
"""


def test_a_process_that_answers_uncompiled_walks_on_streets_without_numba(tmp_path):
    """600 m, a third of them steps: the same seconds, and numba is not loaded."""
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(tmp_path)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stdout == "(600, 800.0) False\n"
