"""Execute one run: each step starts as soon as its dependencies are recorded, in parallel within limits.

There is no barrier between branches, and nothing is replayed: a step is looked up by its id, or it runs.
"""

import asyncio
import logging
import traceback
from collections import deque
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from fingerpost import clock
from fingerpost.contract.check import explain
from fingerpost.contract.envelope import unexpected
from fingerpost.contract.identity import new_correlation_id
from fingerpost.contract.response import failure_response, success_response
from fingerpost.errors import BrokenContract, ParameterError, ToolError
from fingerpost.plan.catalogue import HUMAN
from fingerpost.plan.conditions import ConditionFailed
from fingerpost.plan.journal import Journal, JournalFailed, RunRecord, RunState, Signal, StepRecord, StepState
from fingerpost.plan.kept_outcome import KeptOutcomes
from fingerpost.plan.limits import Limits
from fingerpost.plan.long_work import is_long, run_aside
from fingerpost.plan.memory import Memory
from fingerpost.plan.references import fill
from fingerpost.plan.remarks import find_dead_path
from fingerpost.plan.run_events import RunEvents, Watch
from fingerpost.plan.run_measurement import measuring_step
from fingerpost.plan.run_places import RunPlace
from fingerpost.plan.size_limits import encode, find_excess
from fingerpost.plan.step_attempts import THINKING, StepExecutor, StepOutcome, failed, think
from fingerpost.plan.validation import ReadyStep, ValidPlan, read_arguments
from fingerpost.runtime.background_pace import PACE

_log = logging.getLogger(__name__)

# For less, a place is not worth giving back.
_LONG_S = 1.0
_ONE_ATTEMPT = '{"attempts":1}'


