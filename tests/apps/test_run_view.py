"""The tree of a run at a terminal."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from fingerpost.apps.cli import run_view
from fingerpost.apps.cli.run_view import Tree


@pytest.mark.parametrize(
    ("kind", "said"), [("step_started", "look  plan_trip  61 s"), ("step_completed", "look  plan_trip")]
)
def test_a_step_that_lasts_shows_for_how_long(monkeypatch, kind, said):
    """While it runs, in seconds; the picture that is left standing has no clock."""
    screen, now = io.StringIO(), [1000.0]
    step = SimpleNamespace(step_id=1, description="look", tool="plan_trip", agent=None)
    monkeypatch.setattr(run_view, "plan_of", lambda _run: SimpleNamespace(goal="Get there", steps=[step]))
    monkeypatch.setattr(
        run_view, "new_console", lambda **_: Console(file=screen, force_terminal=True, width=60, color_system=None)
    )
    monkeypatch.setattr(run_view.time, "monotonic", lambda: now[0])
    tree = Tree(SimpleNamespace(steps={}))
    tree.watch(SimpleNamespace(kind="step_started", step_id=1))
    now[0] += 61
    if kind != "step_started":
        tree.watch(SimpleNamespace(kind=kind, step_id=1))
    drawn = Console(file=io.StringIO(), width=60)
    drawn.print(tree._draw())

    assert drawn.file.getvalue().splitlines()[-1].rstrip().endswith(said)
