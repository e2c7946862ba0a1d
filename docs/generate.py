"""Generate docs/reference and the types of the library's methods from the code: ``make docs``.

Tests compare the results of ``render_all`` and ``render_methods`` with the stored files.
"""

import ast
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import SecretStr

from fingerpost import clock, errors
from fingerpost.apps.cli.app import load_root
from fingerpost.apps.cli.output import REMEDIES
from fingerpost.apps.settings import Settings
from fingerpost.apps.tool_methods import build_signature, name_method
from fingerpost.apps.wiring import TOOLS
from fingerpost.contract.envelope import Contract, find_error_code, render_error
from fingerpost.contract.plan import Plan
from fingerpost.contract.published_tool import ToolDefinition
from fingerpost.contract.size_bounds import SIZE_NOTE
from fingerpost.contract.wire import build_json_schema
from fingerpost.errors import RemedyKind
from fingerpost.store.network_records import KEYS, NetworkRecord
from fingerpost.transit.engine.gtfs.csv.findings import FindingKind, Reason
from fingerpost.transit.remote.opentripplanner import digitransit
from fingerpost.transit.remote.tfl import unified_api as tfl
from fingerpost.transit.rules.warnings import WarningCode
from fingerpost.transit.tools.get_departures import StopRef
from fingerpost.transit.tools.plan_route import RouteEnd
from fingerpost.transit.tools.shapes import TripEnd

FOLDER = Path(__file__).parent / "reference"
METHODS = Path(__file__).parents[1] / "src" / "fingerpost" / "apps" / "tool_methods.pyi"
NOTICE = "<!-- Written by docs/generate.py; change the code, then run `make docs`. -->"
# Read by sources, by numba and by tests; these are not fingerpost's settings.
FOREIGN_VARIABLES = {
    tfl.KEY_VARIABLE: "the key for Transport for London's Unified API.",
    digitransit.KEY_VARIABLE: "the key for Digitransit. For other keys, see docs/net.md.",
    clock.VARIABLE: "a time with an offset that replaces the clock; identical calls then return identical answers.",
    "NUMBA_CACHE_DIR": "the folder for compiled kernels; by default, a folder in the platform's cache folder.",
}


def render_all() -> dict[str, str]:
    """Return the text of every page, by file name."""
    pages = {
        "tools.md": _tools(),
        "answers.md": _answers(),
        "commands.md": _commands(),
        "settings.md": _settings(),
        "networks.md": _networks(),
        "errors.md": _errors(),
        "messages.md": _messages(),
        "findings.md": _findings(),
    }
    return {name: "\n".join([*lines, ""]) for name, lines in pages.items()}


def _audience(reader: str, content: str) -> list[str]:
    return [f"For people who {reader}.", f"This page {content}."]


# ------------------------------------------------------------------------------------------- tools


def _tools() -> list[str]:
    lines = [
        "# Tools",
        "",
        NOTICE,
        "",
        *_audience("call a tool", "lists every field that a tool accepts and returns"),
        "",
    ]
    lines += ["| tool | description |", "|---|---|"]
    for tool in TOOLS:
        first = _described(tool.name, tool.description).partition(". ")[0].removesuffix(".")
        lines.append(f"| [`{tool.name}`](#{tool.name.lower()}) | {first} |")
    lines += ["", "Fields that are not required can be omitted.", ""]
    return [*lines, *(line for tool in TOOLS for line in _tool(tool))][:-1]


def _tool(tool: ToolDefinition) -> list[str]:
    writes = "The tool only reads data." if tool.read_only else "The tool changes stored data."
    lines = [
        f"## {tool.name}",
        "",
        f"{tool.description} {SIZE_NOTE}",
        f"Group: {', '.join(f'`{group}`' for group in tool.groups)}. Errors: {tool.contract.value} contract.",
        writes,
    ]
    lines += ["", "### Input", "", *_fields(tool.input_schema)]
    shapes = [output.shape for output in tool.outputs]
    for shape in shapes:
        name = f": {shape.__name__}" if len(shapes) > 1 else ""
        lines += ["", f"### Output{name}", "", *_fields(build_json_schema(shape))]
    return [*lines, ""]


def _fields(schema: dict[str, Any]) -> list[str]:
    rows = list(_walk(schema, schema.get("$defs", {}), ""))
    if not rows:
        return ["Nothing."]
    return ["| field | type | required | default | notes |", "|---|---|---|---|---|", *rows]


