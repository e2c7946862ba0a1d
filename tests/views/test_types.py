"""The modules of the views and of the page in the eyes of TypeScript's checker; there is nothing to build.

``make test-web`` installs it where npm is; elsewhere the test is skipped.
"""

import shutil
import subprocess

import pytest

from tests.project.sources import ROOT, SRC

ASSETS = SRC / "views" / "assets"
INSTALLED = ROOT / ".venv" / "typescript" / "node_modules" / ".bin" / "tsc"
OPTIONS = [
    *("--noEmit", "--allowJs", "--checkJs", "--strict", "false", "--target", "es2022", "--module", "es2022"),
    *("--moduleResolution", "bundler", "--lib", "es2022,dom,dom.iterable"),
]


def run_checker(*files):
    """Return what the checker says, empty where all is well."""
    command = str(INSTALLED) if INSTALLED.exists() else shutil.which("tsc")
    if command is None or shutil.which("node") is None:
        pytest.skip("no TypeScript here: make test-web installs it where npm is")
    done = subprocess.run([command, *OPTIONS, *map(str, files)], capture_output=True, text=True, check=False)
    return done.stdout


def test_modules_fit_together():
    """Names, arguments and properties of all modules, those of the browser among them."""
    modules = sorted([*ASSETS.glob("*.js"), *ASSETS.glob("web/*.js")])

    assert run_checker(*modules) == ""
    assert len(modules) > 20


def test_a_fault_would_be_found(tmp_path):
    """A property that no element has, and an argument too many."""
    path = tmp_path / "bad.js"
    path.write_text("function f(a) { return a; }\nf(1, 2);\ndocument.body.colour = 1;\n", encoding="utf-8")
    told = run_checker(path)

    assert [code in told for code in ("TS2554", "TS2339")] == [True, True]
