"""Imports of fingerpost's own modules that do not stand at the top of a file, and what each keeps out of the start.

``python tests/project/hidden_imports.py --write`` writes the list beside this file; without ``--write`` it is printed.
An import is hidden where it stands in a function, or under ``if TYPE_CHECKING``.
What it keeps out is read from the files, not by running them: the packages that the imported module loads when it is
imported, itself or by way of others, and the importing module does not load otherwise.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

SRC = Path(__file__).resolve().parents[2] / "src"
LIST = Path(__file__).with_name("hidden_imports.txt")
PACKAGE = "fingerpost"
# Of the standard library, what is worth keeping out of a start.
SLOW_STDLIB = frozenset({"multiprocessing", "sqlite3", "ssl"})
NOTHING = "nothing"

_HEAD = f"""\
# Imports of our own package that stand in functions or under TYPE_CHECKING.
# Written by: python tests/project/hidden_imports.py --write
# importing module | imported module | what it keeps out of the importing module's start
# A line that keeps out {NOTHING} belongs at the top of its file.
"""


class HiddenImport(NamedTuple):
    """One module that another imports late, and the packages that this keeps out of its start."""

    importer: str
    imported: str
    kept_out: tuple[str, ...]

    @property
    def line(self) -> str:
        """The import as a line of the list."""
        return f"{self.importer} | {self.imported} | {', '.join(self.kept_out) or NOTHING}"


def list_hidden_imports() -> list[HiddenImport]:
    """Return every hidden import of the package, each pair of modules once, sorted."""
    pairs = {
        (importer, imported)
        for importer in list_modules()
        for imported, is_hidden in _list_imports(importer)
        if is_hidden and imported in list_modules()
    }
    return [HiddenImport(*pair, _keeps_out(*pair)) for pair in sorted(pairs)]


def render_list() -> str:
    """Return the whole text of the list."""
    return _HEAD + "".join(f"{hidden.line}\n" for hidden in list_hidden_imports())


@cache
def list_modules() -> dict[str, Path]:
    """Return the package's modules by name."""
    modules = {}
    for path in sorted((SRC / PACKAGE).rglob("*.py")):
        parts = path.relative_to(SRC).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def _keeps_out(importer: str, imported: str) -> tuple[str, ...]:
    return tuple(sorted(_loads(imported) - _loads(importer)))


@cache
def _loads(module: str) -> frozenset[str]:
    """Return the packages from outside, and the slow ones of Python, that are loaded once a module is imported."""
    seen: set[str] = set()
    waiting = [module]
    outside: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if name not in list_modules():
            outside.add(name.split(".")[0])
            continue
        waiting += [parent for parent in [name.rpartition(".")[0]] if parent]
        waiting += [imported for imported, is_hidden in _list_imports(name) if not is_hidden]
    return frozenset(name for name in outside if name not in sys.stdlib_module_names or name in SLOW_STDLIB)


@cache
def _list_imports(module: str) -> tuple[tuple[str, bool], ...]:
    """Return what a module imports, and whether that is hidden."""
    tree = ast.parse(list_modules()[module].read_text(encoding="utf-8"))
    return tuple((name, is_hidden) for node, is_hidden in _walk(tree, is_hidden=False) for name in _list_names(node))


def _walk(node: ast.AST, *, is_hidden: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, is_hidden
            continue
        hides = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or _is_for_types_only(child)
        yield from _walk(child, is_hidden=is_hidden or hides)


def _is_for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _list_names(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Return the modules that a statement loads: ``from a import b`` loads a.b where that is a module, else a."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    module = node.module or ""
    inside = [f"{module}.{alias.name}" for alias in node.names]
    return [name if name in list_modules() else module for name in inside]


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        LIST.write_text(render_list(), encoding="utf-8")
    else:
        sys.stdout.write(render_list())
