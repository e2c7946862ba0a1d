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
    from fingerpost.transit.raptor import search
    from fingerpost.transit.raptor.kernel import range_raptor

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
        "import fingerpost.transit.raptor.kernel.compiling",
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