class Execution:
    """Executes one run from its recorded state until it ends, waits for a person or fails."""

    def __init__(
        self,
        run: RunRecord,
        valid: ValidPlan,
        journal: Journal,
        executor: StepExecutor,
        limits: Limits,
        *,
        place: RunPlace | None = None,
    ) -> None:
        self._run = run
        self._valid = valid
        self._journal = journal
        self._executor = executor
        self._limits = limits
        self._place = place
        self._events = RunEvents(run.run_id, run.last_seq, journal)
        settled = {number: step for number, step in run.steps.items() if step.state in ("completed", "skipped")}
        outputs = {number: step.output for number, step in settled.items() if step.output is not None}
        self._memory = Memory(valid, run.given, outputs)
        self._todo = len(valid.steps) - sum(number in valid.steps for number in settled)
        self._missing = {
            number: sum(dependency not in settled for dependency in ready.dependencies)
            for number, ready in valid.steps.items()
            if number not in settled
        }
        self._followers: dict[int, list[int]] = {}
        for number in self._missing:
            for dependency in valid.steps[number].dependencies:
                self._followers.setdefault(dependency, []).append(number)
        self._queue = deque(number for number, missing in self._missing.items() if missing == 0)
        self._running: dict[asyncio.Task[bool], int] = {}
        self._resting: set[int] = set()
        self._failing: set[int] = set()
        self._is_cancelled = False
        self._broken: BaseException | None = None
        self._pending_approvals: set[int] = set()
        self._decisions: dict[int, Signal] = {}
        self._last_signal = 0
        self._settled: asyncio.Future[None] | None = None
        self._kept = KeptOutcomes()

    def tell(self, watches: Sequence[Watch]) -> None:
        """Report every event to these; one that is added to them later receives events from then on."""
        self._events.tell(watches)

    def on_signals(self, signals: list[Signal]) -> None:
        """Apply signals to this run; of two decisions on one step the first counts.

        Once the run has come to a stop nothing is heard any more: who carries it on looks for what came later.
        """
        if self._settled is not None and self._settled.done():
            return
        for signal in signals:
            self._last_signal = max(self._last_signal, signal.seq)
            if signal.verb == "cancel":
                self._is_cancelled = True
                self._stop()
            elif signal.step_id is not None and signal.step_id not in self._decisions:
                self._decisions[signal.step_id] = signal
                if signal.step_id in self._pending_approvals:
                    self._pending_approvals.discard(signal.step_id)
                    self._queue.append(signal.step_id)
        self._go_on()

    @property
    def last_signal(self) -> int:
        """The number of the last signal that was applied."""
        return self._last_signal

    async def carry_on(self) -> RunState:
        """Return how the run stands when nothing more can be done now.

        Raises:
            JournalFailed: what happened cannot be written down; the run can be resumed from its record.
        """
        self._kept = KeptOutcomes(self._journal.reserve(list(self._valid.steps)))
        self._settled = asyncio.get_running_loop().create_future()
        is_first = self._run.last_seq == 0
        self._events.append_undurable("run_started" if is_first else "run_resumed", None)
        if self._run.state != "running":
            await self._journal.record(self._run.run_id, None, [], "running", self._events.now())
        try:
            self._go_on()
            await self._settled
        finally:
            tasks = list(self._running)
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)
        if self._broken is not None:
            raise self._broken
        return await self._settle()

    async def _settle(self) -> RunState:
        if self._todo == 0:
            if not self._valid.steps or not self._missing:
                # Nothing was left to do: the crash came between the last step and the end.
                await self._end("completed")
            return "completed"
        if self._is_cancelled:
            state: RunState = "cancelled"
        elif self._pending_approvals:
            state = "waiting"
        else:
            state = "failed"
        await self._end(state)
        return state

    async def _end(self, state: RunState) -> None:
        event = self._events.draw(f"run_{state}", None)
        await self._journal.record(self._run.run_id, None, [event], state, event.at)
        self._events.report(event)

    def _go_on(self) -> None:
        """Start every step that is ready; settle the run's future when nothing is running any more."""
        if self._settled is None or self._settled.done():
            return
        while self._queue and not self._is_stopping and len(self._running) < self._limits.steps_at_once:
            number = self._queue.popleft()
            task = asyncio.create_task(self._step(self._valid.steps[number]))
            self._running[task] = number
            task.add_done_callback(self._step_ended)
        if not self._running:
            self._settled.set_result(None)
        elif self._resting:
            self._rest()

    def _rest(self) -> None:
        """Give the run's place back where all that is left of it now is to wait for further attempts."""
        if self._place is not None and len(self._resting) == len(self._running):
            self._place.rest()

    @property
    def _is_stopping(self) -> bool:
        return self._is_cancelled or self._broken is not None

    def _stop(self) -> None:
        for task in self._running:
            task.cancel()

    def _step_ended(self, task: "asyncio.Task[bool]") -> None:
        number = self._running.pop(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, JournalFailed) or (error is not None and number in self._failing):
            self._broken = self._broken or error
            self._stop()
        elif error is not None:
            self._failing.add(number)
            # Whatever a tool raises is that step's failure, not the run's end.
            again = asyncio.create_task(self._fail_unexpectedly(self._valid.steps[number], error))
            self._running[again] = number
            again.add_done_callback(self._step_ended)
        elif not task.cancelled() and task.result():
            for follower in self._followers.get(number, ()):
                self._missing[follower] -= 1
                if self._missing[follower] == 0:
                    self._queue.append(follower)
        self._go_on()

    async def _step(self, ready: ReadyStep) -> bool:
        """Execute one step; return whether its dependents may start."""
        step = ready.step
        if self._place is not None and self._place.is_resting:
            await self._place.resume()
        if step.tool is None or step.done_check is not None:
            await PACE.begin()
        if step.agent == HUMAN:
            return await self._human(ready)
        if step.done_check is not None and await self._skip(ready):
            return True
        self._events.append_undurable("step_started", step.step_id)
        name = step.tool or step.agent or THINKING
        with measuring_step(name, self._run.run_id, step.step_id) as operation:
            try:
                outcome = await self._perform(ready)
            except ToolError as error:
                if isinstance(error, JournalFailed):
                    raise
                outcome = StepOutcome(failed(name, name, {}, error), 0, error.message)
            if outcome.note is not None:
                operation.fail(str(outcome.response.get("error_code", "failed")))
        return await self._record(ready, outcome)

    async def _perform(self, ready: ReadyStep) -> StepOutcome:
        step, question = ready.step, ready.question
        arguments = step.parameters if question is None else question.arguments
        if ready.references:
            takes_long = self._memory.is_much(ready.sources.values())
            arguments = await run_aside(takes_long, self._filled, ready, arguments)
        if step.tool is None and step.agent is None:
            takes_long = is_long(arguments) or self._memory.is_much(ready.dependencies)
            return StepOutcome(await run_aside(takes_long, self._thought, ready, arguments), 1, None)

        async def attempt() -> StepOutcome:
            return await self._executor.perform(ready, arguments, self._run.run_id, self._run.user, self)

        return await self._kept.find_or_make(step.step_id, attempt)

    def attempt_failed(self, step_id: int, number: int, reason: str, wait_s: float | None) -> None:
        """Note that an attempt of a step failed, and how long it is until the next one (see ``AttemptWatch``)."""
        detail = {"attempt": number, "error": reason[:1000], "retried_after_s": wait_s}
        self._events.append_undurable("attempt_failed", step_id, encode(detail))
        if wait_s is not None and wait_s >= _LONG_S:
            self._resting.add(step_id)
            self._rest()

    async def before_next_attempt(self, step_id: int) -> None:
        """Wait for the run's place, where it was given back meanwhile."""
        self._resting.discard(step_id)
        if self._place is not None:
            await self._place.resume()

    def _filled(self, ready: ReadyStep, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return a step's arguments with its references resolved, checked again where they are a tool's."""
        question = ready.question
        values = self._memory.resolve(ready, self._limits.output_bytes)
        arguments = fill(arguments, values.__getitem__, () if question is None else question.prefix)
        if question is not None:
            try:
                read_arguments(question.model, arguments)
            except ValidationError as error:
                raise explain(error, question.model) from error
        return arguments

    def _thought(self, ready: ReadyStep, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the response of a step without a tool, composed from memory, within its size limit."""
        response = think(arguments, self._gathered(ready))
        limits = self._limits
        if excess := find_excess(response, most_bytes=limits.output_bytes, most_depth=limits.depth):
            raise ParameterError(f"The output of the step cannot be kept: a value in it {excess}")
        return response

    def _gathered(self, ready: ReadyStep) -> dict[str, Any]:
        found = {}
        for dependency in ready.dependencies:
            other = self._valid.steps[dependency]
            response = self._memory.response_of(dependency)
            if other.key is not None and response is not None:
                found[other.key] = self._memory.value_of(other)
        return found

    async def _skip(self, ready: ReadyStep) -> bool:
        """Skip a step if its expected key is present and its done check holds; without a key the check decides."""
        takes_long = self._memory.is_much([*self._valid.before[ready.step.step_id], None])
        try:
            is_done, is_present, response = await run_aside(takes_long, self._look, ready)
        except ConditionFailed as error:
            detail = encode({"reason": f"done_check: {error}"})
            self._events.append_undurable("condition_failed", ready.step.step_id, detail)
            return False
        if not is_done:
            return False
        reason = "its value is present and done_check holds" if is_present else "done_check holds"
        output = encode(response) if is_present else None
        await self._write(ready, "skipped", output, reason, 0, encode({"reason": reason}))
        return True

    def _look(self, ready: ReadyStep) -> tuple[bool, bool, Any]:
        """Return whether a step's done check holds, whether its value is present, and the response it stands in."""
        assert ready.condition is not None
        is_present, _value, response = self._memory.find_value(ready)
        is_wanted = ready.step.expected_key is None or is_present
        return is_wanted and ready.condition.holds(self._memory.names_for(ready)), is_present, response

    async def _record(self, ready: ReadyStep, outcome: StepOutcome) -> bool:
        response, note = outcome.response, outcome.note
        output = await run_aside(is_long(response), encode, dict(response))
        if note is None and self._memory.bytes + len(output) > self._limits.memory_bytes:
            note = f"The run's memory may hold {self._limits.memory_bytes:,} bytes, and is full"
            extra = {"retryable": False}
            response = failure_response(
                str(response["output_key"]), str(response["query_type"]), {}, note, additional_data=extra
            )
            output = encode(response)
        if note is not None:
            detail = encode({"attempts": outcome.attempts, "error": note[:1000]})
            await self._write(ready, "failed", output, note, outcome.attempts, detail)
            return False
        if (reason := find_dead_path(response, ready.step.output_path)) is not None:
            self._events.append_undurable("value_missing", ready.step.step_id, encode({"reason": reason}))
        data = _ONE_ATTEMPT if outcome.attempts == 1 else encode({"attempts": outcome.attempts})
        await self._write(ready, "completed", output, None, outcome.attempts, data)
        return True

    async def _write(
        self, ready: ReadyStep, state: StepState, output: str | None, note: str | None, attempts: int, data: str
    ) -> None:
        """Record a step's state, together with the run's completion if it was the last step."""
        number = ready.step.step_id
        event = self._events.draw(f"step_{state}", number, data)
        events = [event]
        run_state: RunState | None = None
        if state in ("completed", "skipped"):
            if output is not None:
                self._memory.keep(number, output)
            self._todo -= 1
            if self._todo == 0:
                run_state = "completed"
                events.append(self._events.draw("run_completed", None))
        record = StepRecord(number, state, output, note, attempts, event.at)
        await self._journal.record(self._run.run_id, record, events, run_state, event.at)
        self._events.report(*events)

    async def _human(self, ready: ReadyStep) -> bool:
        """Wait for a person's approval, or act on the decision."""
        number = ready.step.step_id
        decision = self._decisions.get(number)
        if decision is None:
            known = self._run.steps.get(number)
            self._pending_approvals.add(number)
            if known is None or known.state != "waiting":
                await self._write(ready, "waiting", None, "waits for a person", 0, encode({}))
            return False
        detail = decision.value if isinstance(decision.value, dict) else {}
        data = {"approved": decision.verb == "approve", "note": detail.get("note"), "value": detail.get("value")}
        self._events.append_undurable(
            f"step_{'approved' if data['approved'] else 'rejected'}", number, encode({"note": data["note"]})
        )
        arguments = ready.step.parameters
        if ready.references:
            try:
                arguments = fill(arguments, self._memory.resolve(ready, self._limits.output_bytes).__getitem__)
            except ToolError as error:
                return await self._record(ready, StepOutcome(failed(HUMAN, "approval", {}, error), 1, error.message))
        if not data["approved"]:
            note = f"A person did not approve{': ' + str(data['note']) if data['note'] else ''}"
            response = failure_response(HUMAN, "approval", arguments, note, "error", {"data": data})
            return await self._record(ready, StepOutcome(response, 1, note))
        response = success_response(HUMAN, "approval", arguments, [data], {"data": data})
        return await self._record(ready, StepOutcome(response, 1, None))

    async def _fail_unexpectedly(self, ready: ReadyStep, error: BaseException) -> bool:
        name = ready.step.tool or ready.step.agent or ""
        correlation_id = new_correlation_id(clock.find_fixed(), self._run.user, name, ready.step.parameters)
        _log.error(
            "run=%s step=%s tool=%s correlationId=%s failed\n%s",
            self._run.run_id,
            ready.step.step_id,
            name,
            correlation_id,
            "".join(traceback.format_exception(error)),
        )
        detail = error if isinstance(error, BrokenContract) else unexpected(correlation_id, name or "fingerpost")
        return await self._record(ready, StepOutcome(failed(name, name, {}, detail), 1, detail.message))
