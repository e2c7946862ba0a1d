"""A run's record without its longest outputs: what nobody can be shown in one answer is not read for it."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from fingerpost.plan.journal import Given, RunRecord
from fingerpost.plan.size_limits import encode

_LEFT_OUT = "left_out"


def shorten_run(run: RunRecord, most_bytes: int) -> RunRecord:
    """Return a run in whose place of the longest outputs and given values only their sizes stand.

    The others take at most so many bytes together.
    """
    outputs = {number: len(step.output) for number, step in run.steps.items() if step.output is not None}
    given = {key: len(encode(value)) for key, value in run.given.values.items()}
    most = _most_each([*outputs.values(), *given.values()], most_bytes)
    if most is None:
        return run
    steps = {
        number: step._replace(output=encode(_stub(outputs[number]))) if outputs.get(number, 0) > most else step
        for number, step in run.steps.items()
    }
    values = {key: _stub(given[key]) if given[key] > most else value for key, value in run.given.values.items()}
    return replace(run, steps=steps, given=Given(values=values, paths=run.given.paths))


def is_left_out(response: Any) -> bool:
    """Whether only the size of a response is there."""
    return isinstance(response, dict) and response.keys() == {_LEFT_OUT}


def _stub(size: int) -> dict[str, Any]:
    return {_LEFT_OUT: f"{size:,} bytes"}


def _most_each(sizes: Iterable[int], most_bytes: int) -> int | None:
    """Return how long a part may be so that all that are no longer fit together; None where all do."""
    taken = longest = 0
    for size in sorted(sizes):
        taken += size
        if taken > most_bytes:
            return longest if size > longest else size - 1
        longest = size
    return None
