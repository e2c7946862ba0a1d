"""The built wheel works when it is installed without the checkout: ``make test-wheel``."""

import asyncio
import email
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NOW = "2026-03-10T08:00:00+02:00"

pytestmark = pytest.mark.skipif(
    os.environ.get("FINGERPOST_WHEEL") != "1",
    reason="building and installing takes a minute or two, and a package index: make test-wheel",
)


def build(folder, source=ROOT):
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(built):
    [path] = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=True)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    command = [scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return scripts


@pytest.fixture(scope="module")
def run(installed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("elsewhere")
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("FINGERPOST_", "NUMBA_", "PYTHON"))
    }
    fixed = {"FINGERPOST_HOME": str(folder / "home"), "FINGERPOST_NOW": NOW, "NO_COLOR": "1", "COLUMNS": "80"}

    def run(name, *arguments):
        command = [installed / name, *arguments]
        done = subprocess.run(command, cwd=folder, env=kept | fixed, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def _list_sources():
    return {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and ".egg-info" not in path.as_posix()
    }


def test_the_wheel_contains_every_file_of_the_package(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    packaged = {name for name in names if name.startswith("fingerpost/")}

    assert packaged == _list_sources()
    assert {
        "fingerpost/filings/sample/figures.json",
        "fingerpost/py.typed",
        "fingerpost/transit/engine/demo/feeds/DEMO-HELSINKI/stops.txt",
        "fingerpost/transit/engine/demo/prepared/DEMO-HELSINKI/arrays.bin",
    } <= packaged
    assert {name.split("/")[0] for name in names - packaged} == {f"fingerpost-{PROJECT['version']}.dist-info"}


def test_the_sdist_contains_only_the_package_and_its_documents(built):
    [path] = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    beside = {name for name in names if not name.startswith("src/")}

    assert {name.removeprefix("src/") for name in names - beside} == _list_sources()
    assert beside == {".gitignore", "CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}


def test_another_folder_builds_the_same_files(built, tmp_path):
    without = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", tmp_path / "src", copy_function=shutil.copy, ignore=without)
    for path in filter(Path.is_file, ROOT.iterdir()):
        shutil.copy(path, tmp_path)
    again = build(tmp_path / "dist", tmp_path)

    assert {path.name: path.read_bytes() for path in again.iterdir()} == {
        path.name: path.read_bytes() for path in built.iterdir()
    }


def test_the_entry_of_the_registry_matches_the_project():
    """Until a package index has the name, it lists no package."""
    manifests = [json.loads((ROOT / "deploy" / "mcpb" / name).read_text()) for name in ("manifest.json", "server.json")]

    assert [(each["version"], each["description"]) for each in manifests] == [
        (PROJECT["version"], PROJECT["description"])
    ] * 2
    assert manifests[1]["packages"] == []


def test_the_wheel_matches_pyproject(wheel):
    archive = zipfile.ZipFile(wheel)
    [path] = [name for name in archive.namelist() if name.endswith("/METADATA")]
    said = email.message_from_bytes(archive.read(path))
    fields = ("Name", "Version", "Requires-Python", "License-Expression", "Author")

    assert [said[field] for field in fields] == [
        "fingerpost", PROJECT["version"], PROJECT["requires-python"], "Apache-2.0", "fingerpost contributors"
    ]  # fmt: skip
    assert sorted(said["Keywords"].split(",")) == sorted(PROJECT["keywords"])


def test_the_command_prints_its_version(run):
    assert run("fingerpost", "--version") == f"fingerpost {PROJECT['version']}\n"


def test_the_installed_package_is_the_one_that_runs(run, installed):
    place = run("python", "-c", "import fingerpost; print(fingerpost.__file__)")

    assert Path(place.strip()).is_relative_to(installed.parent)


def test_a_trip_is_planned_on_the_demo(run):
    printed = run("fingerpost", "plan", "Kamppi", "Espoo")

    assert "1. 08:01 to 08:40, 39 min, 1 change, 218 m walk" in printed


def test_the_python_interface_answers(run):
    script = """
import asyncio, json
from fingerpost import Fingerpost

async def ask():
    async with Fingerpost() as fp:
        trip = await fp.plan_trip(origin="Kamppi", destination="Espoo", limit=1)
        board = await fp.call("get_departures", {"stop": {"type": "label", "value": "Kamppi"}, "limit": 1})
    print(json.dumps([leg["mode"] for leg in trip["itineraries"][0]["legs"]] + [len(board["departures"])]))

asyncio.run(ask())
"""

    assert json.loads(run("python", "-c", script)) == ["METRO", "WALK", "RAIL", 1]


def test_the_bundle_starts_a_server_that_plans_a_trip(installed, tmp_path):
    bundles = []
    for _ in range(2):
        subprocess.run(["make", "bundle"], cwd=ROOT, check=True)
        bundles.append((ROOT / "build" / "fingerpost.mcpb").read_bytes())
    assert bundles[0] == bundles[1]
    zipfile.ZipFile(ROOT / "build" / "fingerpost.mcpb").extractall(tmp_path / "bundle")
    manifest = json.loads((tmp_path / "bundle" / "manifest.json").read_text(encoding="utf-8"))
    subprocess.run([installed / "python", "-m", "pip", "install", "--quiet", "uv"], check=True)
    start = manifest["server"]["mcp_config"]
    assert start["command"] == "uv"
    server = StdioServerParameters(
        command=str(installed / "uv"),
        args=[argument.replace("${__dirname}", str(tmp_path / "bundle")) for argument in start["args"]],
        env={**os.environ, "FINGERPOST_HOME": str(tmp_path / "home"), "FINGERPOST_NOW": NOW},
    )

    async def plan():
        async with Client(stdio_client(server)) as client:
            return await client.call_tool("plan_trip", {"origin": "Kamppi", "destination": "Espoo"})

    assert asyncio.run(plan()).content[0].text.startswith("Kamppi to Espoo, depart 2026-03-10 08:00")
