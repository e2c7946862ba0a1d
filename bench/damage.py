"""Damage each file of a home folder in each way, and compare the answers with those of the undamaged home.

Every answer must be equal, or name the damaged file or network, within 60 s of computing and 1 GB. Deleted and emptied
files of variables and runs, and deleted records, are left out: they look like those of a new home. The home has
Helsinki with streets, Kingston, a variable, a plan run and Apple's figures. ``--flips`` is the number of flipped bits
per array.
"""

import asyncio
import json
import logging
import math
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from pkgutil import walk_packages

from harness import read_options
from serving import FINGERPOST, compile_kernels
from tests.shared_data import find_shared

DAY = "2022-02-22T08:00:00+02:00"
DATA = find_shared()
HOME_COMMANDS = (
    ("network", "add", "HSL", DATA / "gtfs/helsinki/hsl_centre_2022-02-22.gtfs.zip",
     "--streets", DATA / "gtfs/helsinki/helsinki_centre_2020.osm.pbf"),
    ("network", "add", "KING", DATA / "gtfs/kingston/kingston_2026-01.gtfs.zip"),
    ("vars", "set", "home", "60.17,24.94"),
    ("call", "run_plan", '{"plan": {"goal": "Wait", "steps": [{"step_id": 1, "description": "?", "agent": "human"}]}}'),
    ("filings", "load", DATA / "sec/companyfacts_CIK0000320193_AAPL.json", "--ticker", "AAPL"),
)  # fmt: skip
KAMPPI, HAKANIEMI, HOME, STREET, DOWNTOWN = (
    {"type": "label", "value": text} for text in ("Kamppi", "Hakaniemi", "home", "Mannerheimintie 5", "KING:S02035")
)
FIGURE = {"ticker": "AAPL", "metrics": ["Revenue"], "start_date": "2022-01-01", "end_date": "2022-12-31"}
CALLS = (
    ("plan_trip", {"origin": KAMPPI, "destination": HAKANIEMI}),
    ("plan_trip", {"origin": HOME, "destination": STREET}),
    ("get_departures", {"stop": KAMPPI}),
    ("get_departures", {"stop": DOWNTOWN, "at": "2026-02-02T08:00:00-05:00"}),
    ("find_stops", {"coordinate": {"lat": 60.17, "lon": 24.94}}),
    ("findAddressOrStop", {"rawText": "Mannerheimintie 5"}),
    ("get_user_variables", {}),
    ("get_plan_run", {}),
    ("sec_financial_data", {"query_type": "financial_facts", "parameters": FIGURE}),
)
MAX_S, MAX_MB = 60, 1024
_DAMAGED = re.compile(r"\b(HSL|KING)\b.*(cannot be read|is damaged|is not prepared|was prepared from)")
_VARYING = re.compile(r'"correlationId": "[^"]*"')


def list_damages(path: Path, flips: int):
    """Yield the name of each damage with the damaged content, which is None for a deleted file."""
    data, luck = path.read_bytes(), random.Random(path.name)
    page = len(data) // 2 // 4096 * 4096
    if path.suffix not in (".toml", ".sqlite") or path.stem == "addresses":
        yield from (("deleted", None), ("empty", b""))
    yield "half", data[: len(data) // 2]
    yield "longer", data + b"more"
    yield "text", b"not this\n"
    yield "noise", luck.randbytes(min(len(data), 5000))
    yield "zeros", data[:page] + bytes(min(4096, len(data) - page)) + data[page + 4096 :]
    yield "halves exchanged", data[len(data) // 2 :] + data[: len(data) // 2]
    arrays = {"": ("|u1", [len(data)], 0)}
    if path.name == "arrays.bin":
        arrays = json.loads(path.with_name("contents.json").read_text())["arrays"]
    for name, (dtype, shape, offset) in arrays.items():
        item = int(dtype[2:])
        size = math.prod(shape) * item
        for number in range(flips if size else 0):
            flipped = bytearray(data)
            flipped[offset + luck.randrange(size)] ^= 1 << luck.randrange(8)
            yield f"{name} bit {number}", bytes(flipped)
        high = bytearray(data)
        for position in range(offset + item - 1, offset + size, item * 50):
            high[position] ^= 0x40
        yield f"{name} every 50th", bytes(high)


def run_forked(home: Path) -> tuple[list, int, float]:
    """Return the answers of a forked process, its exit code and its most memory in MB."""
    reader, writer = os.pipe()
    if not (child := os.fork()):
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_S, MAX_S))
        signal.alarm(10 * MAX_S)
        os.environ["FINGERPOST_HOME"] = str(home)
        with os.fdopen(writer, "w") as file:
            json.dump(asyncio.run(ask()), file)
            file.flush()
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        answers = file.read()
    _, status, usage = os.wait4(child, 0)
    return json.loads(answers or "[]"), os.waitstatus_to_exitcode(status), usage.ru_maxrss / 1024


async def ask() -> list[tuple[str, str]]:
    from fingerpost.apps import error_boundary
    from fingerpost.apps.settings import read_settings
    from fingerpost.apps.wiring import build

    application, answers = build(read_settings()), []
    try:
        for name, arguments in CALLS:
            answer = await error_boundary.answer(application.tools, name, arguments, user="local")
            answers.append((_VARYING.sub("", json.dumps(answer.body, sort_keys=True)), answer.text))
    finally:
        await application.networks.close()
    return answers


def find_problems(path: Path, before: list, after: list, code: int, most_mb: float) -> list[str]:
    problems = [f"exit code {code}"] * (code != 0) + [f"{most_mb:.0f} MB"] * (most_mb > MAX_MB)
    for (body, _), (damaged, text) in zip(before, after, strict=bool(after)):
        if body != damaged and ("nternal error" in text or not (path.name in text or _DAMAGED.search(text))):
            problems.append(text[:300])
    return problems


def main() -> int:
    options = read_options(__doc__, flips=3)
    compile_kernels()
    os.environ |= {"FINGERPOST_NOW": DAY, "PYTHONWARNINGS": "ignore"}
    logging.disable()
    with tempfile.TemporaryDirectory() as folder:
        home, damaged = Path(folder, "home"), Path(folder, "damaged")
        for command in HOME_COMMANDS:
            environ = {**os.environ, "FINGERPOST_HOME": str(home)}
            subprocess.run([*FINGERPOST, *map(str, command)], env=environ, check=True, capture_output=True)
        import fingerpost
        from fingerpost.apps.warm_up import load_kernels

        # Imported before the forks, so that each begins at once.
        for module in walk_packages(fingerpost.__path__, "fingerpost."):
            if not re.search(r"__main__|dbos|\.apps\.mcp|postgres|pytest", module.name):
                __import__(module.name)
        load_kernels()
        shutil.copytree(home, damaged)
        before, code, _ = run_forked(damaged)
        assert code == 0
        count = bad = 0
        for path in sorted(path for path in home.rglob("*") if path.is_file() and path.stat().st_size):
            for name, content in list_damages(path, options.flips):
                shutil.rmtree(damaged)
                shutil.copytree(home, damaged)
                target = damaged / path.relative_to(home)
                target.unlink() if content is None else target.write_bytes(content)
                problems = find_problems(path, before, *run_forked(damaged))
                count, bad = count + 1, bad + bool(problems)
                if problems:
                    print(f"{path.relative_to(home)}, {name}:", *problems, sep="\n  ", flush=True)
        print(f"{count} damages, {bad} with a problem")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
