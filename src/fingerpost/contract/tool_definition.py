"""The value types of a served tool: its definition, one call, the handler's reply, and the finished answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from fingerpost.contract.envelope import Contract
from fingerpost.contract.failure_shapes import FAILURE_SHAPES
from fingerpost.contract.tool import ToolSpec
from fingerpost.contract.wire import Shape, Wire, WireModel, build_json_schema
from fingerpost.errors import ToolError

Path = tuple[str, ...]
"""The keys that lead to a part of an answer; ``*`` is every key of an object."""

ReportProgress = Callable[[float, float, str], None]
"""Reports the amount done, the total, and a sentence; it never blocks and never raises."""


def ignore_progress(_done: float, _total: float, _words: str) -> None:
    """Discard a progress report."""


@dataclass(frozen=True, slots=True)
class Output:
    """One shape of a tool's answers.

    Long answers are truncated at ``truncatable_paths``; ``continuation_hint`` explains how to get the rest (rule A11).
    """

    shape: Shape
    truncatable_paths: tuple[Path, ...] = ()
    continuation_hint: str = "Ask for less."


@dataclass(frozen=True, kw_only=True)
class ToolDefinition:
    """The static description of a tool: its schemas, contract and annotations.

    Attributes:
        name: the name in the contract.
        description: explains to agents when to use this tool rather than a similar one.
        contract: the contract whose envelope renders the tool's errors.
        group: the group of tools that operators can enable, such as ``core``.
        input_model: the model of the arguments; None if the handler parses them itself.
        input_json_schema: the published schema of the arguments, if it differs from that of ``input_model``.
        outputs: the shapes of the answers; a reply that does not have the first shape sets its output.
        missing_messages: the contract's sentences for missing or blank values, by path.
        read_only, destructive, idempotent, open_world: the protocol's annotations.
        optional_parts: the shapes of parts that a caller can request in addition to the body.
        accepts_large_values: whether the tool itself limits the size of its arguments.
        warnings_path: the path of the warnings in an answer, if the contract has warnings.
        query_spec: the specification of a tool with several query types.
    """

    name: str
    title: str
    description: str
    contract: Contract
    group: str
    input_model: type[WireModel] | None
    input_json_schema: Mapping[str, Any] | None = None
    outputs: tuple[Output, ...]
    missing_messages: Mapping[str, str] = field(default_factory=dict)
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False
    optional_parts: Mapping[str, Shape] = field(default_factory=dict)
    accepts_large_values: bool = False
    warnings_path: Path = ("warnings",)
    query_spec: ToolSpec | None = None

    @cached_property
    def spec(self) -> ToolSpec:
        """The plan-step contract's specification; most tools have one query type, their own name (rule F2)."""
        if self.query_spec is not None:
            return self.query_spec
        assert self.input_model is not None
        return ToolSpec(
            name=self.name,
            input_schema={self.name: self.input_model},
            output_key=self.name,
            description=self.description,
        )

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        if self.input_json_schema is not None:
            return dict(self.input_json_schema)
        assert self.input_model is not None
        return build_json_schema(self.input_model)

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of all answers, including failures, because clients validate both."""
        return build_json_schema((*(output.shape for output in self.outputs), *FAILURE_SHAPES[self.contract]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The context of one call.

    ``user`` is None for an anonymous caller (rule A12); rate limits apply to ``caller``, the user or an address.
    ``now`` is in UTC and is read once per call (rule A4). ``include`` names the requested optional parts.
    """

    tool: str
    user: str | None
    now: datetime
    correlation_id: str
    caller: str = ""
    report: ReportProgress = ignore_progress
    include: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ToolReply:
    """A handler's result: the body in one output's shape, a self-contained text, and the included optional parts.

    If ``output`` is None, it is the definition's first output.
    """

    body: Mapping[str, Any]
    text: str
    extras: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    output: Output | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A JSON-ready body in its contract's shape, and a self-contained text.

    A failure has its error in ``error``, and no extras or output.
    """

    body: dict[str, Any]
    text: str
    is_error: bool
    correlation_id: str
    error: ToolError | None = None
    extras: Mapping[str, Wire] = field(default_factory=dict)
    output: Output | None = None
