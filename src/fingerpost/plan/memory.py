"""The memory of a run: a view of its recorded outputs, by key (rule F4)."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from fingerpost.errors import ParameterError
from fingerpost.plan.limits import encode
from fingerpost.plan.records import Event, InitialMemory, StepRecord
from fingerpost.plan.references import Reference, Way, walk
from fingerpost.plan.remarks import details_of
from fingerpost.plan.validation import ReadyStep, ValidPlan


class Memory:
    """The initial values and the recorded outputs of one run; a step sees those of the steps before it."""

    def __init__(self, valid: ValidPlan, given: InitialMemory, outputs: Mapping[int, str]) -> None:
        self._valid = valid
        self._given = given
        self._outputs = dict(outputs)
        self._read: dict[int, Any] = {}
        self.bytes = sum(map(len, self._outputs.values()))

    def store(self, step_id: int, output: str) -> None:
        self._outputs[step_id] = output
        self.bytes += len(output)

    def response_of(self, step_id: int) -> Any:
        """Return the recorded response of a step, or None; callers must not change it."""
        if step_id not in self._read and step_id in self._outputs:
            self._read[step_id] = json.loads(self._outputs[step_id])
        return self._read.get(step_id)

    def find_value(self, ready: ReadyStep) -> tuple[bool, Any, Any]:
        """Return whether a step's key has a successful response with a value, the value, and the response."""
        if ready.key is None:
            return False, None, None
        response = self._under(ready.key, ready.earlier)
        if response is None or _is_failure(response):
            return False, None, response
        value = walk(response, ready.step.output_path or [])
        return value is not None, value, response

    def names_for(self, ready: ReadyStep) -> dict[str, Any]:
        _present, value, response = self.find_value(ready)
        names = {
            "value": value,
            "results": response.get("results") if isinstance(response, dict) else None,
            "memory": self.seen_by(ready.step.step_id),
        }
        if ready.key is not None:
            names.setdefault(ready.key, response)
        return names

    def seen_by(self, step_id: int) -> dict[str, Any]:
        before = self._valid.before[step_id]
        return self._keyed(number for number in before if number in self._outputs)

    def keyed(self) -> dict[str, Any]:
        return self._keyed(self._outputs)

    def paths(self) -> dict[str, list[str]]:
        """Return where the value of each key is in its response, for runs that start from this memory."""
        found = dict(self._given.paths)
        for ready in self._in_order(self._outputs):
            if ready.key is not None:
                found[ready.key] = ready.step.output_path or []
        return found

    def resolve(self, ready: ReadyStep, max_bytes: int) -> Mapping[Way, Any]:
        """Return the value of each reference, or raise ParameterError if one has none or all are too large."""
        found = {}
        left = max_bytes
        for reference in ready.references:
            value = self._value_of(reference, ready.sources[reference.at])
            text = encode(value)
            left -= len(text)
            if left < 0:
                place = _place(reference)
                message = f"What the step refers to is larger than {max_bytes:,} bytes of JSON, up to {place}"
                raise ParameterError(message, {"field": place})
            # A copy, because a tool may change its parameters.
            found[reference.at] = json.loads(text) if isinstance(value, dict | list) else value
        return found

    def _value_of(self, reference: Reference, source: int | None) -> Any:
        response = self._under(reference.key, source)
        reason = f"no step has stored '{reference.key}'"
        if response is not None:
            reason = "that step failed" if _is_failure(response) else "nothing is there"
            if not _is_failure(response):
                value = self._at(reference, response, source)
                if value is not None:
                    return value
        if reference.has_default:
            return reference.default
        place = _place(reference)
        # The owner of this step has to act on the remarks of the earlier one.
        details = details_of(response)
        hint = None
        if "candidates" in details and source is not None:
            reason = f"step {source} returned candidates"
            hint = f"Choose a candidate of step {source}, and write its token in place of the text"
        message = f"The {reference}, in parameters.{place}, found no value: {reason}"
        raise ParameterError(message, {"field": place, **details}, hint=hint)

    def _at(self, reference: Reference, response: Any, source: int | None) -> Any:
        if reference.path is not None:
            return reference.find_in(response)
        if source is None:
            path = self._given.paths.get(reference.key, [])
        else:
            path = self._valid.steps[source].step.output_path or []
        return walk(response, path)

    def _under(self, key: str, source: int | None) -> Any:
        return self._given.values.get(key) if source is None else self.response_of(source)

    def _keyed(self, numbers: Iterable[int]) -> dict[str, Any]:
        found = dict(self._given.values)
        for ready in self._in_order(numbers):
            if ready.key is not None:
                found[ready.key] = self.response_of(ready.step.step_id)
        return found

    def _in_order(self, numbers: Iterable[int]) -> list[ReadyStep]:
        known = [number for number in numbers if number in self._valid.steps]
        return [self._valid.steps[n] for n in sorted(known, key=lambda n: (len(self._valid.before[n]), n))]


def list_items(
    plan: Mapping[str, Any], created_at: str, steps: Mapping[int, StepRecord], events: Iterable[Event]
) -> list[dict[str, Any]]:
    """Return the memory items of a run in order: plan, tool_result, tool_error, step_skipped, step_failed (F4)."""
    items: list[dict[str, Any]] = [{"type": "plan", "goal": plan["goal"], "plan": dict(plan), "timestamp": created_at}]
    by_id = {step["step_id"]: step for step in plan["steps"]}
    for event in events:
        data = json.loads(event.data) if event.data is not None else {}
        step = by_id.get(event.step_id) if event.step_id is not None else None
        if event.kind == "plan_changed":
            items.append({"type": "plan", **data, "timestamp": event.at})
        if step is None or event.step_id is None:
            continue
        head = {"step_id": event.step_id, "description": step["description"], "tool": step["tool"]}
        record = steps.get(event.step_id)
        output = json.loads(record.output) if record is not None and record.output is not None else None
        if event.kind == "step_completed":
            key = step["expected_key"]
            items.append({"type": "tool_result", **head, "key": key, "result": output, "timestamp": event.at})
        elif event.kind == "step_skipped":
            fields = {name: step[name] for name in ("expected_key", "output_path", "done_check")}
            items.append({"type": "step_skipped", **head, **fields, "reason": data["reason"], "timestamp": event.at})
        elif event.kind in ("attempt_failed", "step_failed"):
            kind = "tool_error" if event.kind == "attempt_failed" else "step_failed"
            items.append({"type": kind, **head, **data, "timestamp": event.at})
    return items


def _place(reference: Reference) -> str:
    return ".".join(map(str, reference.at))


def _is_failure(response: Any) -> bool:
    return isinstance(response, dict) and response.get("success") is False
