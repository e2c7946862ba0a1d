"""One name, one class: whoever reads a class's name need not ask which one is meant."""

import ast
from collections import defaultdict

from tests.project.sources import list_python, parse, shown

# The name, and why two classes may share it.
SHARED = {
    "Reply": "filings.reply.Reply is what a query on figures found; contract.published.Reply is what a tool hands back",
}


def list_class_names():
    """Return {name: files} of every class of the package, nested ones included."""
    files = defaultdict(list)
    for path in list_python("src"):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ClassDef):
                files[node.name].append(shown(path))
    return files


def test_a_class_name_is_used_once():
    """A second class of a name takes another one, or stands in ``SHARED`` with a reason."""
    twice = {name: files for name, files in list_class_names().items() if len(files) > 1 and name not in SHARED}

    assert twice == {}


def test_an_exception_that_is_none_is_removed():
    """``SHARED`` names only what is shared today."""
    names = list_class_names()

    assert [name for name in SHARED if len(names[name]) < 2] == []
