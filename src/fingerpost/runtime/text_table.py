"""Read a table of constants from a text file in the package."""

from pathlib import Path


def read_text_table(path: Path, columns: int) -> list[list[str]]:
    """Return the cells of each row, separated by ``|``; the last column may contain ``|``, and # begins a comment."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return [[cell.strip() for cell in line.split("|", columns - 1)] for line in lines if line and line[0] != "#"]
