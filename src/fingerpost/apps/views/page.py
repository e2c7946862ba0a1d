"""Build each MCP Apps view from ``assets`` as one self-contained HTML document, and serve the web page.

Hosts' content security policies do not let a view load files, so its ES modules are concatenated into one scope. Each
module follows those that it imports, and ``import`` and ``export`` are removed. The web page calls tools at ``/mcp``
like any other client.
"""

import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from os import PathLike, stat_result
from pathlib import Path
from types import MappingProxyType

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z_]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class) )", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A page that renders the answers of the listed tools; its module in ``assets`` has the same name."""

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
        description="Itineraries side by side, with steps, a map of the trip, and disruptions",
        tools=("plan_trip", "planRoute", "planJourney"),
    ),
    View(
        name="board",
        title="Departure board",
        description="Departures from a stop, with delays, cancellations, platforms and alerts",
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
    return read_asset("view.html").format(
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


class Site(StaticFiles):
    """Serves the web page at ``/`` and its files under ``/assets``, with a strict content security policy."""

    def __init__(self) -> None:
        super().__init__(packages=[(__package__, "assets")])
        self._headers = {
            "Cache-Control": "no-cache",
            "Content-Security-Policy": (
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            ),
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        # Some systems register a different type for scripts, which browsers reject.
        mimetypes.add_type("text/javascript", ".js")

        async def answer_document(_request: Request) -> Response:
            return HTMLResponse(read_asset("web/index.html"), headers=self._headers)

        self.routes = [Route("/", answer_document), Mount("/assets", self)]

    def file_response(
        self, full_path: PathLike[str] | str, stat_result: stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        # Do not use starlette's ETag, which depends on a file's time and size: in reproducible packages, the time is
        # the same in all versions.
        headers = self._headers | {"ETag": f'"{sha256(Path(full_path).read_bytes()).hexdigest()}"'}
        response = FileResponse(full_path, status_code, headers, stat_result=stat_result)
        if self.is_not_modified(response.headers, Headers(scope=scope)):
            return NotModifiedResponse(response.headers)
        return response
