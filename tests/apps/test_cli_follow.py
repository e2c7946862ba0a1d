"""``fingerpost departures --follow``: a board that is asked for again and again, until Ctrl-C."""

import asyncio
import contextlib
import json
import os
import pty
import signal
import subprocess

import pytest
import typer

from fingerpost.apps.cli.follow_board import follow_board
from fingerpost.apps.demo_disruption import disrupt_demo
from fingerpost.apps.error_boundary import answer
from tests.apps.processes import COMMAND, DEADLINE_S

pytestmark = pytest.mark.slow

KAMPPI = {"stop": {"type": "label", "value": "DEMO-HELSINKI:KAMPPI"}, "limit": 4}
ENDING = "updates every 30 s, Ctrl-C ends"


def waiting(*steps):
    left = list(steps)

    async def wait(_seconds):
        if not left:
            raise KeyboardInterrupt
        await left.pop(0)()

    return wait


def follow(application, arguments, *steps, as_json=False):
    follow_board(application, arguments, every_s=30, as_json=as_json, wait=waiting(*steps))


def test_a_cancellation_is_on_the_next_board(application, capsys):
    follow(application, KAMPPI, lambda: disrupt_demo(application))
    out, err = capsys.readouterr()
    boards = out.split("Kamppi (DEMO-HELSINKI:KAMPPI)")[1:]

    assert ["CANCELLED" in board for board in boards] == [False, True]
    assert ["live, as of 08:00:00" in board for board in boards] == [False, True]
    assert [ENDING in board for board in boards] == [True, True]
    assert err == ""


def test_as_json_each_answer_is_a_line(application, capsys):
    follow(application, KAMPPI, lambda: disrupt_demo(application), as_json=True)
    bodies = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert [body["realtimeUsed"] for body in bodies] == [False, True]


def test_a_later_failure_leaves_the_board_and_says_why(application, capsys):
    """The saved name by which the stop was asked for is deleted meanwhile."""
    place = {"lat": 60.1689, "lon": 24.9314, "stopId": "DEMO-HELSINKI:KAMPPI"}

    async def call(tool, arguments):
        assert not (await answer(application.tools, tool, arguments, user=application.settings.user)).is_error

    async def save_and_follow(_seconds):
        await call("delete_user_variable", {"key": "my own stop"})

    async def prepare():
        await call("save_user_variable", {"key": "my own stop", "type": "location", "value": place})
        await application.networks.close()

    asyncio.run(prepare())
    arguments = {"stop": {"type": "label", "value": "my own stop"}, "limit": 2}
    follow(application, arguments, lambda: save_and_follow(0))
    first, second = capsys.readouterr().out.split("(DEMO-HELSINKI:KAMPPI)")[1:]

    assert "Could not update" not in first
    assert "! Could not update: Stop 'my own stop' matches no saved variable" in second
    assert "Tapiola" in second


@pytest.mark.parametrize("as_json", [False, True])
def test_a_stop_that_nobody_knows_ends_it_at_once(application, capsys, as_json):
    with pytest.raises(typer.Exit) as ended:
        follow(application, {"stop": {"type": "label", "value": "Nowhere at all"}}, as_json=as_json)
    printed = capsys.readouterr()

    assert ended.value.exit_code == 1
    assert (printed.out if as_json else printed.err).count("Nowhere at all") == 1


def test_it_does_not_go_with_a_time(invoke):
    ended = invoke("departures", "Kamppi", "--follow", "--at", "09:00")

    assert ended.returncode == 2
    assert "--follow shows departures from now on" in ended.stderr


def read_to_end(terminal):
    seen = b""
    # Linux says so when the other end is closed.
    with os.fdopen(terminal, "rb", buffering=0) as stream, contextlib.suppress(OSError):
        while part := stream.read(4096):
            seen += part
    return seen


def test_at_a_terminal_it_is_redrawn_and_ctrl_c_ends_it_well(home):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "departures", "DEMO-HELSINKI:KAMPPI", "--limit", "2", "--follow"],
        stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm"}, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    while b"Ctrl-C ends" not in seen:
        seen += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    status = process.wait(DEADLINE_S)
    seen += read_to_end(ours)

    assert status == 0
    assert seen.rindex(b"\x1b[?25h") > seen.rindex(b"\x1b[?25l")
    assert b"Traceback" not in seen
