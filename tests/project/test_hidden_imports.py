"""An import of our own that is not at the top of its file keeps the start light, or it is not there."""

import re

from tests.project.hidden_imports import LIST, list_hidden_imports, render_list
from tests.project.sources import list_python, shown


def test_the_list_of_hidden_imports_is_what_the_code_says():
    """``python tests/project/hidden_imports.py --write`` would change nothing, so a new one is seen in review."""
    assert LIST.read_text(encoding="utf-8") == render_list()


def test_every_hidden_import_keeps_a_package_out_of_the_start():
    """What loads nothing that its importer does not load anyway is imported at the top."""
    needless = {(hidden.importer, hidden.imported) for hidden in list_hidden_imports() if not hidden.kept_out}

    assert needless == set()


def test_a_hidden_import_is_seen_with_what_it_keeps_out():
    """Compiling the engine is imported where it is begun: it brings numpy, which a server's first answer must not."""
    found = {(hidden.importer, hidden.imported): hidden.kept_out for hidden in list_hidden_imports()}

    assert found["fingerpost.apps.warm_up", "fingerpost.transit.engine.raptor.warming"] == ("numpy",)


def test_only_the_public_names_are_imported_by_text():
    """``import_module`` would hide from the list; it serves ``fingerpost``'s lazy names, and engines under test."""
    called = re.compile(r"\b(import_module|__import__)\(")
    found = [shown(path) for path in list_python("src") if called.search(path.read_text(encoding="utf-8"))]

    assert found == ["src/fingerpost/__init__.py", "src/fingerpost/testing/engines/engine.py"]
