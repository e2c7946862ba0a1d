"""The first answer of a new machine: uncompiled kernels answer while another process compiles, then it changes over."""

import json
import os
import subprocess
import sys

import pytest

from fingerpost.apps import kernels

# Asks the demo as told, and prints the answers: `uncompiled`, `compiled`, or `both` with the change in the middle.
ASKING = """
import asyncio, json, sys
from fingerpost.transit import changeover

if sys.argv[1] != "compiled":
    changeover.start_interpreted()
from fingerpost.apps import error_boundary
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build

application = build(read_settings())
names = ["Kamppi", "Espoo", "Pasila", "Tapiola", "Leppävaara"]
questions = []
for at, first in enumerate(names):
    for kind in ("depart", "arrive"):
        ends = {"origin": {"type": "label", "value": first}, "destination": {"type": "label", "value": names[at - 1]}}
        when = {"type": kind, "time": f"2026-03-10T{8 + at:02}:17:00+02:00"}
        limits = {"maxWalkingDistance": 400 + 900 * (at % 2), "accessibility": {"stepFree": at == 2}}
        questions.append(("plan_trip", {**ends, "when": when, "constraints": limits, "limit": 3}))
questions.append(("get_departures", {"stop": {"type": "label", "value": "Kamppi"}, "limit": 50}))


def ask_all():
    return [asyncio.run(error_boundary.answer(application.tools, *each, user="ann")).body for each in questions]


found = {"first": ask_all(), "was_interpreted": changeover.is_interpreted()}
if sys.argv[1] == "both":
    changeover.change_over()
    found["second"] = ask_all()
    found["is_interpreted"] = changeover.is_interpreted()
    from fingerpost.transit.engine.raptor import search
    from fingerpost.transit.engine.raptor.kernel import range_raptor

    kept = [search.search_window, search.compute_lower_bounds, range_raptor.search_window]
    found["types"] = [type(each).__name__ for each in kept]
    found["compiled_anew"] = [str(each.py_func) for each in kept if each.stats.cache_misses]
print(json.dumps(found))
"""


