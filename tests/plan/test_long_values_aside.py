"""What is long is looked through in a thread, and what nobody can be shown is not read."""

import json
import threading

import pytest

from fingerpost.contract.response import success_response
from fingerpost.plan.conditions import Condition
from fingerpost.plan.engines.given_memory import read_given, write_given
from fingerpost.plan.journal import Given
from fingerpost.plan.long_work import is_long
from fingerpost.plan.memory import Memory
from fingerpost.plan.run_shapes import show_run
from fingerpost.plan.shortened_run import shorten_run
from fingerpost.plan.view import describe_run, say_run
from tests.plan.drawing import ended, plan, ref, step

LONG, SHORT = list(range(500)), list(range(5))


@pytest.fixture
def seen_in(monkeypatch):
    """Observe whether functions are called in the event loop or aside."""
    seen = set()

    def observe(owner, name):
        original = getattr(owner, name) if isinstance(owner, type) else None

        def called(*args, **kwargs):
            seen.add("aside" if threading.current_thread().name.startswith("fingerpost-long-plans") else "loop")
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, called)

    observe(Memory, "resolve")
    observe(Condition, "holds")
    return seen


@pytest.mark.parametrize(("values", "where"), [(SHORT, {"loop"}), (LONG * 20, {"aside"})])
async def test_what_a_step_reads_is_looked_through_aside_where_it_is_long(runs, seen_in, values, where):
    """A reference into the memory, and a condition over it; given, or recorded by an earlier step."""
    steps = [
        step(1, parameters={"extra": ref("given")}),
        step(2, parameters={"n": ref("k1", "length(data.extra)")}),
        step(3, done_check="len(memory['k1']['data']['extra']) > 1", dependencies=[1], expected_key=None),
    ]
    state, run = await ended(runs, plan(*steps), memory={"given": values})

    assert (state, run.steps[3].state) == ("completed", "skipped")
    assert json.loads(run.steps[2].output)["data"]["n"] == len(values)
    assert seen_in == where


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ("x" * 20_000, False), ("x" * 20_001, True), (LONG, True), (SHORT, False), (1, False), (None, False),
        ({"a": {"b": [LONG]}}, True), ([["x" * 9_000], "x" * 9_000], False), ([["x" * 9_000] * 3], True), ({}, False),
    ],
)  # fmt: skip
def test_what_is_long(value, answer):
    """Many values, or many characters, at whatever depth."""
    assert is_long(value) is answer


@pytest.mark.parametrize(
    "given",
    [
        Given(),
        Given(values={"a": 1, "b": None, "c": '}"{\\', "": {"x": {}}, "ä\ud800": [[], {}]}, paths={"a": ["data", "0"]}),
        Given(values={"a": {"b": {"c": [1.5, True, "ü"]}}}, paths={}),
    ],
)
def test_a_given_memory_is_read_as_it_was_written(given):
    """Key by key; it is plain JSON, so spaces and other names are as good."""
    text = write_given(given)
    spaced = json.dumps({"new": [{}], **json.loads(text)}, indent=2)

    assert json.loads(text) == {"values": dict(given.values), "paths": dict(given.paths)}
    assert [read_given(each) for each in (text, spaced, "{}")] == [given, given, Given()]


async def test_of_a_run_that_is_too_long_the_longest_outputs_are_not_read(opened, recorder):
    """Their sizes stand in their place, in every part; whoever asks for the run whole gets it."""

    async def answer(parameters):
        return success_response("echo", "echo", {}, [], {"data": "x" * parameters["n"], "notes": ["told"]})

    recorder.script = {"x": answer}
    runs = opened(recorder.tool())
    sizes = {1: 400_000, 2: 300_000, 3: 500_000, 4: 50}
    steps = [step(at, parameters={"n": size, "label": "x"}, output_path=["data"]) for at, size in sizes.items()]
    _state, run = await ended(runs, plan(*steps), memory={"given": "y" * 900_000})
    shown = await describe_run(runs, run, ["memory", "items"])
    whole = await describe_run(runs, run, ["memory"], room_bytes=None)

    assert {key: value.get("left_out") for key, value in shown["memory"].items()} == {
        "given": "900,002 bytes", "k1": "400,112 bytes", "k2": "300,112 bytes", "k3": "500,112 bytes", "k4": None,
    }  # fmt: skip
    assert {each["key"]: each["left_out"] for each in shown["values"]} == {
        "given": True, "k1": True, "k2": True, "k3": True, "k4": False,
    }  # fmt: skip
    assert shown["outputs_left_out"] == 1
    assert [len(each["remarks"]) for each in shown["steps"]] == [1, 1, 0, 1]
    assert "The output of 1 of the steps is too long to show here" in say_run(show_run(shown))
    assert [len(whole["memory"][key]["data"]) for key in ("k1", "k3")] == [400_000, 500_000]
    assert (whole["outputs_left_out"], len(json.dumps(shown)) < 20_000) == (None, True)


async def test_nothing_is_left_out_of_a_run_that_fits(runs):
    """Neither at the bound; beyond it, the longest is."""
    _state, run = await ended(runs, plan(step(1), step(2, parameters={"label": "xx"})))
    size = sum(len(each.output) for each in run.steps.values())

    assert shorten_run(run, size) is run
    assert "left_out" in shorten_run(run, size - 1).steps[2].output
    assert shorten_run(run, size - 1).steps[1] == run.steps[1]
