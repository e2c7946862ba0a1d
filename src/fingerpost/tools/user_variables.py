"""The user variable store as tools: places and preferences kept by name (ruling C4)."""

import asyncio
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from fingerpost.contract.check import explain
from fingerpost.contract.envelope import Family
from fingerpost.contract.published import Call, PublishedTool
from fingerpost.contract.wire import WireModel
from fingerpost.errors import ParameterError
from fingerpost.store.variables import Variable, VariableStore
from fingerpost.transit.places.labels import LocationValue

Key = Annotated[str, Field(min_length=1, max_length=50, pattern=r"^[^\x00-\x1f\x7f]+$")]
Kind = Literal["location", "preference", "other"]


class SaveUserVariableInput(WireModel):
    """The question."""

    key: Annotated[Key, Field(description="the name to keep it under, such as home")]
    type: Annotated[Kind, Field(description="what it is")]
    value: Annotated[Any, Field(description="location: {lat, lon, label?, name?, address?, stopId?}; else any JSON")]

    @model_validator(mode="after")
    def _location_is_a_place(self) -> "SaveUserVariableInput":
        if self.type != "location":
            return self
        if not isinstance(self.value, dict):
            raise ValueError("value of a location must be an object with lat and lon")
        try:
            self.value = LocationValue.read(self.value).to_wire()
        except ValidationError as error:
            raise ValueError(f"value of a location: {explain(error, LocationValue).message}") from error
        return self


class GetUserVariablesInput(WireModel):
    """The question: nothing to say."""


class DeleteUserVariableInput(WireModel):
    """The question."""

    key: Annotated[Key | None, Field(description="leave out to delete all")] = None


class WireVariable(WireModel):
    """A variable as it is kept."""

    key: str
    type: Kind
    value: Any
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, variable: Variable) -> "WireVariable":
        """Show a variable."""
        return cls(
            key=variable.key,
            type=variable.type,
            value=variable.value,
            created_at=variable.created_at.isoformat(timespec="seconds"),
            updated_at=variable.updated_at.isoformat(timespec="seconds"),
        )


class Previous(WireModel):
    """What was there before."""

    key: str
    type: Kind


class SaveUserVariableOutput(WireModel):
    """The answer."""

    variable: WireVariable
    previous: Previous | None = None
    correlation_id: str


class GetUserVariablesOutput(WireModel):
    """The answer."""

    variables: list[WireVariable]
    correlation_id: str


class DeleteUserVariableOutput(WireModel):
    """The answer: the keys that are gone."""

    deleted: list[str]
    correlation_id: str


class _VariableTool(PublishedTool):
    """What the three have in common: a store, and a user who may use it."""

    family = Family.BOARD
    group = "core"

    def __init__(self, variables: VariableStore) -> None:
        self._variables = variables


def _get_user(call: Call) -> str:
    if call.user is None:
        raise ParameterError(
            "nobody is signed in, so no variables can be kept here",
            hint="Sign in, or run the server on this machine for yourself",
        )
    return call.user


class SaveUserVariable(_VariableTool):
    """Keeps a value under a key."""

    name = "save_user_variable"
    title = "Save a variable"
    description = "Keep a place or a preference under a name, such as home, to use as a label later."
    input_model = SaveUserVariableInput
    output_model = SaveUserVariableOutput
    read_only = False
    destructive = True

    async def handle(self, arguments: SaveUserVariableInput, call: Call) -> SaveUserVariableOutput:
        """Save, and say what was replaced."""
        variable, previous = await asyncio.to_thread(
            self._variables.save, _get_user(call), arguments.key, arguments.type, arguments.value, call.now
        )
        return SaveUserVariableOutput(
            variable=WireVariable.of(variable),
            previous=None if previous is None else Previous(key=previous.key, type=previous.type),
            correlation_id=call.correlation_id,
        )

    def describe(self, answer: SaveUserVariableOutput) -> str:
        """Return what is kept now."""
        replaced = " (replaced the one before)" if answer.previous else ""
        return f"Saved '{answer.variable.key}', type {answer.variable.type}{replaced}."


class GetUserVariables(_VariableTool):
    """Lists what is kept."""

    name = "get_user_variables"
    title = "List variables"
    description = "List the user's saved places and preferences."
    input_model = GetUserVariablesInput
    output_model = GetUserVariablesOutput

    async def handle(self, arguments: GetUserVariablesInput, call: Call) -> GetUserVariablesOutput:  # noqa: ARG002  # the seam's signature
        """List, sorted by key."""
        variables = await asyncio.to_thread(self._variables.list_variables, _get_user(call))
        return GetUserVariablesOutput(
            variables=[WireVariable.of(variable) for variable in variables], correlation_id=call.correlation_id
        )

    def describe(self, answer: GetUserVariablesOutput) -> str:
        """Return keys and values as lines."""
        return "\n".join(f"{each.key} ({each.type}): {each.value}" for each in answer.variables) or "Nothing is saved."


class DeleteUserVariable(_VariableTool):
    """Deletes one variable, or all."""

    name = "delete_user_variable"
    title = "Delete variables"
    description = "Delete one saved variable by its key, or all of them when no key is given."
    input_model = DeleteUserVariableInput
    output_model = DeleteUserVariableOutput
    read_only = False
    destructive = True

    async def handle(self, arguments: DeleteUserVariableInput, call: Call) -> DeleteUserVariableOutput:
        """Delete, and say what is gone."""
        deleted = await asyncio.to_thread(self._variables.delete, _get_user(call), arguments.key)
        return DeleteUserVariableOutput(deleted=deleted, correlation_id=call.correlation_id)

    def describe(self, answer: DeleteUserVariableOutput) -> str:
        """Return the keys that are gone."""
        return f"Deleted: {', '.join(answer.deleted)}." if answer.deleted else "There was nothing to delete."