def _walk(schema: dict[str, Any], defs: dict[str, Any], path: str) -> Iterator[str]:
    required = schema.get("required", [])
    for name, field in schema.get("properties", {}).items():
        whole = _resolve(field, defs)
        here = f"{path}{name}"
        default = _code(whole["default"]) if "default" in whole and not isinstance(whole["default"], dict) else ""
        notes = _cell("; ".join(filter(None, [whole.get("description", ""), _bounds(whole)])))
        yield f"| `{here}` | {_type(whole, defs)} | {'yes' if name in required else ''} | {default} | {notes} |"
        for branch in _branches(whole, defs):
            yield from _walk(branch, defs, f"{here}." if "properties" in branch else here)


def _branches(field: dict[str, Any], defs: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects inside a field, each union branch and list entry once."""
    found: list[dict[str, Any]] = []
    for branch in [field, *(_resolve(each, defs) for each in (*field.get("anyOf", ()), *field.get("oneOf", ())))]:
        inner = _resolve(branch["items"], defs) if "items" in branch else branch
        if "properties" in inner:
            found.append(inner)
    return found


def _resolve(field: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in field:
        return {**defs[field["$ref"].rsplit("/", 1)[-1]], **{key: field[key] for key in field if key != "$ref"}}
    return field


def _type(field: dict[str, Any], defs: dict[str, Any]) -> str:
    if "const" in field:
        return _code(field["const"])
    if "enum" in field:
        return ", ".join(map(_code, field["enum"]))
    choices = [*field.get("anyOf", ()), *field.get("oneOf", ())]
    if choices:
        return " or ".join(dict.fromkeys(_type(_resolve(choice, defs), defs) for choice in choices))
    if "items" in field:
        return f"list of {_type(_resolve(field['items'], defs), defs)}"
    return str(field.get("type", "any JSON"))


_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} {character}",
    "maxLength": "at most {} {character}",
    "minItems": "at least {} {entry}",
    "maxItems": "at most {} {entry}",
}

_PLURALS = {"character": "characters", "entry": "entries"}


def _bounds(field: dict[str, Any]) -> str:
    return ", ".join(
        text.format(field[key], **({"character": "character", "entry": "entry"} if field[key] == 1 else _PLURALS))
        for key, text in _BOUNDS.items()
        if key in field
    )


def _code(value: object) -> str:
    shown = str(value).lower() if isinstance(value, bool) else value
    return f"`{shown}`"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _described(name: str, text: str | None) -> str:
    if not text:
        raise ValueError(f"{name} has no description")
    return _cell(text)


# ----------------------------------------------------------------------------------------- answers

_CALLS = {
    "A trip": ("plan_trip", {"origin": "Kamppi", "destination": "Espoo", "limit": 1}),
    "A board": ("get_departures", {"stop": "Kamppi", "limit": 1}),
    "A figure": (
        "sec_financial_data",
        {"query_type": "financial_facts", "parameters": {"ticker": "AAPL", "metrics": ["Revenue"], "period": "2022"}},
    ),
    "An error": ("plan_trip", {"origin": "kamp", "destination": "Espoo"}),
}
_CALL_ALL = """
import json, sys
from fingerpost import SyncFingerpost
with SyncFingerpost() as fp:
    print(json.dumps([fp.call(tool, arguments) for tool, arguments in json.load(sys.stdin)]))
"""


def _answers() -> list[str]:
    lines = ["# Complete answers", "", NOTICE, ""]
    lines += [*_audience("parse answers", "shows complete answers from the demo network and the sample figures"), ""]
    lines += [
        "[Tools](tools.md) lists every field. `fingerpost call TOOL JSON` prints the answer to your own call.",
        "",
    ]
    for (heading, (tool, arguments)), answer in zip(_CALLS.items(), _call_all(), strict=True):
        lines += [f"## {heading}", "", f"`{tool}` with these arguments:", ""]
        lines += ["```json", json.dumps(arguments), "```", "", "The answer:", ""]
        lines += ["```json", json.dumps(answer, indent=1, ensure_ascii=False), "```", ""]
    return lines[:-1]


def _call_all() -> Any:
    """Make the calls at a fixed time, in an empty home folder and without the caller's settings."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("FINGERPOST_")}
    with tempfile.TemporaryDirectory(prefix="fingerpost-docs-") as home:
        settings = {"FINGERPOST_HOME": home, clock.VARIABLE: "2026-03-10T08:00:00+02:00"}
        calls = json.dumps(list(_CALLS.values()))
        command = [sys.executable, "-c", _CALL_ALL]
        done = subprocess.run(  # noqa: S603
            command, input=calls, env=others | settings, capture_output=True, text=True, check=True
        )
    return json.loads(done.stdout)


# ---------------------------------------------------------------------------------------- commands


def _commands() -> list[str]:
    root = load_root()
    lines = ["# Commands", "", NOTICE, "", *_audience("work at a terminal", "lists every command and its options"), ""]
    lines += [
        "The exit status is 0 for success, 1 for an error or a reported problem, and 2 for wrong usage or settings.",
        "",
    ]
    lines += ["`fingerpost network check` exits with 3 if the data has faults.", ""]
    lines += ["## fingerpost", "", root.help or "", "", *_parameters(root), ""]
    for name, command in _leaves(root, "fingerpost"):
        example = command.epilog.removeprefix("Example: ")
        lines += [f"## {name}", "", _described(name, command.help), "", f"Example: `{example}`", ""]
        lines += [*_parameters(command), ""]
    return lines[:-1]


def _leaves(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _leaves(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def _parameters(command: Any) -> list[str]:
    rows = []
    for each in command.params:
        if each.name == "help":
            continue
        is_option = each.param_type_name == "option"
        name = ", ".join(each.opts) if is_option else (each.metavar or each.name.upper())
        required = "yes" if each.required else ""
        rows.append(f"| `{name}` | {required} | {_described(f'{command.name} {name}', each.help)} |")
    return ["| parameter | required | description |", "|---|---|---|", *rows] if rows else ["No parameters."]


# ---------------------------------------------------------------------------------------- settings


def _settings() -> list[str]:
    attributes = re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", inspect.cleandoc(Settings.__doc__ or ""), re.MULTILINE)
    descriptions = {name: " ".join(text.split()) for name, text in attributes}
    lines = ["# Settings", "", NOTICE, ""]
    lines += [*_audience("run an installation", "lists every environment variable that fingerpost reads"), ""]
    lines += ["An empty variable counts as unset.", ""]
    lines += ["| variable | default | description |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = (
            "the platform's data folder, on Linux `~/.local/share/fingerpost`"
            if field.default_factory
            else _default(field.default)
        )
        description = _described(name, descriptions.get(name)).replace("``", "`")
        lines.append(f"| `FINGERPOST_{name.upper()}` | {default} | {_capitalize(description)} |")
    return [*lines, *(f"| `{name}` | unset | {_capitalize(text)} |" for name, text in FOREIGN_VARIABLES.items())]


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _default(value: object) -> str:
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    return "unset" if value in (None, "", ()) else _code(value)


# ---------------------------------------------------------------------------------------- networks


def _networks() -> list[str]:
    lines = ["# Network records", "", NOTICE, ""]
    lines += [*_audience("run an installation", "lists every key of a network's record"), ""]
    lines += ["The record of a network is the file `networks/NAME.toml` in the home folder."]
    lines += [
        "[Networks](../networks.md) explains how to edit it.",
        "",
        "| key | type | default | description |",
        "|---|---|---|---|",
    ]
    fields = NetworkRecord.model_json_schema()["properties"]
    for key in KEYS:
        field = fields[key] | fields[key].get("anyOf", [{}])[0]
        field.pop("anyOf", None)
        kind = "four numbers" if "prefixItems" in field else _type(field, {})
        default = "unset" if field.get("default") in (None, []) else _code(field["default"])
        lines.append(f"| `{key}` | {kind} | {default} | {_capitalize(_cell(field['description']))} |")
    return [*lines, "", "A record with any other key is rejected."]


# ------------------------------------------------------------------------------------------ errors


def _errors() -> list[str]:
    lines = ["# Errors", "", NOTICE, ""]
    lines += [*_audience("handle failures", "lists each error class and its code in each contract"), ""]
    lines += ["Python code catches the class; callers of a tool get the code of its contract.", ""]
    lines += [
        "| class | meaning | plan_trip | get_departures | plan-step | lookup | planJourney | retry |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [_error(kind) for kind in _list_errors(errors.ToolError)]
    lines += [
        "",
        (
            "If there are no departures, a board is an empty list with the reason, not an error"
            " ([decision 0010](../decisions/0010-words-for-errors-that-the-contracts-leave-open.md))."
        ),
        "In the plan-step contract, filings tools return the class as `error_code`, and missing data as a `warning`.",
        "Transit tools return the code of their own contract as `error_code`, and missing data as an `error`.",
        (
            "In the lookup contract, a failing geocoder has GEOCODING_FAILED or GEOCODING_UNREADABLE"
            " instead of ROUTING_FAILED or ROUTING_UNREADABLE, and a missing key has MISSING_API_KEY."
        ),
        "`AddressRefused` is a `SourceUnreachable` for hosts on private networks ([HTTP](../net.md)).",
        "For the hints in errors, see [remedies](messages.md#remedies).",
    ]
    return lines


# ---------------------------------------------------------------------------------------- messages


def _messages() -> list[str]:
    lines = ["# Warnings, remedies and other messages", "", NOTICE, ""]
    lines += [*_audience("read answers or write messages", "lists every warning, remedy and message"), ""]
    lines += ["## Warnings", "", "An answer has at most one entry per code.", "", "| code | meaning |", "|---|---|"]
    lines += [f"| `{code.value}` | {code.meaning} |" for code in WarningCode]
    lines += ["", "## Remedies", "", "A remedy is the hint of an error. Names in braces are replaced by values."]
    lines += ["Over MCP, `fingerpost/remedy` in `_meta` of a failed call contains the kind and the values.", ""]
    lines += ["| kind | for agents | at the terminal |", "|---|---|---|"]
    rows = ((kind.code, kind.value, REMEDIES[kind].replace("{{", "{").replace("}}", "}")) for kind in RemedyKind)
    lines += [f"| `{code}` | {_cell(agents)} | {_cell(people)} |" for code, agents, people in rows]
    lines += ["", "## Messages", "", "The other messages in each source file. Names in braces are replaced by values."]
    for name, sentences in _list_sentences():
        lines += ["", f"### {name}", "", *(f"- {sentence}" for sentence in sentences)]
    return lines


SOURCE = Path(errors.__file__).parent
_VALUE = re.compile(r"\{[^{}]*\}")
_WORD = re.compile(r"[^\W\d_]{2,}")
# SQL, GraphQL, HTML, patterns, formats of the log, and type hints in quotes.
_NO_SENTENCE = re.compile(
    r"\b(SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|WHERE|JOIN|ALTER|ORDER BY|SET LOCAL|PRIMARY KEY|IS NOT|AND|epoch)\b"
    r"|\$\w+|\\|%\(|\w\[|\(\?[:=]|\w\|\w+ \w|-src '|<!doctype|^\w+ \(\w+(, \w+)*\)$|^\w+(, \w+){2,}$"
)


def _list_sentences() -> Iterator[tuple[str, list[str]]]:
    """Yield each file that words sentences, with these in their order; values are in braces."""
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        sentences = list(dict.fromkeys(_read_sentences(path)))
        if sentences:
            yield name, sentences


def _read_sentences(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hidden = {id(part) for node in ast.walk(tree) for part in _list_hidden(node)}
    texts = [
        node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in hidden
    ]
    for node in sorted(texts, key=lambda node: (node.lineno, node.col_offset)):
        text = str(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)[2:-1]
        if len(_WORD.findall(_VALUE.sub("", text))) > 2 and " " in text and not _NO_SENTENCE.search(text):
            yield " ".join(text.split())


def _list_hidden(node: ast.AST) -> Iterator[ast.AST]:
    """Yield nodes that are not messages: docstrings, field descriptions, lists of words, parts of formatted texts."""
    if isinstance(node, ast.Expr) or (isinstance(node, ast.Attribute) and node.attr in ("split", "splitlines")):
        yield node.value
    elif isinstance(node, ast.keyword) and node.arg == "description":
        yield from ast.walk(node.value)
    elif isinstance(node, ast.JoinedStr):
        yield from (part for value in node.values for part in ast.walk(value))


def _list_errors(kind: type[errors.ToolError]) -> Iterator[type[errors.ToolError]]:
    yield kind
    for branch in kind.__subclasses__():
        if branch.__module__ == errors.__name__:
            yield from _list_errors(branch)


def _error(kind: type[errors.ToolError]) -> str:
    error = kind.__new__(kind)
    errors.ToolError.__init__(error, "")
    if isinstance(error, errors.SourceLimited):
        error.retry_after_s = 0.0
    codes = {contract: find_error_code(error, contract) for contract in Contract}
    category = render_error(error, Contract.LOOKUP, "")["error"]["category"]
    codes[Contract.LOOKUP] = f"{category} / {codes[Contract.LOOKUP]}"
    order = (Contract.PLAN_TRIP, Contract.BOARD, Contract.STEP, Contract.LOOKUP, Contract.LONDON)
    meaning = _described(kind.__name__, (kind.__doc__ or "").split("\n\n")[0])
    cells = [f"`{kind.__name__}`", meaning, *(codes[each] for each in order), "yes" if error.retryable else ""]
    return f"| {' | '.join(cells)} |"


# ---------------------------------------------------------------------------------------- findings


def _findings() -> list[str]:
    lines = ["# Findings of an import", "", NOTICE, ""]
    lines += [*_audience("read an import report", "explains what each finding means for riders"), ""]
    lines += ["[Feeds](../feeds.md) explains the import.", ""]
    lines += ["| finding | effect | meaning |", "|---|---|---|"]
    for kind in FindingKind:
        of_kind = (reason for reason in Reason if reason.kind is kind)
        lines += [f"| `{each.code}` | {kind} | {_cell(each.text)} |" for each in of_kind]
    return lines


# ----------------------------------------------------------------------------------------- library

METHODS_HEAD = """\
# Written by docs/generate.py; change the input models of the tools, then run `make docs`.
from collections.abc import Mapping, Sequence
from inspect import Signature
from typing import Any, Generic, TypeVar

from fingerpost.contract.plan import Plan
from fingerpost.contract.published_tool import ToolDefinition

_Body_co = TypeVar("_Body_co", covariant=True)

def name_method(tool: ToolDefinition) -> str: ...
def build_signature(tool: ToolDefinition) -> Signature: ...

class ToolMethods(Generic[_Body_co]):
    def _fetch_body(self, tool: str, arguments: dict[str, Any]) -> _Body_co: ...
"""


# The Python types that callers may pass for each contract type.
SHORT_FORMS: dict[Any, Any] = {
    TripEnd: str | tuple[float, float] | Mapping[str, Any],
    StopRef: str | Mapping[str, Any],
    RouteEnd: str | Mapping[str, Any],
}
# Fields that the input model does not validate, because the tool parses them, and the parts of a point.
TYPES_BY_NAME: dict[str, Any] = {
    "plan": Plan | Mapping[str, Any],
    "memory": Mapping[str, Any],
    "lat": float,
    "lon": float,
}


def _annotate(tool: ToolDefinition) -> inspect.Signature:
    """Return the signature of a tool's method, with the type of each parameter."""
    signature = build_signature(tool)
    parameters = []
    for parameter in signature.parameters.values():
        if parameter.name != "self":
            annotation = TYPES_BY_NAME.get(parameter.name)
            if annotation is None:
                annotation = _find_type(tool.input_model.model_fields[parameter.name].annotation)
            if parameter.default is None:
                annotation |= None
            parameter = parameter.replace(annotation=annotation)
        parameters.append(parameter)
    return signature.replace(parameters=parameters)


def _find_type(annotation: Any) -> Any:
    origin = get_origin(annotation)
    if origin in (Annotated, Union, UnionType):
        return _find_type(get_args(annotation)[0])
    if origin is list:
        return Sequence[str]
    if origin is Literal:
        return str
    is_plain = annotation in (bool, int, float, str, Any)
    return annotation if is_plain else SHORT_FORMS.get(annotation, Mapping[str, Any])


def render_methods() -> str:
    """Return the type stub of apps/tool_methods.py, formatted."""
    lines = [METHODS_HEAD]
    for tool in TOOLS:
        signature = str(_annotate(tool)).replace("collections.abc.", "").replace("typing.", "")
        signature = signature.replace("fingerpost.contract.plan.", "")
        described = textwrap.fill(f'"""{tool.description}"""', 110)
        lines += [f"def {name_method(tool)}{signature} -> _Body_co:", textwrap.indent(described, "    ")]
    text = f"{lines[0]}{textwrap.indent(chr(10).join(lines[1:]), '    ')}"
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(METHODS), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout  # noqa: S603


def main() -> int:
    """Write every page and the type stub."""
    METHODS.write_text(render_methods(), encoding="utf-8")
    FOLDER.mkdir(exist_ok=True)
    for name, text in render_all().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"docs/reference/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
