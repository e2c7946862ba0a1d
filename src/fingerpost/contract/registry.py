"""The registry of tool specifications (plan-step contract, statement S59)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from fingerpost.contract.spec import ToolSpec
from fingerpost.errors import BrokenContract


class ToolRegistry:
    """All tool specifications of this process, by name."""

    _specs: ClassVar[dict[str, ToolSpec]] = {}

    @classmethod
    def register(cls, spec: ToolSpec) -> None:
        """Add a specification; the same one twice is once.

        Raises:
            BrokenContract: another specification already has that name.
        """
        if cls._specs.setdefault(spec.name, spec) != spec:
            raise BrokenContract(f"Two different tools are called '{spec.name}'")

    @classmethod
    def replace(cls, spec: ToolSpec) -> None:
        """Add a specification in place of another of its name: a tool of one's own may be defined anew."""
        cls._specs[spec.name] = spec

    @classmethod
    def get_tool_spec(cls, name: str) -> ToolSpec | None:
        """Return the specification, or None for an unknown name: the contract's own word for a find."""
        return cls._specs.get(name)

    @classmethod
    def list_tool_specs(cls) -> list[ToolSpec]:
        """Return all specifications, by name."""
        return [cls._specs[name] for name in sorted(cls._specs)]

    @classmethod
    def clear(cls) -> None:
        """Forget all specifications."""
        cls._specs = {}

    @classmethod
    @contextmanager
    def only(cls, *specs: ToolSpec) -> Iterator[None]:
        """Replace all specifications for a block, then restore them."""
        before, cls._specs = cls._specs, {}
        try:
            for spec in specs:
                cls.register(spec)
            yield
        finally:
            cls._specs = before
