"""TypeScript's checker accepts the modules of the views and of the page; there is nothing to build.

``make test-web`` installs it where npm is; elsewhere the test is skipped.
"""

import shutil
import subprocess

import pytest

from tests.project.sources import ROOT, SRC

ASSETS = SRC / "apps" / "views" / "assets"
INSTALLED = ROOT / ".venv" / "typescript" / "node_modules" / ".bin" / "tsc"
OPTIONS = [
    *("--noEmit", "--allowJs", "--checkJs", "--strict", "false", "--target", "es2022", "--module", "es2022"),
    *("--moduleResolution", "bundler", "--lib", "es2022,dom,dom.iterable"),
]


# A property that no element has, and an argument too many.
FAULTS = "function f(a) { return a; }\nf(1, 2);\ndocument.body.colour = 1;\n"


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    command = str(INSTALLED) if INSTALLED.exists() else shutil.which("tsc")
    if command is None or shutil.which("node") is None:
        pytest.skip("no TypeScript here: make test-web installs it where npm is")
    bad = tmp_path_factory.mktemp("faults") / "bad.js"
    bad.write_text(FAULTS, encoding="utf-8")
    modules = sorted([*ASSETS.glob("*.js"), *ASSETS.glob("web/*.js")])
    assert len(modules) > 20
    done = subprocess.run(
        [command, *OPTIONS, *map(str, modules), str(bad)], capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines()


def test_modules_of_the_views_have_no_type_error(told):
    assert [line for line in told if "bad.js(" not in line] == []


def test_a_fault_would_be_found(told):
    assert [code in " ".join(told) for code in ("TS2554", "TS2339")] == [True, True]
