"""Build each MCP Apps view as one self-contained HTML document from the ES modules in ``assets``.

Hosts' content security policies block loading files, so the modules are concatenated into one scope, each after its
imports, and without ``import`` and ``export``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

# Block all network access, for hosts that do not set a content policy.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z_]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class) )", re.MULTILINE)

_DOCUMENT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main id="view" class="view"></main>
<p id="live" role="status" aria-live="polite" class="unseen"></p>
<script type="module">
{script}</script>
</body>
</html>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A page that draws the answers of the listed tools; its module in ``assets`` has the same name."""

    name: str
    title: str
    description: str
    tools: tuple[str, ...]

    @property
    def uri(self) -> str:
        return f"ui://fingerpost/{self.name}"


VIEWS: tuple[View, ...] = (
    View(
        name="trip",
        title="Trip",
        description="Itineraries side by side, with steps, a drawing of the line, and disruptions",
        tools=("plan_trip", "planRoute", "planJourney"),
    ),
    View(
        name="board",
        title="Departure board",
        description="Departures from a stop with delays, cancellations, platforms and alerts",
        tools=("get_departures", "getStopTimetable"),
    ),
    View(
        name="figures",
        title="Company figures",
        description="Figures from sec_financial_data as a table and a line chart, each point with its filing",
        tools=("sec_financial_data",),
    ),
)

VIEW_BY_TOOL: Mapping[str, View] = MappingProxyType({tool: view for view in VIEWS for tool in view.tools})
VIEW_BY_URI: Mapping[str, View] = MappingProxyType({view.uri: view for view in VIEWS})


@cache
def read_page(view: View) -> str:
    return _DOCUMENT.format(
        policy=POLICY,
        title=view.title,
        style=read_asset("style.css"),
        script=f"{join_modules(f'{view.name}.js', 'in_host.js')}showInHost({view.name.upper()});\n",
    )


def join_modules(*entries: str) -> str:
    """Concatenate modules, each once and after the modules that it imports."""
    joined: dict[str, str] = {}

    def add(name: str) -> None:
        source = read_asset(name)
        for imported in _IMPORT.findall(source):
            if imported not in joined:
                add(imported)
        joined[name] = _EXPORT.sub("", _IMPORT.sub("", source))

    for entry in entries:
        add(entry)
    return "".join(joined.values())


def read_asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")
