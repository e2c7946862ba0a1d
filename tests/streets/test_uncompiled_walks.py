"""Walks are the same while the kernels are not compiled yet."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

WALK = """
import tempfile
from pathlib import Path
from tests.streets.towns import Town

drawing = ["ApppB---CpppGpppD", *["    |   |   p"] * 3, "    E---F   H"]
town = Town("\\n".join(drawing), Path(tempfile.mkdtemp()))
print([town.walk(*ends) for ends in (("A", "D"), ("D", "A"), ("A", "F"))])
"""


def test_a_walk_is_found_without_compiling():
    """The sum of two comparisons of numpy is a truth value where it is interpreted, and a number where compiled."""
    answers = [
        subprocess.run(
            [sys.executable, "-c", WALK],
            env={**os.environ, "NUMBA_DISABLE_JIT": disabled},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for disabled in ("1", "0")
    ]

    assert answers[0] == answers[1]
    assert "None" not in answers[0]
