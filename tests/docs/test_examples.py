"""The documented commands, Python code, configuration and scripts run."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fingerpost.apps.source_kinds import open_record_store
from tests.docs.blocks import list_blocks, list_documents, list_steps
from tests.docs.upstreams import serving_examples
from tests.feeds import feed_from_drawing, write_feed
from tests.project.sources import ROOT

pytestmark = pytest.mark.slow

NOW = "2026-03-10T08:00:00+02:00"
KNOWN_KINDS = {"console", "json", "python", "sh", "toml"}
# Commands that set up a machine; that they are there is tested, that they work is what CI does.
SET_UP = re.compile(r"(make [a-z]+|pip install \.)")


@pytest.fixture
def place(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    write_feed(tmp_path / "my-city.zip", feed_from_drawing("line 1 | Alpha 08:05 | Beta 08:15"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FINGERPOST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FINGERPOST_NOW", NOW)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def run(command):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    words = shlex.split(command)
    return subprocess.run(words, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)


def ids(blocks):
    return [block.label for block in blocks]


def list_sessions():
    """List the console blocks; those of a tutorial are one session."""
    blocks = list_blocks("console")
    by_page: dict = {}
    for block in blocks:
        is_tutorial = block.path.parent.name == "tutorials"
        by_page.setdefault(block.path if is_tutorial else block.label, []).append(block)
    return [page[0]._replace(text="".join(block.text for block in page)) for page in by_page.values()]


CONSOLE = list_sessions()
SHELL = list_blocks("sh")
PYTHON = list_blocks("python")
JSON = [block for block in list_blocks("json") if block.path.parent.name != "reference"]
TOML = list_blocks("toml")


@pytest.mark.parametrize("block", CONSOLE, ids=ids(CONSOLE))
def test_a_terminal_session_goes_as_shown(block, place, monkeypatch):
    with serving_examples(block.text, place, monkeypatch) as localised:
        for step in list_steps(block):
            done = run(localised(step.command))
            printed = "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())

            assert done.returncode == 0, f"{step.command}: {done.stderr}"
            assert step.output in ("", printed)


@pytest.mark.parametrize("block", SHELL, ids=ids(SHELL))
def test_a_shell_block_runs_or_is_a_make_target(block, place):
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for command in block.text.splitlines():
        if SET_UP.fullmatch(command):
            assert command == "pip install ." or command.split()[1] in targets
        else:
            done = run(command)
            assert done.returncode == 0, f"{command}: {done.stderr}"


@pytest.mark.parametrize("block", PYTHON, ids=ids(PYTHON))
def test_a_python_block_runs(block, place):
    done = subprocess.run([sys.executable, "-c", block.text], capture_output=True, text=True, check=False)

    assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr


@pytest.mark.parametrize("block", [*JSON, *TOML], ids=ids([*JSON, *TOML]))
def test_a_configuration_starts_our_server_or_is_a_record_or_an_entry_point(block, place):
    table = json.loads(block.text) if block.kind == "json" else tomllib.loads(block.text)
    if "project" in table:
        assert list(table["project"]["entry-points"]) == ["fingerpost.tools"]
        return
    if "source" in table:
        assert open_record_store(place).build("MYCITY", table).name == "MYCITY"
        return
    [(kind, servers)] = table.items()
    server = servers["fingerpost"]
    command = server["command"] if kind == "mcp" else [server["command"], *server["args"]]
    while command[0] != "fingerpost":
        command = command[1:]

    assert kind in ("mcpServers", "servers", "context_servers", "mcp", "mcp_servers")
    assert (command[1:], run(shlex.join([*command, "--help"])).returncode) == (["serve"], 0)


def test_every_block_is_of_a_kind_that_is_run():
    kinds = {
        kind
        for path in list_documents()
        for kind in re.findall(r"^```(\w*)\n.*?^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    }

    assert kinds - KNOWN_KINDS == set()


def test_the_demo_plans_a_trip_through_the_server(place):
    script = ROOT / "examples" / "plan_through_mcp.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    trip = done.stdout.partition("Kamppi to Espoo, Tuesday 10 March 2026, from 08:00\n")[2]

    assert done.returncode == 0, done.stderr
    assert trip.splitlines()[1:6] == [
        "1. 39 min, 1 change, 218 m on foot",
        "   08:01  METRO M1 towards Vuosaari, to Rautatientori",
        "   08:03  walk 218 m to Helsinki",
        "   08:11  RAIL E towards Kauklahti, to Espoo",
        "   08:40  Espoo",
    ]


def test_the_demo_leaves_no_files(place, monkeypatch):
    monkeypatch.delenv("FINGERPOST_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(place / "data"))
    done = subprocess.run([sys.executable, ROOT / "examples" / "plan_through_mcp.py"], capture_output=True, check=False)

    assert done.returncode == 0
    assert not (place / "data").exists()


def test_a_short_benchmark_prints_all_figures(place):
    command = [sys.executable, ROOT / "bench" / "run.py", "--rounds", "1", "--calls", "3", "--trips", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = re.findall(r"^  (\w+(?: p\d\d)?) .*\d+\.\d\d  (?:ok|short)", done.stdout, re.MULTILINE)

    with_mock = [f"{tool} {share}" for tool in ("plan_trip", "get_departures") for share in ("p50", "p95")]
    # Over HTTP: with the demo network, and with a mock OpenTripPlanner.
    assert told == [*with_mock, *2 * ["get_departures", "plan_trip"]], done.stderr
