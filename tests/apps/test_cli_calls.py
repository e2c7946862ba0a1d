"""``call`` and ``--json`` print the contract's envelope and nothing else, and the status says how it went."""

import json

import pytest

from fingerpost.apps.cli.output import print_json
from tests.apps.processes import run
from tests.apps.questions import KAMPPI, KAMPPI_TO_ESPOO

HERE = {"type": "coords", "value": {"lat": 60.1699, "lon": 24.9384}}
THERE = {"type": "coords", "value": {"lat": 60.2055, "lon": 24.6559}}
TRIP = {"origin": HERE, "destination": THERE}


def call(tool, arguments, **environment):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return run("call", tool, text, **environment)


def test_a_call_under_a_fixed_clock_is_the_same_byte_for_byte():
    """A call under a fixed clock is the same byte for byte."""
    once, again = call("plan_trip", TRIP), call("plan_trip", TRIP)

    # On a fresh machine the first call says on stderr that it compiles the engine.
    assert (once.returncode, once.stdout, again.stderr) == (0, again.stdout, "")
    assert once.stdout.count("\n") == 1
    assert len(json.loads(once.stdout)["itineraries"]) == 2


def test_json_of_a_command_is_the_same_envelope_as_call(invoke):
    """JSON of a command is the same envelope as call."""
    asked = invoke("plan", "Kamppi", "Espoo", "--json")

    assert asked.stdout == invoke("call", "plan_trip", json.dumps(KAMPPI_TO_ESPOO)).stdout


def test_the_arguments_may_come_from_stdin():
    """The arguments may come from stdin."""
    asked = run("call", "get_departures", "-", stdin=json.dumps({"stop": {"type": "id", "value": KAMPPI}}))

    assert (asked.returncode, json.loads(asked.stdout)["stopId"]) == (0, KAMPPI)


BAD_TRIPS = {
    "identical points": ({**TRIP, "destination": HERE}, "validation-error", "origin and destination must differ"),
    "no such latitude": (
        {**TRIP, "origin": {"type": "coords", "value": {"lat": 91, "lon": 24.9}}},
        "validation-error",
        "origin.value.lat must be at most 90; you sent 91",
    ),
    "too many": ({**TRIP, "limit": 4}, "validation-error", "limit must be at most 3; you sent 4"),
    "a numeric text": (
        {**TRIP, "limit": "3"},
        "validation-error",
        'limit must be a whole number, not the text "3"',
    ),
    "no walking at all": (
        {**TRIP, "constraints": {"maxWalkingDistance": 0}},
        "validation-error",
        "constraints.maxWalkingDistance must be at least 1; you sent 0",
    ),
    "too many changes": (
        {**TRIP, "constraints": {"maxTransfers": 9}},
        "validation-error",
        "constraints.maxTransfers must be at most 8; you sent 9",
    ),
    "arrive without a time": (
        {**TRIP, "when": {"type": "arrive"}},
        "validation-error",
        "when: arrive needs a time; now works with depart only",
    ),
    "arrive now": (
        {**TRIP, "when": {"type": "arrive", "time": "now"}},
        "validation-error",
        "when: arrive needs a time; now works with depart only",
    ),
    "unknown field": (
        {**TRIP, "mode": "BUS"},
        "validation-error",
        "unknown field 'mode'; allowed: constraints, destination, includeDisruptionAlt, limit, origin, when",
    ),
    "a label of nothing": (
        {**TRIP, "origin": {"type": "label", "value": "Xyzzyville"}},
        "validation-error",
        "origin 'Xyzzyville' is no saved variable, no token and no place that any network knows",
    ),
    "another country": (
        {**TRIP, "destination": {"type": "coords", "value": {"lat": 35.68, "lon": 139.77}}},
        "unsupported-region",
        None,
    ),
    "no object": ("[]", "validation-error", "the arguments must be a JSON object, not a list"),
}


@pytest.mark.parametrize(("arguments", "code", "message"), BAD_TRIPS.values(), ids=BAD_TRIPS)
def test_a_bad_question_has_its_contracts_error(arguments, code, message, invoke):
    """A bad question has its contract's error."""
    done = invoke("call", "plan_trip", arguments if isinstance(arguments, str) else json.dumps(arguments))

    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["code"]) == (1, code)
    assert error["message"] == (message or error["message"])


def test_the_error_of_another_country_names_which_end_lies_where(invoke):
    """The error of another country names which end lies where."""
    arguments, _, _ = BAD_TRIPS["another country"]
    done = invoke("call", "plan_trip", json.dumps(arguments))

    assert "destination" in json.loads(done.stdout)["error"]["message"]


@pytest.mark.parametrize("text", ["{", "", "{'origin': 1}", "[" * 100_000])
def test_what_is_no_json_is_wrong_usage(text, invoke):
    """What is no JSON is wrong usage, and is answered in the contract's envelope all the same."""
    done = invoke("call", "plan_trip", text)

    assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (2, "validation-error")
    assert done.stderr.startswith("The arguments are not JSON: ")
    assert done.stderr.count("\n") == 1


def test_an_unknown_tool_is_wrong_usage(invoke):
    """An unknown tool is wrong usage."""
    done = invoke("call", "plan_trp", "{}")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("There is no tool plan_trp. The tools are: plan_trip, ")


@pytest.mark.parametrize("command", [["find", "Kamppi"], ["network", "list"], ["call", "find_stops"], ["serve"]])
def test_a_malformed_clock_ends_every_command_with_one_sentence(command, invoke, monkeypatch):
    """A malformed clock ends every command with one sentence."""
    monkeypatch.setenv("FINGERPOST_NOW", "yesterday")
    done = invoke(*command)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "FINGERPOST_NOW is 'yesterday', which is not an instant. Write it like 2026-01-31T08:00:00Z, or unset it.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (["serve", "--tools", "cor"], {}),
        (["find", "Kamppi"], {"FINGERPOST_RETENTION_DAYS": "soon"}),
        (["plan", "Kamppi", "Espoo", "--limit", "many"], {}),
        (["plan", "Kamppi", "Espoo", "--at", "08:00", "--arrive", "09:00"], {}),
        (["plan", "Kamppi", "Espoo", "--at", "25:00"], {}),
        (["plan", "Kamppi"], {}),
        (["vars", "delete"], {}),
        (["network", "add", "DEMO-X", "feed.zip"], {}),
    ],
)
def test_wrong_usage_is_told_on_stderr_alone(arguments, environment, invoke, monkeypatch):
    """Wrong usage is told on stderr alone."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    done = invoke(*arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() != ""


def test_a_bad_address_is_wrong_usage_without_a_traceback():
    """A bad address is wrong usage without a traceback."""
    done = run("serve", "--http", "nowhere")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "'nowhere' is not an address. Write it like 127.0.0.1:8000.\n"


def test_half_a_surrogate_pair_is_printed_as_its_escape(capsysbinary):
    """It has no UTF-8, but its escape is the same JSON."""
    print_json({"name": "\ud800"})

    assert capsysbinary.readouterr().out == b'{"name":"\\ud800"}\n'
