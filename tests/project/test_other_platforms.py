"""Importing the package needs no Unix-only module."""

import subprocess
import sys

from tests.project.sources import SRC, list_imports, list_python, parse

# Standard modules that Python for Windows does not have.
UNIX_ONLY = ("fcntl", "grp", "pwd", "resource", "termios")
# Asks for the platform first, so that hiding a module says nothing about it.
ASKS_THE_PLATFORM = {"mcp.server.stdio"}
IMPORT_ALL = """
import builtins, importlib, sys
hidden, excused, modules = (line.split() for line in sys.stdin)
real = {name: importlib.import_module(name) for name in hidden}
plain_import = builtins.__import__

def import_as_on_windows(name, globals=None, *rest, **named):
    if name in real and (globals or {}).get("__name__") in excused:
        return real[name]
    return plain_import(name, globals, *rest, **named)

builtins.__import__ = import_as_on_windows
sys.modules.update(dict.fromkeys(hidden))
for module in modules:
    try:
        importlib.import_module(module)
    except ImportError as error:
        print(module, error)
"""


def list_modules():
    return [name for name in map(name_of, list_python("src")) if not name.endswith(".__main__")]


def name_of(path):
    return ".".join(path.relative_to(SRC.parent).with_suffix("").parts).removesuffix(".__init__")


def fails_on_windows(modules, excused=()):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", IMPORT_ALL],
        input="\n".join(" ".join(names) for names in (UNIX_ONLY, sorted({*excused, *ASKS_THE_PLATFORM}), modules)),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_no_module_names_one_that_only_unix_has():
    users = {name_of(path) for path in list_python("src") if set(list_imports(parse(path))) & set(UNIX_ONLY)}

    assert users == set()


def test_every_module_can_be_imported_where_those_are_missing():
    assert fails_on_windows(list_modules()) == []


def test_a_module_that_needs_one_would_be_seen(tmp_path, monkeypatch):
    (tmp_path / "needs_locks.py").write_text("import fcntl\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    assert fails_on_windows(["needs_locks", "fingerpost.errors"]) == [
        "needs_locks import of fcntl halted; None in sys.modules"
    ]
    assert fails_on_windows(["needs_locks"], {"needs_locks"}) == []
