"""What a terminal shows while a command works for longer than a second."""

import ast
import io
import threading
from functools import partial
from pathlib import Path

import pytest
import typer
from rich.console import Console

from fingerpost.apps import cli
from fingerpost.apps.cli import waiting
from fingerpost.apps.cli.app import app
from fingerpost.apps.cli.output import new_console, print_json, say
from fingerpost.apps.cli.typed_input import read_stdin
from fingerpost.apps.cli.waiting import SignOfLife, screen_taken, showing_life, showing_work
from fingerpost.errors import SettingsInvalid

# Why a command shows no sign of life.
SHOWS_NONE = {
    "serve": "its stderr is a log",
    "worker": "its stderr is a log",
    "web": "it says at once where it listens, then its stderr is a log",
}
ERASED = "\x1b[2K"


class Screen(io.StringIO):
    """What was written, and when a sign of life first was."""

    def __init__(self):
        super().__init__()
        self.signs = threading.Semaphore(0)

    def write(self, text):
        if " ..." in text:
            self.signs.release()
        return super().write(text)

    def wait(self):
        """Wait until the sign is written once more."""
        assert self.signs.acquire(timeout=20)


def sign(screen, *, is_terminal=True, after_s=0.0):
    """Return a sign of life on a screen."""
    return SignOfLife(Console(file=screen, force_terminal=is_terminal, width=60, color_system=None), after_s)


def test_long_work_is_shown_and_gone_afterwards():
    """Its words and how long the command has taken; the line is erased at the end."""
    screen = Screen()
    with showing_life(sign(screen)):
        screen.wait()
        with showing_work("Loading [b] ..."):
            while "Loading" not in screen.getvalue():
                screen.wait()

    assert "Working ... 0:00:0" in screen.getvalue()
    assert "Loading [b] ... 0:00:0" in screen.getvalue()
    assert screen.getvalue().rstrip().endswith(ERASED)


def test_quick_work_and_work_in_a_pipe_show_nothing():
    """Less than the time after which it begins; and no terminal."""
    for quiet in (sign(Screen(), after_s=60), sign(Screen(), is_terminal=False)):
        with showing_life(quiet), showing_work("Loading ..."):
            pass
        assert quiet._console.file.getvalue() == ""

    assert waiting.AFTER_S == 1.0


def test_what_the_interpreter_worked_before_counts():
    """A command that took a minute to load has been silent for a minute."""
    screen = Screen()
    console = Console(file=screen, force_terminal=True, width=60, color_system=None)
    with showing_life(SignOfLife(console, after_s=60, worked_s=61)):
        screen.wait()

    assert "Working ... 0:01:0" in screen.getvalue()


@pytest.mark.parametrize(
    "show",
    [lambda: say("x"), lambda: print_json({}), lambda: new_console().print("x"), lambda: new_console().print()],
    ids=["say", "json", "print", "nothing"],
)
def test_the_line_is_erased_before_anything_is_printed(show, capsys):
    """A message, an envelope and a table each find an empty line; until a second has passed again nothing is drawn."""
    screen = Screen()
    shown = sign(screen)
    with showing_life(shown):
        screen.wait()
        shown._after_s = 60
        show()
        assert screen.getvalue().endswith(ERASED)
    capsys.readouterr()


def test_who_draws_or_types_has_the_screen(monkeypatch):
    """Bars, a tree, a board that is followed, and a person's typing on stdin."""
    screen = Screen()

    class Typed(io.BytesIO):
        def read(self, *_):
            before = screen.getvalue()
            shown._thread.join(0.05)
            assert screen.getvalue() == before
            return b"{}"

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(Typed()))
    shown = sign(screen)
    with showing_life(shown):
        screen.wait()
        assert read_stdin() == b"{}"
        with screen_taken():
            assert screen.getvalue().endswith(ERASED)


def list_commands(group, *words):
    """Yield the words of each command that ends by itself or listens, and the command."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from list_commands(command, *words, name)
        else:
            yield (*words, name), command


COMMANDS = dict(list_commands(typer.main.get_command(app)))


def test_every_command_shows_that_it_works_or_says_why_not(monkeypatch):
    """Each is called with what it needs; while its settings are read, which takes long here, the sign is on the screen.

    A command that reads no settings, which is one that prints a constant, is called through to its end.
    """
    quiet, constant = [], []
    for words, command in COMMANDS.items():
        screen, seen = Screen(), []

        def read_slowly(screen=screen, seen=seen, **_):
            # The first to be long has the sign, or will never have one.
            seen.append(bool(waiting._running) and screen.signs.acquire(timeout=20))
            raise SettingsInvalid("slow")

        monkeypatch.setattr("fingerpost.apps.settings.read_settings", read_slowly)
        console = Console(file=screen, force_terminal=True, width=60, color_system=None)
        monkeypatch.setattr("fingerpost.apps.cli.working_command.SignOfLife", partial(SignOfLife, console, 0))
        needed = ["1" for each in command.params if each.required for _ in range(abs(each.nargs))]
        extra = {("vars", "delete"): ["--all"], ("stops",): ["2"], ("filings", "show"): ["revenue", "2022"]}.get(
            words, []
        )
        with pytest.raises(SystemExit):
            typer.main.get_command(app)([*words, *needed, *extra], prog_name="fingerpost")
        if not seen:
            constant.append(" ".join(words))
        elif not all(seen):
            quiet.append(" ".join(words))

    assert sorted(quiet) == sorted(SHOWS_NONE)
    assert constant == ["network schema"]


def test_a_log_takes_the_place_of_the_sign(monkeypatch, invoke):
    """``--verbose`` shows on stderr what happens."""
    monkeypatch.setattr("fingerpost.apps.cli.working_command.SignOfLife", None)

    assert invoke("--verbose", "network", "schema").returncode == 0


def find_calls(tree, names):
    """Return the names of some functions that a module calls, as ``sys.stdin.read`` or ``print``."""
    calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {call for call in calls if call in names or call.startswith("sys.std")}


def test_whatever_prints_makes_way_first():
    """The commands print with the functions of ``output.py``, read with ``read_stdin``; who draws takes the screen."""
    taking = {"import_bars.py": ("network_sources.py", "filings_load.py"), "run_view.py": ("plan_commands.py",)}
    printing = {}
    for file in sorted(Path(cli.__file__).parent.glob("*.py")):
        tree = ast.parse(file.read_text())
        printing[file.name] = find_calls(tree, ("typer.echo", "print", "Console"))
        if find_calls(tree, ("Live", "Progress", "ImportBars")) and file.name != "waiting.py":
            for user in taking.get(file.name, (file.name,)):
                assert "screen_taken()" in (file.parent / user).read_text(), file.name

    assert {name: calls for name, calls in printing.items() if calls} == {
        # The version, before any command begins.
        "app.py": {"typer.echo"},
        "output.py": {"typer.echo"},
        "typed_input.py": {"sys.stdin.buffer.read"},
        "waiting.py": {"Console"},
    }
