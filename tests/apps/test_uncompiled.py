"""The first answers on a new machine: plain Python kernels answer while another process compiles them."""

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from fingerpost.apps import warm_up
from fingerpost.transit import kernel_mode

pytestmark = pytest.mark.slow

# Asks the demo with plain kernels, then with compiled ones, in one process. Only the hash may wrap around.
ASKING = """
import asyncio, json
import numpy as np
from fingerpost.apps import error_boundary
from fingerpost.apps.warm_up import load_kernels
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from fingerpost.transit import kernel_mode



def call_strictly(kernel, args):
    with np.errstate(over="ignore" if kernel.__name__ == "hash_stop_sequences" else "raise"):
        result = kernel(*args)
    return result.item() if isinstance(result, np.generic) else result


kernel_mode._call_plain = call_strictly
kernel_mode.decide_at_first_call(lambda: True)
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


def query_all():
    return [asyncio.run(error_boundary.answer(application.tools, *each, user="ann")).body for each in questions]


found = {"plain": query_all(), "was_plain": kernel_mode.is_plain()}
load_kernels()
print(json.dumps({**found, "compiled": query_all(), "is_ready": kernel_mode.is_ready()}))
"""


def test_plain_and_compiled_kernels_give_the_same_answers(home):
    done = subprocess.run([sys.executable, "-c", ASKING], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)

    assert (found["was_plain"], found["is_ready"]) == (True, True)
    assert sum("itineraries" in body for body in found["plain"]) >= 6
    assert found["plain"] == found["compiled"]


# Figures first, then a trip, then one with compiled kernels. What stands for the compiler waits for a file, and then
# notes that it is done; the kernels are those of the tests.
LIBRARY = """
import asyncio, json, pathlib, sys, threading
from fingerpost import Fingerpost
from fingerpost.transit import kernel_mode

home, sys.executable = pathlib.Path(sys.argv[1]), sys.argv[2]
kernel_mode._MARKER = str(home / "compiled")


def list_waiting():
    return [each for each in threading.enumerate() if each.name == "fingerpost-kernels"]


async def ask():
    async with Fingerpost(home) as fp:
        await fp.call("sec_financial_data", {"query_type": "company_info"})
        await fp.call("get_user_variables")
        found = {"waits_for_figures": len(list_waiting())}
        first = await fp.call("plan_trip", trip)
        found |= {"was_plain": kernel_mode.is_plain(), "waits": len(list_waiting())}
        (home / "go").touch()
        for each in list_waiting():
            each.join()
        second = await fp.call("plan_trip", trip)
        return {**found, "is_ready": kernel_mode.is_ready(), "first": first, "second": second}


trip = {"origin": {"type": "label", "value": "Kamppi"}, "destination": {"type": "label", "value": "Espoo"}}
print(json.dumps(asyncio.run(ask())))
"""


def test_the_first_trip_starts_the_compiler_and_figures_do_not(home, tmp_path):
    home.mkdir()
    compiler = tmp_path / "compiler"
    compiler.write_text(f"#!/bin/sh\nuntil [ -e {home}/go ]; do sleep 0.05; done\ntouch {home}/compiled\n")
    compiler.chmod(0o700)
    done = subprocess.run(
        [sys.executable, "-c", LIBRARY, str(home), str(compiler)], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)

    assert (found["waits_for_figures"], found["waits"]) == (0, 1)
    assert (found["was_plain"], found["is_ready"]) == (True, True)
    assert len(found["first"]["itineraries"]) == 2
    assert found["second"] == found["first"]


@pytest.fixture
def decide(monkeypatch, tmp_path):
    begun, said = [], []
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(warm_up.subprocess, "Popen", lambda *args, **_: begun.append(args))
    monkeypatch.setattr(warm_up, "_load_once_compiled", lambda *_: None)
    monkeypatch.setattr(kernel_mode, "_mode", kernel_mode._Mode())

    def decide(network_bytes=0):
        prepared = tmp_path / "networks" / "prepared"
        prepared.mkdir(parents=True)
        (prepared / "a").write_bytes(bytes(network_bytes))
        return warm_up._start_compiler_if_needed(tmp_path, said.append), len(begun), len(said)

    yield decide
    kernel_mode.may_call.set()


def test_an_empty_folder_answers_interpreted_and_compiles_meanwhile(decide):
    assert decide(warm_up.MAX_PLAIN_BYTES) == (True, 1, 1)
    assert not kernel_mode.is_compiling()


def test_a_large_network_waits_for_the_compiler(decide):
    assert decide(warm_up.MAX_PLAIN_BYTES + 1) == (True, 1, 1)
    assert kernel_mode.is_compiling()


def test_kernel_calls_wait_until_the_compiler_has_ended(decide):
    decide(warm_up.MAX_PLAIN_BYTES + 1)
    call = threading.Thread(target=kernel_mode.is_plain)
    call.start()
    call.join(0.05)
    is_waiting = call.is_alive()
    kernel_mode.may_call.set()
    call.join(10)

    assert (is_waiting, call.is_alive()) == (True, False)


def test_compiled_kernels_are_used_without_a_message(decide):
    kernel_mode.mark_compiled()

    assert decide() == (False, 0, 0)
    assert (kernel_mode.must_wait(), kernel_mode.is_ready()) == (False, True)


def test_kernels_are_in_the_configured_folder_or_the_platforms_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    named = kernel_mode.use_kernels_folder()
    inherited = kernel_mode.use_kernels_folder(), Path(os.environ["NUMBA_CACHE_DIR"])
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    assert (named.parent, *inherited) == (tmp_path, named, named)
    assert kernel_mode.use_kernels_folder() == tmp_path / "cache" / "fingerpost" / "kernels" / named.name


def test_each_installation_has_its_own_kernels_because_numba_finds_code_by_path(monkeypatch, tmp_path):
    other = shutil.copytree(Path(kernel_mode.__file__).parent, tmp_path / "transit")
    own = kernel_mode._digest_engine()
    monkeypatch.setattr(kernel_mode, "__file__", str(other / "kernel_mode.py"))

    assert kernel_mode._digest_engine.__wrapped__() != own


def test_numbas_own_variable_makes_kernels_plain(monkeypatch):
    monkeypatch.setattr(kernel_mode, "_mode", kernel_mode._Mode())
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")

    assert kernel_mode.is_plain()


def test_a_process_decides_once_and_its_compiler_runs_no_plain_kernel(monkeypatch):
    monkeypatch.setattr(kernel_mode, "_mode", kernel_mode._Mode())
    decisions = []

    @kernel_mode.entry
    @kernel_mode.kernel
    def add(column):
        return column[0] + column[1]

    for _ in range(2):
        kernel_mode.decide_at_first_call(lambda: decisions.append(True) or True)
        plain = add(np.array([1, 2]))
    monkeypatch.setattr(kernel_mode._mode, "compiling_thread", threading.get_ident())

    assert (plain, type(plain), len(decisions)) == (3, int, 1)
    assert not kernel_mode.is_plain()
