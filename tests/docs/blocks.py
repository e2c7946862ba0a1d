"""The fenced blocks in the documents, and how each kind is run."""

import re
from pathlib import Path
from typing import NamedTuple

from tests.project.sources import ROOT

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    path: Path
    line: int
    kind: str
    text: str

    @property
    def label(self) -> str:
        return f"{self.path.relative_to(ROOT).as_posix()}:{self.line}"


class Step(NamedTuple):
    command: str
    output: str


def list_documents() -> list[Path]:
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").rglob("*.md")]
    return sorted(found)


def list_blocks(*kinds: str) -> list[Block]:
    blocks: list[Block] = []
    for path in list_documents():
        text = path.read_text(encoding="utf-8")
        blocks += [
            Block(path, text.count("\n", 0, match.start()) + 1, match[1], match[2])
            for match in _FENCE.finditer(text)
            if match[1] in kinds
        ]
    return blocks


def list_steps(block: Block) -> list[Step]:
    steps: list[Step] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            steps.append(Step(line[2:], ""))
        else:
            steps[-1] = Step(steps[-1].command, f"{steps[-1].output}{line}\n")
    return steps
