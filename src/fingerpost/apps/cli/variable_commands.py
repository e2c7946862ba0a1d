"""The ``fingerpost vars`` commands: save, list and delete a user's places and preferences."""

import json
from typing import Annotated, Any

import typer

from fingerpost.apps.cli import TOOL_ERROR
from fingerpost.apps.cli.application import (
    Json,
    call_and_print,
    call_tool,
    complete_key,
    open_application,
    print_or_exit,
)
from fingerpost.apps.cli.output import print_answer, print_error, print_json, print_message
from fingerpost.apps.cli.tool_commands import read_position

app = typer.Typer(no_args_is_help=True)

_SAVE_TEXT_HINT = "To save text that is not a place, add --type other."


@app.command("set", epilog="Example: fingerpost vars set home Kamppi")
def set_variable(
    ctx: typer.Context,
    key: Annotated[str, typer.Argument(help="The name to save it under.")],
    value: Annotated[str, typer.Argument(help="A place, given as lat,lon, a name or a token; or JSON.")],
    type: Annotated[  # noqa: A002
        str | None, typer.Option(help="location (the default), preference, or other, which saves the text as is.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Save a value under a name. If the value is the name or token of a place, save the place."""
    parsed = _parse_value(value)
    if isinstance(parsed, str) and type in (None, "location"):
        parsed = _get_place(ctx, parsed, as_json=as_json)
    is_place = isinstance(parsed, dict) and {"lat", "lon"} <= parsed.keys()
    arguments = {"key": key, "type": type or ("location" if is_place else "other"), "value": parsed}
    call_and_print(open_application(ctx), "save_user_variable", arguments, as_json=as_json)


def _get_place(ctx: typer.Context, text: str, *, as_json: bool) -> dict[str, Any]:
    """Resolve text to a location value; exit with status 1 unless exactly one place matches."""
    lookup = call_tool(open_application(ctx), "findAddressOrStop", {"rawText": text})
    if lookup.is_error or "candidates" in lookup.body:
        if as_json:
            print_json(lookup.body)
        else:
            if lookup.error is not None:
                print_error(lookup.error)
            else:
                print_answer(lookup.text, stderr=True)
            print_message(_SAVE_TEXT_HINT)
        raise typer.Exit(TOOL_ERROR)
    place = lookup.body
    value = {**place["coordinate"], "name": place["name"]}
    return {**value, "stopId": place["id"]} if "id" in place else value


@app.command("list", epilog="Example: fingerpost vars list")
def list_variables(ctx: typer.Context, as_json: Json = False) -> None:
    """List the saved values."""
    call_and_print(open_application(ctx), "get_user_variables", {}, as_json=as_json)


@app.command("delete", epilog="Example: fingerpost vars delete home")
def delete_variable(
    ctx: typer.Context,
    key: Annotated[str | None, typer.Argument(help="The name of the variable.", autocompletion=complete_key)] = None,
    delete_all: Annotated[bool, typer.Option("--all", help="Delete all of this user's variables.")] = False,
    as_json: Json = False,
) -> None:
    """Delete one variable, or all of them."""
    if (key is None) != delete_all:
        raise typer.BadParameter("name one variable, or give --all")
    arguments = {"all": True} if key is None else {"key": key}
    answer = call_tool(open_application(ctx), "delete_user_variable", arguments)
    if key is None or answer.is_error or answer.body["deleted"]:
        print_or_exit(answer, as_json=as_json)
        return
    if as_json:
        print_json(answer.body)
    else:
        print_message(f"No variable is named '{key}'. List them: fingerpost vars list")
    raise typer.Exit(TOOL_ERROR)


def _parse_value(text: str) -> Any:
    if (position := read_position(text)) is not None:
        return position
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
