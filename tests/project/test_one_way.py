"""What stands in one place of the package, and nowhere else."""

import ast

from tests.project.sources import SRC, list_python, parse

OPENER = SRC / "store" / "sqlite.py"
# A process of its own, which imports the standard library alone: somebody else's SQL runs in it, and it is killed.
SANDBOX = SRC / "filings" / "sandbox_process.py"


def connects(tree):
    """Return whether a module calls or names ``sqlite3.connect``, in whatever spelling of the import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "sqlite3":
            return True
        if isinstance(node, ast.Import) and any(each.name == "sqlite3" and each.asname for each in node.names):
            return True
        if isinstance(node, ast.Attribute) and (node.attr, getattr(node.value, "id", "")) == ("connect", "sqlite3"):
            return True
    return False


def test_one_module_opens_sqlite():
    """How a file is opened, and what its errors mean, is decided in ``store/sqlite.py`` alone."""
    assert [path for path in list_python("src") if connects(parse(path))] == [SANDBOX, OPENER]


def test_a_second_opener_would_be_seen():
    """The search knows the spellings that Python allows."""
    spellings = ("import sqlite3\nsqlite3.connect('x')", "from sqlite3 import connect", "import sqlite3 as sql")

    assert [connects(ast.parse(text)) for text in (*spellings, "import sqlite3\nsqlite3.Error")] == [True] * 3 + [False]
