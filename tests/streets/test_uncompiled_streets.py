"""Streets are searched in plain Python while nothing is compiled."""

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
drawing = ["ApppB-s-CpppGpppD", *["    |   |   p"] * 3, "    E---F   H"]
town = Town("\\n".join(drawing), Path(sys.argv[1]))
print([town.walk(*ends) for ends in (("A", "D"), ("D", "A"), ("A", "F"))], "numba" in sys.modules)
"""


def test_a_process_that_answers_uncompiled_walks_on_streets_without_numba(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(tmp_path)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stdout == "[(2400, 1920.0), (2400, 1920.0), (1200, 960.0)] False\n"
