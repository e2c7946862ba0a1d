"""What a terminal shows while a command works for longer than a second."""

import io
import threading
from contextlib import contextmanager

from rich.console import Console

from fingerpost.apps.cli import waiting
from fingerpost.apps.cli.waiting import showing_work


class Screen(io.StringIO):
    """What was written, and when something first was."""

    def __init__(self):
        super().__init__()
        self.written = threading.Event()

    def write(self, text):
        if "Loading" in text:
            self.written.set()
        return super().write(text)


def work(*, is_terminal, after_s, until=None):
    """Work until something was shown, or not at all; return what was written."""
    screen = Screen()
    console = Console(file=screen, force_terminal=is_terminal, width=60, color_system=None)
    with showing_work("Loading ...", console, after_s):
        if until == "shown":
            assert screen.written.wait(20)
    return screen.getvalue()


def test_long_work_is_shown_and_gone_afterwards():
    """Its words and how long it has taken; the line is erased at the end."""
    written = work(is_terminal=True, after_s=0, until="shown")

    assert "Loading ... 0:00:0" in written
    assert written.rstrip().endswith("\x1b[2K")


def test_quick_work_and_work_in_a_pipe_show_nothing():
    """Less than the time after which it begins; and no terminal, however long it takes."""
    assert work(is_terminal=True, after_s=60) == ""
    assert work(is_terminal=False, after_s=0) == ""


def test_questions_are_asked_with_a_sign_of_life(application, monkeypatch, invoke):
    """Plan, board, find, stops, timetable and the demo; a board that is followed shows itself."""
    shown = []

    @contextmanager
    def note(what, *_):
        shown.append(what)
        yield

    monkeypatch.setattr("fingerpost.apps.cli.application.showing_work", note)
    for command in (
        ("plan", "Kamppi", "DEMO-HELSINKI:ESPOO"),
        ("departures", "Kamppi"),
        ("find", "Kamppi"),
        ("stops", "60.17", "24.93"),
        ("timetable", "Kamppi"),
        ("demo",),
    ):
        before = len(shown)
        assert invoke(*command).returncode == 0
        assert len(shown) > before

    assert waiting.AFTER_S == 1.0
