"""Compute and verify CRC-32 checksums of a folder's files."""

import zlib
from collections.abc import Mapping
from pathlib import Path

_PIECE_BYTES = 1 << 20


def list_checksums(folder: Path) -> dict[str, int]:
    """Return the CRC-32 of every file below a folder, keyed by relative path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): _compute_checksum(path) for path in files}


def find_damaged_file(folder: Path, checksums: Mapping[str, int]) -> Path | None:
    for name, checksum in checksums.items():
        path = folder / name
        try:
            actual = _compute_checksum(path)
        except FileNotFoundError:
            return path
        if actual != checksum:
            return path
    return None


def _compute_checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            checksum = zlib.crc32(piece, checksum)
    return checksum
