"""Randomly damaged feeds never crash the importer, hang it, or exhaust memory."""

import os
import subprocess
import sys
from pathlib import Path

SEEDS = range(50_000, 60_000) if os.environ.get("FINGERPOST_SOAK") else range(300)
# Many times what it takes, so that only a hang is ever cut short.
MAX_DURATION_S = 60 + len(SEEDS)
MAX_GROWN_MB = 200


def test_mutated_feeds_are_imported_or_refused_in_a_sentence(tmp_path):
    command = [sys.executable, "-m", "tests.gtfs.mutating", str(SEEDS.start), str(SEEDS.stop), str(tmp_path)]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=MAX_DURATION_S)

    assert done.returncode == 0, done.stdout[-100:] + done.stderr[-3000:]
    imported, refused, grown_mb = map(int, done.stdout.splitlines()[-1].split())
    assert imported + refused == len(SEEDS)
    assert imported > len(SEEDS) // 5
    assert refused > len(SEEDS) // 5
    assert grown_mb < MAX_GROWN_MB
