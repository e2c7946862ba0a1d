"""Create mutants of a module, as mutmut does, and activate one in a running process."""

import difflib
import functools
import gc
import importlib
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import libcst
from mutmut.mutation.file_mutation import create_mutations


@dataclass(frozen=True, slots=True)
class Mutant:
    path: Path
    module: str
    function: str
    before: str
    make: Any

    @property
    def source(self) -> str:
        return str(self.make())

    def describe(self) -> str:
        before, after = self.before.splitlines(), self.source.splitlines()
        changes = [
            line
            for line in difflib.unified_diff(before, after, lineterm="", n=0)
            if not line.startswith(("---", "+++"))
        ]
        number = changes[0].split()[1].lstrip("-").partition(",")[0] if changes else "?"
        lines = [f"    {line[0]} {line[1:].strip()}" for line in changes if not line.startswith("@@")]
        return "\n".join([f"{self.path.name}:{number} {self.function}", *lines[:8]])


def find_mutants(path: Path, source_root: Path) -> list[Mutant]:
    before = path.read_text()
    tree, mutations, _, _ = create_mutations(str(path), before)
    module = ".".join(path.relative_to(source_root).with_suffix("").parts)
    names = dict(_name_functions(tree.body, ""))
    return [
        Mutant(
            path,
            module,
            names[id(each.contained_by_top_level_function)],
            before,
            functools.partial(_replaced, tree, each.original_node, each.mutated_node),
        )
        for each in mutations
        if id(each.contained_by_top_level_function) in names
    ]


def put_in_force(mutant: Mutant) -> None:
    """Give the live function the code of the changed one; whoever has imported it runs that from now on."""
    live = importlib.import_module(mutant.module)
    changed = types.ModuleType(mutant.module)
    changed.__dict__.update(__file__=live.__file__, __package__=live.__package__)
    exec(compile(mutant.source, str(mutant.path), "exec", dont_inherit=True), changed.__dict__)
    target, source = _function(live, mutant.function), _function(changed, mutant.function)
    target.__code__ = source.__code__
    target.__defaults__ = source.__defaults__
    target.__kwdefaults__ = source.__kwdefaults__


def forget_caches() -> None:
    """Empty what functions of fingerpost have kept of earlier calls."""
    for each in gc.get_objects():
        if hasattr(type(each), "cache_clear") and str(each.__module__).startswith("fingerpost"):
            each.cache_clear()


def _replaced(tree: libcst.Module, before: libcst.CSTNode, after: libcst.CSTNode) -> str:
    changed = tree.deep_replace(before, after)
    assert isinstance(changed, libcst.Module)
    return changed.code


def _name_functions(body: Any, prefix: str) -> Iterator[tuple[int, str]]:
    for node in body:
        if isinstance(node, libcst.FunctionDef):
            yield id(node), prefix + node.name.value
        elif isinstance(node, libcst.ClassDef) and isinstance(node.body, libcst.IndentedBlock):
            yield from _name_functions(node.body.body, f"{prefix}{node.name.value}.")


def _function(module: types.ModuleType, name: str) -> types.FunctionType:
    found: Any = module
    for part in name.split("."):
        found = found.__dict__[part]
    while not isinstance(found, types.FunctionType) or hasattr(found, "__wrapped__"):
        for wrapped in ("__wrapped__", "__func__", "fget", "func"):
            if hasattr(found, wrapped):
                found = getattr(found, wrapped)
                break
        else:
            raise LookupError(f"{name} is no function")
    return found
