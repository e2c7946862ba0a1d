"""The tools that save, list and delete a user's named places and preferences (rule C4)."""

import json
from functools import partial
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, JsonValue, ValidationError, model_validator

from fingerpost.contract.check import explain
from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import Call, Output, PublishedTool, ToolDefinition, ToolReply
from fingerpost.contract.wire import EnumValue, Flag, WireDict, WireModel
from fingerpost.errors import ParameterError
from fingerpost.runtime.concurrency import run_in_thread
from fingerpost.store.variables import Variable, VariableStore
from fingerpost.transit.places.resolver import LocationValue
from fingerpost.transit.tools.shapes import CorrelatedAnswer

Key = Annotated[str, Field(min_length=1, max_length=50, pattern=r"^[^\x00-\x1f\x7f]+$")]
Kind = Literal["location", "preference", "other"]


class SaveUserVariableInput(WireModel):
    key: Annotated[Key, Field(description="the name to save it under, such as home")]
    type: Kind
    value: Annotated[Any, Field(description="location: {lat, lon, label?, name?, address?, stopId?}; else any JSON")]

    @model_validator(mode="after")
    def _check_location(self) -> "SaveUserVariableInput":
        if self.type != "location":
            return self
        if not isinstance(self.value, dict):
            raise ValueError(
                "value of a location must be an object with lat and lon; look the place up by name to get them"
            )
        try:
            self.value = LocationValue.read(self.value).to_wire()
        except ValidationError as error:
            raise ValueError(f"value of a location: {explain(error, LocationValue).message}") from error
        return self


class GetUserVariablesInput(WireModel):
    pass


class DeleteUserVariableInput(WireModel):
    key: Key | None = None
    all: Annotated[Flag, Field(description="true deletes all variables")] = False

    @model_validator(mode="after")
    def _check_one_or_all(self) -> "DeleteUserVariableInput":
        if (self.key is None) is not self.all:
            raise ValueError("send either the key of one variable, or all: true to delete them all")
        return self


class WireVariable(WireDict):
    key: str
    type: Annotated[str, EnumValue(Kind)]
    value: JsonValue
    createdAt: str
    updatedAt: str


class Previous(WireDict):
    key: str
    type: Annotated[str, EnumValue(Kind)]


class SaveUserVariableOutput(WireDict):
    variable: WireVariable
    previous: NotRequired[Previous]
    correlationId: str


class GetUserVariablesOutput(CorrelatedAnswer):
    variables: list[WireVariable]


class DeleteUserVariableOutput(CorrelatedAnswer):
    deleted: list[str]


def serialize_variable(variable: Variable) -> WireVariable:
    return {
        "key": variable.key,
        "type": variable.type,
        "value": variable.value,
        "createdAt": variable.created_at.isoformat(timespec="seconds"),
        "updatedAt": variable.updated_at.isoformat(timespec="seconds"),
    }


_DEFINE = partial(ToolDefinition, contract=Contract.BOARD)


class _VariableTool(PublishedTool):
    def __init__(self, variables: VariableStore, has_sign_in: bool = False) -> None:
        self._variables = variables
        self._hint = f"{'Sign in, or run' if has_sign_in else 'Run'} the server locally"

    def _get_user(self, call: Call) -> str:
        if call.user is None:
            raise ParameterError("no user is signed in, so no variables can be stored here", hint=self._hint)
        return call.user


class SaveUserVariable(_VariableTool):
    definition = _DEFINE(
        name="save_user_variable",
        title="Save a variable",
        description="Save a place or a preference under a name, such as home, to use as a label later.",
        input_model=SaveUserVariableInput,
        outputs=(Output(SaveUserVariableOutput),),
        read_only=False,
        destructive=True,
    )

    async def handle(self, arguments: SaveUserVariableInput, call: Call) -> ToolReply:
        variable, previous = await run_in_thread(
            self._variables.save, self._get_user(call), arguments.key, arguments.type, arguments.value, call.now
        )
        shown: SaveUserVariableOutput = {"variable": serialize_variable(variable), "correlationId": call.correlation_id}
        replaced = ""
        if previous is not None:
            shown["previous"] = {"key": previous.key, "type": previous.type}
            replaced = " (replaced the previous value)"
        value = f"{format_value(variable.value)}, {_format_times(shown['variable'])}"
        return ToolReply(shown, f"Saved '{variable.key}', type {variable.type}: {value}{replaced}.")


def format_value(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, dict) or not {"lat", "lon"} <= value.keys():
        return json.dumps(value, ensure_ascii=False)
    named = [str(value[key]) for key in ("name", "label", "address", "stopId") if value.get(key)]
    return ", ".join([*dict.fromkeys(named), f"{value['lat']},{value['lon']}"])


def _format_times(variable: WireVariable) -> str:
    changed = variable["updatedAt"] != variable["createdAt"]
    return f"saved {variable['createdAt']}" + (f", changed {variable['updatedAt']}" if changed else "")


_OTHER_KEYS_HINT = "Keys that are not shown still work as labels; fingerpost vars list shows all of them in a terminal."


class GetUserVariables(_VariableTool):
    definition = _DEFINE(
        name="get_user_variables",
        title="List variables",
        description="List the user's saved places and preferences.",
        input_model=GetUserVariablesInput,
        outputs=(Output(GetUserVariablesOutput, (("variables",),), _OTHER_KEYS_HINT),),
    )

    async def handle(self, arguments: GetUserVariablesInput, call: Call) -> ToolReply:  # noqa: ARG002
        variables = await run_in_thread(self._variables.list_variables, self._get_user(call))
        body: GetUserVariablesOutput = {
            "variables": [serialize_variable(variable) for variable in variables],
            "correlationId": call.correlation_id,
        }
        lines = [
            f"{variable['key']} ({variable['type']}): {format_value(variable['value'])}, {_format_times(variable)}"
            for variable in body["variables"]
        ]
        return ToolReply(body, "\n".join(lines) or "No variables are saved.")


class DeleteUserVariable(_VariableTool):
    definition = _DEFINE(
        name="delete_user_variable",
        title="Delete variables",
        description="Delete one saved variable by its key, or all of them with all: true.",
        input_model=DeleteUserVariableInput,
        outputs=(Output(DeleteUserVariableOutput, (("deleted",),), "The others are deleted too."),),
        read_only=False,
        destructive=True,
    )

    async def handle(self, arguments: DeleteUserVariableInput, call: Call) -> ToolReply:
        deleted = await run_in_thread(self._variables.delete, self._get_user(call), arguments.key)
        text = f"Deleted: {', '.join(deleted)}." if deleted else "There was nothing to delete."
        body: DeleteUserVariableOutput = {"deleted": deleted, "correlationId": call.correlation_id}
        return ToolReply(body, text)
