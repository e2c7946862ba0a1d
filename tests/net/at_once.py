"""Processes that are started one by one and then act at the same instant."""

import subprocess
from contextlib import ExitStack


def tell_at_once(*commands, env=None):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with ExitStack() as begun:
        processes = [begun.enter_context(subprocess.Popen(command, env=env, **pipes)) for command in commands]
        assert [process.stdout.readline() for process in processes] == ["ready\n"] * len(commands)
        for process in processes:
            process.stdin.write("\n")
            process.stdin.flush()
        said = [process.stdout.readline() for process in processes]
    assert [process.returncode for process in processes] == [0] * len(commands)
    return said
