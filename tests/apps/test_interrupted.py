"""Ctrl-C ends a command without a traceback, however early it comes."""

import subprocess
import sys

import pytest

# The interrupt comes while a module of the command line is imported, as a person's does on a slow machine.
INTERRUPTED_AT = """
import builtins, signal, os
imported = builtins.__import__
def interrupted(name, *rest):
    if name == {name!r}:
        os.kill(os.getpid(), signal.SIGINT)
    return imported(name, *rest)
builtins.__import__ = interrupted
from fingerpost.apps.cli import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
@pytest.mark.parametrize("name", ["typer", "rich.console"])
def test_an_interrupt_during_the_imports_ends_quietly(name):
    """Its status is that of a command that was interrupted later."""
    command = [sys.executable, "-c", INTERRUPTED_AT.format(name=name), "version"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")
