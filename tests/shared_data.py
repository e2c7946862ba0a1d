"""Real recordings next to the project, if they are available."""

import csv
import io
import os
import zipfile
from pathlib import Path

import pytest

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def find_shared() -> Path:
    """Return the folder of recordings; FINGERPOST_SHARED may point at the folder ``shared`` or at its ``data``."""
    base = Path(os.environ.get("FINGERPOST_SHARED", BESIDE))
    return base / "data" if (base / "data").is_dir() else base


def get_shared(path: str) -> Path:
    """Return a recording's path; skip the test where there are none, fail where they are and this one is not."""
    base = find_shared()
    found = base / path
    if not found.exists():
        if base.is_dir() and os.environ.get("CI"):
            pytest.fail(f"shared data is present but {path} is not")
        pytest.skip(f"needs the recording {path}, which is absent")
    return found


def read_table(archive: Path, name: str) -> list[dict[str, str]]:
    """Return the rows of a table of a GTFS archive, read with nothing of ours."""
    with zipfile.ZipFile(archive) as opened:
        return list(csv.DictReader(io.StringIO(opened.read(name).decode("utf-8-sig"))))
