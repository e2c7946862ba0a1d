"""The page on dependencies matches pyproject.toml."""

import re
import tomllib
from itertools import chain

from tests.project.sources import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGE = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([^`]+)` \| `([^`]*)` \| (.+) \|$", re.MULTILINE)


def _rows(heading):
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return {name: versions for name, versions, _ in ROW.findall(section)}


def _split(requirements):
    found = (re.fullmatch(r"([\w.\[\]-]+?)([<>=~!].*)?", requirement) for requirement in requirements)
    return {match[1]: match[2] or "" for match in found}


def test_every_dependency_is_in_the_table_with_its_bounds():
    assert _rows("Taken at run time") == _split(PROJECT["dependencies"])


def test_every_extra_is_in_the_table_with_its_bounds():
    extras = PROJECT["optional-dependencies"]
    named = {name: reason.split(":")[0] for name, _, reason in ROW.findall(PAGE.partition("\n## Extras\n")[2])}

    assert _rows("Extras") == _split(requirement for group in extras.values() for requirement in group)
    assert named == {name: f"`[{extra}]`" for extra, group in extras.items() for name in _split(group)}


def test_every_dependency_has_a_lower_bound():
    """Without one, an installer may pick a release that lacks what we use."""
    bounds = _split(chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()))

    assert [name for name, versions in bounds.items() if not versions.startswith(">=")] == []
