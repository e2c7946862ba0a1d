"""The commands that call a single tool: ``plan``, ``departures``, ``find``, ``stops``, ``call`` and ``vars``."""

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Annotated, Any

import typer

from fingerpost.apps.cli import TOOL_ERROR, USAGE, find_exit_status
from fingerpost.apps.cli.application import (
    Json,
    call_and_print,
    call_tool,
    complete_key,
    complete_place,
    open_application,
    print_or_exit,
    with_options,
)
from fingerpost.apps.cli.output import OPTIONS, print_answer, print_error, print_json, print_message

# The commands of ``vars``.
app = typer.Typer(no_args_is_help=True)

_SAVE_TEXT_HINT = "To save text that is not a place, add --type other."
_TIME_FORMS = "09:00, 9am, tomorrow 09:00, saturday 9am, or ISO 8601"
_place_argument = partial(typer.Argument, autocompletion=complete_place)
_POSITION = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\s*")

# Separates the names in a field's path when the path becomes a parameter name.
_SEPARATOR = "__"
_TYPES: Mapping[str, Any] = {"integer": int, "number": float, "boolean": bool, "array": list[str]}
# Help texts for fields whose own descriptions are too terse for people, or mention other fields.
_HELP: Mapping[str, str] = {
    "--focus-point": "Prefer places near this point",
    "--lang": "Language of names in the answer",
    "--limit": "Maximum number of results",
    "--low-walking-distance": "Report the shortest walking distance; does not filter trips",
    "--max-distance-meters": "Needs --focus-point",
    "--max-walk": "Maximum total walking distance, in meters",
    "--radius": "Search radius, in meters",
    "--step-free": "Avoid steps, and warn if a trip has steps or may have some",
    "--window": "The number of minutes to look ahead",
}


def plan(
    ctx: typer.Context,
    origin: Annotated[
        str, _place_argument(metavar="FROM", help="The origin: a place, saved name, stop id, or lat,lon.")
    ],
    destination: Annotated[str, _place_argument(metavar="TO", help="The destination, in the same form as FROM.")],
    at: Annotated[str | None, typer.Option(help=f"Depart at: {_TIME_FORMS}.")] = None,
    arrive: Annotated[str | None, typer.Option(help="Arrive by this time, in the same form as --at.")] = None,
    as_json: Json = False,
    **fields: Any,
) -> None:
    # Local imports, here and below, because importing the place resolver would slow --help down.
    from fingerpost.apps.cli.typed_times import find_trip_zone, parse_time

    if at is not None and arrive is not None:
        raise typer.BadParameter("give --at or --arrive, not both")
    places = {"origin": {"type": "label", "value": origin}, "destination": {"type": "label", "value": destination}}
    application = open_application(ctx)
    time_text = arrive if at is None else at
    when = None
    if time_text is not None:
        time = parse_time(time_text, lambda: find_trip_zone(application, origin, destination))
        when = {"type": "arrive" if at is None else "depart", "time": time.isoformat(timespec="seconds")}
    call_and_print(application, "plan_trip", _add_fields({**places, "when": when}, fields), as_json=as_json)


def departures(
    ctx: typer.Context,
    stop: Annotated[str, _place_argument(help="A stop's name or id, or the name of a saved stop.")],
    at: Annotated[str | None, typer.Option(help=f"Start at: {_TIME_FORMS}.")] = None,
    as_json: Json = False,
    **fields: Any,
) -> None:
    from fingerpost.apps.cli.typed_times import find_stop_zone, parse_time

    application = open_application(ctx)
    time = None if at is None else parse_time(at, lambda: find_stop_zone(application, stop))
    start = None if time is None else time.isoformat(timespec="seconds")
    arguments = {"stop": {"type": "label", "value": stop}, "at": start}
    call_and_print(application, "get_departures", _add_fields(arguments, fields), as_json=as_json)


def find(
    ctx: typer.Context,
    text: Annotated[str, _place_argument(help="The name of the place.")],
    as_json: Json = False,
    **fields: Any,
) -> None:
    call_and_print(open_application(ctx), "findAddressOrStop", _add_fields({"rawText": text}, fields), as_json=as_json)


