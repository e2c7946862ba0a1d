"""``call`` and ``--json`` print only the contract's envelope, and the exit status reports the outcome."""

import io
import json
import subprocess
import sys

import pytest

import fingerpost
from fingerpost.apps.cli.output import print_json
from tests.apps.processes import DEADLINE_S, run
from tests.apps.questions import KAMPPI, KAMPPI_TO_ESPOO

HERE = {"type": "coords", "value": {"lat": 60.1699, "lon": 24.9384}}
THERE = {"type": "coords", "value": {"lat": 60.2055, "lon": 24.6559}}
TRIP = {"origin": HERE, "destination": THERE}


def test_a_call_under_a_fixed_clock_is_the_same_byte_for_byte(invoke):
    here, there = invoke("call", "plan_trip", json.dumps(TRIP)), run("call", "plan_trip", json.dumps(TRIP))

    assert (there.returncode, there.stdout, there.stderr) == (0, here.stdout, "")
    assert there.stdout.count("\n") == 1
    assert len(json.loads(there.stdout)["itineraries"]) == 2


def test_json_of_a_command_is_the_same_envelope_as_call(invoke):
    asked = invoke("plan", "Kamppi", "Espoo", "--json")

    assert asked.stdout == invoke("call", "plan_trip", json.dumps(KAMPPI_TO_ESPOO)).stdout


def test_the_arguments_may_come_from_stdin(invoke, monkeypatch):
    typed = json.dumps({"stop": {"type": "id", "value": KAMPPI}}).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(typed)))
    asked = invoke("call", "get_departures", "-")

    assert (asked.returncode, json.loads(asked.stdout)["stopId"]) == (0, KAMPPI)


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("plan_trip", '{"limit": 4}', "limit must be at most 3; you sent 4"),
        ("plan_trip", "[]", "the arguments must be a JSON object, not a list"),
        ("plan_trp", "{}", "The tools are: plan_trip, "),
    ],
)
def test_a_refused_call_prints_the_contracts_error(tool, arguments, message, invoke):
    done = invoke("call", tool, arguments)
    error = json.loads(done.stdout)["error"]

    assert (done.returncode, error["code"]) == (2, "validation-error")
    assert message in done.stdout


@pytest.mark.parametrize("text", ["{", "", "{'origin': 1}", "[" * 100_000])
def test_invalid_json_is_wrong_usage(text, invoke):
    done = invoke("call", "plan_trip", text)

    assert (done.returncode, done.stdout) == (2, "")
    assert "the arguments are not JSON: " in done.stderr


@pytest.mark.parametrize("command", [["find", "Kamppi"], ["network", "list"], ["call", "find_stops"], ["serve"]])
def test_a_malformed_clock_ends_every_command_with_one_sentence(command, invoke, monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", "yesterday")
    done = invoke(*command)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "FINGERPOST_NOW is 'yesterday', which is not a valid time. Write it like 2026-01-31T08:00:00Z, or unset it.\n"
    )


def test_half_a_surrogate_pair_is_printed_as_its_escape(capsysbinary):
    print_json({"name": "\ud800"})

    assert capsysbinary.readouterr().out == b'{"name":"\\ud800"}\n'


# The interrupt comes while a module of the command line is imported, as a person's does on a slow machine.
INTERRUPTED_AT = """
import builtins, signal, os
imported = builtins.__import__
def interrupted(name, *rest):
    if name == {name!r}:
        os.kill(os.getpid(), signal.SIGINT)
    return imported(name, *rest)
builtins.__import__ = interrupted
from fingerpost.apps.cli import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
@pytest.mark.parametrize("name", ["typer", "rich.console"])
def test_an_interrupt_during_the_imports_exits_quietly(name):
    command = [sys.executable, "-c", INTERRUPTED_AT.format(name=name), "version"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_module_prints_the_version(option):
    done = subprocess.run([sys.executable, "-m", "fingerpost", option], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, f"fingerpost {fingerpost.__version__}\n")
