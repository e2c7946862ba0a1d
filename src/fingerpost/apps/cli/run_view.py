"""Print a plan run, or follow it live."""

import json
import time

from rich.live import Live
from rich.text import Text
from rich.tree import Tree as RichTree

from fingerpost.apps.cli.output import new_console, plain
from fingerpost.plan.plan_json import plan_of
from fingerpost.plan.records import Event, RunRecord
from fingerpost.plan.run_shapes import RunView
from fingerpost.plan.view import list_step_lines

_MARKS = {
    "pending": ("·", "dim"),
    "started": ("…", "yellow"),
    "completed": ("✓", "green"),
    "skipped": ("↷", "cyan"),
    "failed": ("✗", "red"),
    "waiting": ("?", "magenta"),
}
_MOST_VALUE_CHARS = 200


class Tree:
    """A live tree of a run's steps; off a terminal, one line per change."""

    def __init__(self, run: RunRecord) -> None:
        self._console = new_console(stderr=True)
        self._plan = plan_of(run)
        self._states = {step.step_id: "pending" for step in self._plan.steps}
        self._states |= {number: record.state for number, record in run.steps.items() if number in self._states}
        self._begun_s = dict.fromkeys(self._states, time.monotonic())
        # Drawn anew every second: a step that lasts shows for how long.
        self.live = (
            Live(get_renderable=self._draw, console=self._console, refresh_per_second=1)
            if self._console.is_terminal
            else None
        )

    def watch(self, event: Event) -> None:
        state = event.kind.removeprefix("step_")
        if event.step_id is None or state not in _MARKS:
            return
        self._states[event.step_id] = state
        self._begun_s[event.step_id] = time.monotonic()
        if self.live is not None:
            self.live.refresh()
        elif state != "started":
            self._console.print(self._line(event.step_id))

    def _draw(self) -> RichTree:
        tree = RichTree(Text(plain(self._plan.goal)))
        for step in self._plan.steps:
            tree.add(self._line(step.step_id))
        return tree

    def _line(self, number: int) -> Text:
        step = next(step for step in self._plan.steps if step.step_id == number)
        mark, style = _MARKS[self._states[number]]
        lasts_s = int(time.monotonic() - self._begun_s[number]) if self._states[number] == "started" else 0
        return Text.assemble(
            (mark, style),
            plain(f" {number}. {step.description}"),
            (plain(f"  {step.tool or step.agent or ''}"), "dim"),
            f"  {lasts_s} s" if lasts_s else "",
        )


def print_run(view: RunView, *, with_steps: bool = True) -> None:
    console = new_console()
    progress = view["progress"]
    console.print(f"{view['state']}: {progress['completed']} of {progress['total']} steps. Run {view['run_id']}")
    for step in view["steps"]:
        if with_steps:
            state = "skipped" if step["skipped"] else "waiting" if step["waiting"] else step["status"]
            console.print(plain(f"  {step['step_id']}. {step['description']}: {state}"))
    question = json.dumps({"run_id": view["run_id"], "include": ["memory"]})
    for line in list_step_lines(view["steps"], view["remarks_left_out"], f"fingerpost call get_plan_run '{question}'"):
        console.print(plain(f"  {line}"))
    for each in view["values"]:
        text = "too long to show" if each["left_out"] else json.dumps(each.get("value"), ensure_ascii=False)
        shown = text if len(text) <= _MOST_VALUE_CHARS else f"{text[:_MOST_VALUE_CHARS]}…"
        console.print(plain(f"  {each['key']} = {shown}"))
    if view["state"] == "waiting":
        console.print(f"Decide with: fingerpost runs approve {view['run_id']} {view['waiting_for'][0]}")
    elif view["resumable"]:
        console.print(f"Go on with: fingerpost runs resume {view['run_id']}")
    elif view["state"] == "failed":
        again = f"fingerpost run PLAN.json --memory-of {view['run_id']}"
        console.print(f"It would fail again as it stands. Change the plan, and keep what was found: {again}")