def stops(
    ctx: typer.Context,
    lat: Annotated[str, typer.Argument(metavar="LAT", help="The latitude in degrees, or LAT,LON.")],
    lon: Annotated[str | None, typer.Argument(metavar="LON", help="The longitude in degrees.")] = None,
    as_json: Json = False,
    **fields: Any,
) -> None:
    coordinate = read_position(lat if lon is None else f"{lat},{lon}")
    if coordinate is None:
        raise typer.BadParameter(
            "a point is two numbers: fingerpost stops 60.17 24.93; to look up a name: fingerpost find NAME"
        )
    call_and_print(
        open_application(ctx), "find_stops", _add_fields({"coordinate": coordinate}, fields), as_json=as_json
    )


def call(
    ctx: typer.Context,
    tool: Annotated[str, typer.Argument(help="A tool's name.")],
    arguments: Annotated[
        str, typer.Argument(metavar="JSON", help="The tool's arguments as JSON, or - to read from stdin.")
    ] = "{}",
) -> None:
    application = open_application(ctx)
    try:
        raw = json.loads(sys.stdin.buffer.read() if arguments == "-" else arguments)
    except (ValueError, RecursionError) as error:
        reason = "they are nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise typer.BadParameter(f"the arguments are not JSON: {reason}") from error
    answer = call_tool(application, tool, raw)
    print_json(answer.body)
    if answer.is_error:
        raise typer.Exit(find_exit_status(answer.error) if tool in application.tools else USAGE)


def with_tool_options(command: Callable[..., None], tool_name: str) -> Callable[..., None]:
    """Return a command with an added option for each optional tool field that lacks one."""
    from fingerpost.apps.wiring import TOOLS

    schema = next(tool.input_schema for tool in TOOLS if tool.name == tool_name)
    existing = {f"--{name.replace('_', '-')}" for name in command.__annotations__}
    options = {}
    for path, field in _list_optional_fields(schema, schema.get("$defs", {})):
        name = OPTIONS.setdefault(".".join(path), f"--{re.sub('(?=[A-Z])', '-', path[-1]).lower()}")
        field_type = field.get("type", "string")
        if not name.startswith("--") or name in existing:
            continue
        text = _HELP.get(name) or field.get("description", path[-1])
        if choices := field.get("items", field).get("enum"):
            text += f": {', '.join(choices)}"
        option = typer.Option(
            f"{name}/--no-{name[2:]}" if field.get("default") is True else name,
            metavar="LAT,LON" if field_type == "object" else None,
            help=f"{text[:1].upper()}{text[1:]}.{' Repeatable.' if field_type == 'array' else ''}",
            parser=_parse_position if field_type == "object" else None,
            # Hide flags without a text in _HELP, because most of them are useful only to agents.
            hidden=field_type == "boolean" and name not in _HELP,
        )
        options[_SEPARATOR.join(path)] = (_TYPES.get(field_type, str) | None, option)
    return with_options(command, options)


def _list_optional_fields(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    for name, field_schema in schema["properties"].items():
        if name in schema.get("required", ()):
            continue
        field = {**definitions.get(field_schema.get("$ref", "").rpartition("/")[2], {}), **field_schema}
        if "properties" in field and "required" not in field:
            yield from _list_optional_fields(field, definitions, (*path, name))
        else:
            yield (*path, name), field


def _add_fields(arguments: dict[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's arguments that are not None, plus the values of the options from ``with_tool_options``."""
    arguments = {name: value for name, value in arguments.items() if value is not None}
    for key, value in fields.items():
        if value is not None:
            *parents, name = key.split(_SEPARATOR)
            target = arguments
            for parent in parents:
                target = target.setdefault(parent, {})
            target[name] = value
    return arguments


def read_position(text: str) -> dict[str, float] | None:
    """Parse ``LAT,LON`` in degrees into a coordinate for a tool; return None for any other text."""
    match = _POSITION.fullmatch(text)
    return None if match is None else {"lat": float(match[1]), "lon": float(match[2])}


def _parse_position(text: str) -> dict[str, float]:
    position = read_position(text)
    if position is None:
        raise typer.BadParameter("a point is two numbers, LAT,LON")
    return position


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
