"""The commands on user variables."""

import json
import re
from typing import Annotated, Any

import typer

from fingerpost.apps.cli.application import ask_once
from fingerpost.apps.cli.output import new_console
from fingerpost.apps.cli.place_views import new_table

app = typer.Typer(help="Places and preferences that are kept by name.", no_args_is_help=True)

_POSITION = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\s*")
_Json = Annotated[bool, typer.Option("--json", help="Print the contract's envelope and nothing else.")]


@app.command("set")
def set_variable(
    ctx: typer.Context,
    key: Annotated[str, typer.Argument(help="The name to keep it by.")],
    value: Annotated[str, typer.Argument(help="lat,lon or JSON or text.")],
    type: Annotated[str | None, typer.Option(help="location, preference or other; else read from the value.")] = None,  # noqa: A002
    name: Annotated[str | None, typer.Option(help="A location's name.")] = None,
    as_json: _Json = False,
) -> None:
    """Keep a value by name."""
    read = _value(value)
    is_place = isinstance(read, dict) and {"lat", "lon"} <= read.keys()
    if is_place and name is not None:
        read["name"] = name
    arguments = {"key": key, "type": type or ("location" if is_place else "other"), "value": read}
    answer = ask_once(ctx, "save_user_variable", arguments, as_json=as_json)
    if not as_json:
        new_console().print(answer.text)


@app.command("list")
def list_variables(ctx: typer.Context, as_json: _Json = False) -> None:
    """Show what is kept."""
    answer = ask_once(ctx, "get_user_variables", {}, as_json=as_json)
    if as_json:
        return
    table = new_table("key", "type", "value")
    for variable in answer.body["variables"]:
        table.add_row(variable["key"], variable["type"], json.dumps(variable["value"], ensure_ascii=False))
    new_console().print(table if answer.body["variables"] else "Nothing is kept.")


@app.command("delete")
def delete_variable(
    ctx: typer.Context,
    key: Annotated[str | None, typer.Argument(help="Which one.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All of this user's.")] = False,
    as_json: _Json = False,
) -> None:
    """Forget one variable, or all."""
    if (key is None) != every:
        raise typer.BadParameter("name one variable, or say --all")
    answer = ask_once(ctx, "delete_user_variable", {"all": True} if key is None else {"key": key}, as_json=as_json)
    if not as_json:
        new_console().print(answer.text)


def _value(text: str) -> Any:
    """Return what a person wrote: a position, else JSON, else the text itself."""
    position = _POSITION.fullmatch(text)
    if position is not None:
        return {"lat": float(position[1]), "lon": float(position[2])}
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
