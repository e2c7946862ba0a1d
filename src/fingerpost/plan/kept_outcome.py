"""Outcomes of steps that an engine keeps before they are recorded."""

import json
from collections.abc import Awaitable, Callable

from fingerpost.plan.journal import Checkpoints
from fingerpost.plan.size_limits import encode
from fingerpost.plan.step_attempts import StepOutcome


class KeptOutcomes:
    """The outcomes of one run's steps in an engine's checkpoints; without checkpoints none is kept."""

    def __init__(self, checkpoints: Checkpoints | None = None) -> None:
        self._checkpoints = checkpoints

    async def find_or_make(self, step_id: int, perform: Callable[[], Awaitable[StepOutcome]]) -> StepOutcome:
        """Return how a step had ended before its run was interrupted, or what a function returns, which is kept."""
        if self._checkpoints is None:
            return await perform()

        async def perform_as_text() -> str:
            outcome = await perform()
            kept = {"response": dict(outcome.response), "attempts": outcome.attempts, "note": outcome.note}
            return encode(kept)

        text = await self._checkpoints.run(step_id, perform_as_text)
        found = json.loads(text)
        return StepOutcome(found["response"], found["attempts"], found["note"])
