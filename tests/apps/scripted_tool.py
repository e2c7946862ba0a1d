"""A tool with scripted answers."""

from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import Output, PublishedTool, ToolDefinition, ToolReply
from fingerpost.contract.wire import WireModel


class Nothing(WireModel):
    """No field."""


class Anything(WireModel, extra="allow"):
    """Any field."""


class ScriptedTool(PublishedTool):
    definition = ToolDefinition(
        name="scripted",
        title="Scripted",
        description="Does as it was told.",
        contract=Contract.BOARD,
        input_model=Nothing,
        outputs=(Output(Anything),),
    )

    def __init__(self, outcome):
        self.outcome = outcome

    async def handle(self, arguments, call):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return ToolReply(self.outcome, "done")
