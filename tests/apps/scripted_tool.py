"""A tool that does as it was told."""

from fingerpost.contract.envelope import Contract
from fingerpost.contract.published import PublishedTool
from fingerpost.contract.wire import WireModel


class Nothing(WireModel):
    """No field."""


class Anything(WireModel, extra="allow"):
    """Any field."""


class ScriptedTool(PublishedTool):
    name = "scripted"
    title = "Scripted"
    description = "Does as it was told."
    contract = Contract.BOARD
    group = "core"
    input_model = Nothing
    output_shape = Anything

    def __init__(self, outcome):
        self.outcome = outcome

    async def handle(self, arguments, call):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    def describe(self, answer):
        return "done"