def run(way):
    done = subprocess.run([sys.executable, "-c", ASKING, way], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_nothing_changes_when_compiled_code_takes_over(home):
    """The same answers uncompiled, compiled, and in one process before and after it; nothing is compiled anew."""
    compiled, both = run("compiled"), run("both")

    assert (compiled["was_interpreted"], both["was_interpreted"], both["is_interpreted"]) == (False, True, False)
    assert sum("itineraries" in body for body in compiled["first"]) >= 6
    assert both["first"] == compiled["first"]
    assert both["second"] == compiled["first"]
    assert both["compiled_anew"] == []
    assert set(both["types"]) == {"CPUDispatcher"}


# The same over MCP: text and structure of each answer before and after the change.
ASKING_MCP = """
import asyncio, json
from fingerpost.transit import changeover

changeover.start_interpreted()
from mcp import Client
from fingerpost.apps.mcp.server import new_server
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build

application = build(read_settings())
ends = {"origin": {"type": "label", "value": "Kamppi"}, "destination": {"type": "label", "value": "Espoo"}}
questions = [
    ("plan_trip", ends),
    ("planRoute", {"origin": {"rawText": "Kamppi"}, "destination": {"rawText": "Espoo"},
                   "arrivalTime": "2026-03-10T10:00:00+02:00"}),
    ("get_departures", {"stop": {"type": "label", "value": "Kamppi"}, "limit": 50}),
    ("plan_trip", {**ends, "origin": {"type": "label", "value": "kamp"}}),
]


async def ask_all():
    async with Client(new_server(application, find_user=lambda _: "ann"), mode="auto") as client:
        answers = [await client.call_tool(*each) for each in questions]
    return [answer.model_dump(mode="json") for answer in answers]


found = {"first": asyncio.run(ask_all()), "was_interpreted": changeover.is_interpreted()}
changeover.change_over()
print(json.dumps({**found, "second": asyncio.run(ask_all()), "is_interpreted": changeover.is_interpreted()}))
"""


def test_nothing_changes_over_mcp(home):
    """Text, structure and metadata of each answer are the same, errors too."""
    done = subprocess.run([sys.executable, "-c", ASKING_MCP], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)

    assert (told["was_interpreted"], told["is_interpreted"]) == (True, False)
    assert told["second"] == told["first"]
    assert [answer["is_error"] for answer in told["first"]] == [False, False, False, True]


# The Python interface: figures first, then a trip, then one when the kernels are compiled. What stands for the process
# that compiles waits for a file, and then says that it is done; the kernels are those of the tests.
LIBRARY = """
import asyncio, json, os, pathlib, sys, threading
from fingerpost import Fingerpost
from fingerpost.apps import kernels

home, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
kernels._own_folders.add(os.environ["NUMBA_CACHE_DIR"])
kernels._ALL_COMPILED = str(home / "compiled")
sys.executable = compiler


def list_waiting():
    return [each for each in threading.enumerate() if each.name == "fingerpost-changing-over"]


async def ask():
    async with Fingerpost(home) as fp:
        await fp.call("sec_financial_data", {"query_type": "companies"})
        found = {"waits_for_figures": len(list_waiting())}
        first = await fp.call("plan_trip", trip)
        from fingerpost.transit import changeover
        found |= {"was_interpreted": changeover.is_interpreted(), "waits": len(list_waiting())}
        (home / "go").touch()
        for each in list_waiting():
            each.join()
        second = await fp.call("plan_trip", trip)
        return {**found, "is_interpreted": changeover.is_interpreted(), "first": first, "second": second}


trip = {"origin": {"type": "label", "value": "Kamppi"}, "destination": {"type": "label", "value": "Espoo"}}
print(json.dumps(asyncio.run(ask())))
"""


def test_the_python_interface_answers_uncompiled_and_changes_over(home, tmp_path):
    """At its first question of a timetable, and once; figures need no engine."""
    home.mkdir()
    compiler = tmp_path / "compiler"
    compiler.write_text(f"#!/bin/sh\nuntil [ -e {home}/go ]; do sleep 0.05; done\ntouch {home}/compiled\n")
    compiler.chmod(0o700)
    done = subprocess.run(
        [sys.executable, "-c", LIBRARY, str(home), str(compiler)], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)

    assert (told["waits_for_figures"], told["waits"]) == (0, 1)
    assert (told["was_interpreted"], told["is_interpreted"]) == (True, False)
    assert len(told["first"]["itineraries"]) == 2
    assert told["second"] == told["first"]


# Asks from several threads without a pause while the kernels change; prints what kinds of answers there were.
CHANGING = """
import json, threading
from fingerpost.transit import changeover

changeover.start_interpreted()
seen, wrong, over = set(), [], threading.Event()


def inner():
    return "old"


inner = changeover.kernel(inner, lambda function: lambda: "new")


@changeover.in_one_mode
def question():
    answers = {inner() for _ in range(50)}
    if len(answers) > 1:
        wrong.append(answers)
    seen.update(answers)


@changeover.in_one_mode
def outer():
    question()
    question()


def ask():
    while not over.is_set():
        outer()


threads = [threading.Thread(target=ask) for _ in range(4)]
for thread in threads:
    thread.start()
changeover.change_over()
outer()
over.set()
for thread in threads:
    thread.join()
print(json.dumps({"seen": sorted(seen), "wrong": len(wrong), "is_interpreted": changeover.is_interpreted()}))
"""


def test_no_question_is_begun_one_way_and_ended_the_other(tmp_path):
    """Four threads ask without a pause; the change waits for them, and they for it."""
    (tmp_path / "fingerpost_asking.py").write_text(CHANGING)
    code = "import sys; sys.modules['fingerpost.asking'] = m = type(sys)('fingerpost.asking');"
    code += f"exec(compile(open({str(tmp_path / 'fingerpost_asking.py')!r}).read(), 'asking', 'exec'), m.__dict__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    told = json.loads(done.stdout)
    assert (told["wrong"], told["is_interpreted"]) == (0, False)
    assert "new" in told["seen"]


PREPARED = "(home / 'networks' / 'prepared')"


@pytest.fixture
def begun(monkeypatch, tmp_path):
    """Begin in a process of its own, with a home that has no kernels; what would compile only prints."""

    def begin(setup="pass"):
        code = (
            "import os, pathlib, sys; os.environ.pop('NUMBA_CACHE_DIR', None);"
            "from fingerpost.apps import kernels; home = pathlib.Path(sys.argv[1]);"
            f"{setup}; kernels.use_kernels_folder(home / 'kernels');"
            "sys.executable = '/bin/true' if os.path.exists('/bin/true') else sys.executable;"
            "begun = kernels.begin_uncompiled(home);"
            "from fingerpost.transit import changeover; print(begun is not None, changeover.is_interpreted())"
        )
        done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    return begin


def test_a_home_without_kernels_answers_uncompiled(begun):
    """And another process is started."""
    assert begun() == "True True"


@pytest.mark.parametrize(
    "setup",
    [
        "os.environ['NUMBA_CACHE_DIR'] = sys.argv[1]",
        "import fingerpost.transit.engine.raptor.kernel.compiling",
        f"{PREPARED}.mkdir(parents=True); ({PREPARED} / 'a').write_bytes(bytes(kernels.FEW_BYTES + 1))",
    ],
    ids=["the operator's own folder", "the engine is imported", "a large network"],
)
def test_otherwise_it_compiles_as_before(begun, setup):
    """Where the operator keeps kernels, where it is too late, and where an uncompiled search would take longer."""
    assert begun(setup) == "False False"


def test_a_small_network_is_answered_uncompiled(begun):
    """At the bound."""
    setup = f"{PREPARED}.mkdir(parents=True); ({PREPARED} / 'a').write_bytes(bytes(kernels.FEW_BYTES))"

    assert begun(setup) == "True True"


def test_what_is_compiled_is_noted_for_the_next_process(tmp_path, monkeypatch):
    """Only in the home's own folder; the operator's is taken for ready."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    kernels.use_kernels_folder(tmp_path / "kernels")

    assert not kernels.are_compiled()
    kernels.note_compiled()
    assert kernels.are_compiled()
    monkeypatch.setitem(os.environ, "NUMBA_CACHE_DIR", str(tmp_path / "theirs"))
    assert kernels.are_compiled()
    kernels.note_compiled()
    assert not (tmp_path / "theirs").exists()


# Two questions of one command, in a home whose kernels another process compiles already, or does not yet.
TERMINAL = """
import os, pathlib, sys
from contextlib import contextmanager

os.environ.pop("NUMBA_CACHE_DIR", None)
from fingerpost.apps.cli import application as terminal
from fingerpost.apps.kernels import get_kernels_folder
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build

application = build(read_settings(home=sys.argv[1]))
sys.executable = "/bin/true"
if sys.argv[2] == "begun":
    get_kernels_folder().mkdir(parents=True)
    (get_kernels_folder() / "compiling.lock").touch()


@contextmanager
def count():
    print("counts seconds")
    yield


terminal._counting_seconds = count
for _ in range(2):
    with terminal.answering_early(application):
        from fingerpost.transit.engine.raptor.kernel import compiling
"""


@pytest.mark.parametrize(("state", "said"), [("begun", 0), ("not yet", 1)])
def test_who_is_answered_uncompiled_is_not_told_to_wait_for_the_compiler(home, state, said):
    """That the engine is being compiled beside it is said once, by the command that begins it."""
    done = subprocess.run(
        [sys.executable, "-c", TERMINAL, str(home), state], capture_output=True, text=True, check=True
    )

    assert done.stdout == ""
    assert done.stderr.count("being compiled beside this") == said
