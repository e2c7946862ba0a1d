"""The public types, as mypy shows them to a user of the installed package: strict, and without our settings."""

import re
from collections import defaultdict
from pathlib import Path

import pytest
from mypy import api

import fingerpost
from tests.project.sources import ROOT

HERE = Path(__file__).parent
ACCEPTED = sorted(HERE.glob("use_*.py"))
REFUSED = HERE / "refused.py"
MESSAGE = re.compile(r"^(?P<path>[^:]+):(?P<line>\d+):(?:\d+:)? error: .*\[(?P<code>[\w-]+)\]$")
REVEALED = re.compile(r'^[^:]+:(?P<line>\d+):(?:\d+:)? note: Revealed type is "(?P<type>.*)"$')


@pytest.fixture(scope="module")
def public_names(tmp_path_factory):
    path = tmp_path_factory.mktemp("names") / "names.py"
    path.write_text("".join(f"import fingerpost; reveal_type(fingerpost.{name})\n" for name in fingerpost.__all__))
    return path


@pytest.fixture(scope="module")
def report(public_names, tmp_path_factory):
    settings = tmp_path_factory.mktemp("settings") / "mypy.ini"
    settings.write_text("[mypy]\nstrict = true\n")
    cache = ROOT / ".mypy_cache" / "public_types"
    flags = ["--config-file", settings, "--cache-dir", cache, "--no-pretty", "--no-error-summary"]
    files = [*ACCEPTED, REFUSED, public_names]
    output, failure, _ = api.run([str(argument) for argument in [*flags, *files]])
    assert failure == ""
    return output.splitlines()


def _errors(report, path):
    found = defaultdict(set)
    for match in filter(None, map(MESSAGE.match, report)):
        if Path(match["path"]).resolve() == path:
            found[int(match["line"])].add(match["code"])
    return dict(found)


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.stem)
def test_code_of_a_user_type_checks(path, report):
    assert _errors(report, path) == {}


def test_wrong_code_of_a_user_does_not_type_check(report):
    lines = REFUSED.read_text(encoding="utf-8").splitlines()
    marked = {
        number: set(line.partition("# refused: ")[2].split()) for number, line in enumerate(lines, 1) if "# ref" in line
    }

    assert _errors(report, REFUSED) == marked
    assert len(marked) > 10


def test_every_public_name_has_a_type_of_its_own(report, public_names):
    errors = _errors(report, public_names.resolve())
    revealed = {int(match["line"]): match["type"] for match in map(REVEALED.match, report) if match}
    names = {name: revealed.get(number, "nothing") for number, name in enumerate(fingerpost.__all__, 1)}

    assert errors == {}
    assert [name for name, kind in names.items() if kind in ("Any", "nothing")] == []


def test_the_package_is_typed():
    assert (ROOT / "src" / "fingerpost" / "py.typed").is_file()
