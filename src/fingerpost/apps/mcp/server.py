"""The MCP server: request handlers for one application, progress notifications, and stdio."""

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import mcp_types as types
from anyio import create_memory_object_stream, create_task_group
from anyio.streams.memory import MemoryObjectSendStream
from mcp import MCPError
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import methods
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from fingerpost import __version__, clock
from fingerpost.apps import error_boundary
from fingerpost.apps.mcp import listing
from fingerpost.apps.mcp.elicitation import apply_choices, elicit, read_choices
from fingerpost.apps.warm_up import WarmUp
from fingerpost.apps.wiring import Application, is_in_groups
from fingerpost.contract.published_tool import Answer, PublishedTool
from fingerpost.transit.kernel_mode import is_compiling

INSTRUCTIONS = (
    "Public transport answers that name their sources. Plan trips with plan_trip; get departure boards with "
    "get_departures. "
    "Send place names as labels: an ambiguous name returns candidates, whose tokens every tool accepts. "
    "Stop ids look like FEED:LOCAL. Times have the local offset; a time without one is in the network's local time. "
    "Tell the rider every warning and the demo note. The resource fingerpost://networks lists what is covered. "
    "For what companies reported to the SEC, use sec_financial_data: each figure names its filing."
)

CORRELATION_ID = "fingerpost/correlationId"
# The error class and remedy of a failed call, for clients that phrase errors for people.
CAUSE, REMEDY = "fingerpost/cause", "fingerpost/remedy"

# When and how often to report that a call is waiting for the compiler.
_EXPLAIN_AFTER_S = 2.0
_EXPLAIN_INTERVAL_S = 5.0
# How long calls without progress reports wait for the compiler; many clients end a call after a minute.
_MAX_SILENCE_S = 30.0
_STEP = 0.001
_MAX_MESSAGE_CHARS = 300

_Context = ServerRequestContext[Any, Any]

_log = logging.getLogger(__name__)

# Importing the engine holds the GIL, and would delay the host's first requests, such as ``tools/list``.
_WARM_UP_DELAY_S = 1.0
# The shell's exit status for a process ended by SIGINT.
_INTERRUPTED = 130


class Caller(NamedTuple):
    """The caller of a request.

    ``user`` owns variables and plan runs, and is None if the caller is anonymous (rule A12). Limits apply to ``name``:
    the user, or the address (for IPv6, its /64 network). If ``groups`` are given, only their tools can be called.
    """

    user: str | None
    name: str = ""
    groups: Collection[str] = ()


FindCaller = Callable[[_Context], Caller]
_STABLE: tuple[CacheableMethod, ...] = ("server/discover", "tools/list", "resources/list", "resources/templates/list")
_CACHE_HINTS = dict.fromkeys(_STABLE, CacheHint(ttl_ms=3_600_000, scope="public"))


def new_server(application: Application, find_caller: FindCaller) -> Server[Any]:
    """Return a stateless server for old and new protocol versions, and for any transport."""
    handlers = _Handlers(application, find_caller)
    server: Server[Any] = Server(
        "fingerpost",
        version=__version__,
        title="fingerpost",
        description="Public transport answers that an agent can trust.",
        instructions=INSTRUCTIONS,
        cache_hints=_CACHE_HINTS,
        get_tool_input_schema=handlers.header_schemas.get,
        on_list_tools=handlers.list_tools,
        on_list_resources=listing.list_resources,
        on_list_resource_templates=listing.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_completion=partial(listing.complete_tool, application),
    )
    handlers.stamp = {types.SERVER_INFO_META_KEY: server.server_info_stamp}
    server.extensions[listing.EXTENSION_ID] = {}
    # Handlers passed to the constructor must return models; this one returns JSON.
    server.add_request_handler("tools/call", types.CallToolRequestParams, handlers.call_tool)
    server.middleware.append(handlers.answer_tool_call)
    return server


class _Handlers:
    def __init__(self, application: Application, find_caller: FindCaller) -> None:
        self._application = application
        self._find_caller = find_caller
        self.stamp: Mapping[str, Any] = {}
        self._entries = {name: listing.build_tool_entry(tool.definition) for name, tool in application.tools.items()}
        # The SDK looks for header parameters in a tool's schema; our tools have none.
        self.header_schemas = {name: {"type": "object"} for name in self._entries}

    def _select_tools(self, groups: Collection[str]) -> Mapping[str, PublishedTool]:
        tools = self._application.tools
        if not groups:
            return tools
        return {name: tool for name, tool in tools.items() if is_in_groups(tool.definition, groups)}

    async def list_tools(self, ctx: _Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        tools = self._select_tools(self._find_caller(ctx).groups)
        entries = [self._entries[name] for name, tool in tools.items() if await tool.is_available()]
        return types.ListToolsResult(tools=entries)

    async def call_tool(self, ctx: _Context, params: types.CallToolRequestParams) -> dict[str, Any]:
        choices = read_choices(params)
        caller = self._find_caller(ctx)
        tools = self._select_tools(caller.groups)
        tool = tools.get(params.name)
        if "progress_token" not in (params.meta or {}):
            clock.limit_compiler_wait(_MAX_SILENCE_S)
        include = listing.list_requested_parts(
            params, None if tool is None else tool.definition, ctx.session.client_capabilities
        )
        async with ProgressReporter(ctx.session) as reporter:
            while True:
                answer = await error_boundary.answer(
                    tools,
                    params.name,
                    apply_choices(choices, params.arguments or {}),
                    user=caller.user,
                    caller=caller.name,
                    report=reporter.report,
                    include=include,
                )
                choice = await elicit(ctx, answer, choices)
                if choice is None:
                    return build_result(answer)
                if isinstance(choice, types.InputRequiredResult):
                    return choice.model_dump(mode="json", by_alias=True, exclude_none=True)
                choices = choice

    async def answer_tool_call(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        """Answer tool calls of current protocols, and forward all other requests; reject pagination cursors.

        If the arguments are not an object, the error is in the tool's envelope, because language models do not see
        protocol errors.
        """
        params = ctx.params or {}
        if ctx.method.endswith("/list") and params.get("cursor") is not None:
            raise MCPError(code=types.INVALID_PARAMS, message="Unknown cursor: every list has only one page")
        arguments, name = params.get("arguments"), params.get("name")
        if ctx.method != "tools/call" or not isinstance(name, str):
            return await call_next(ctx)
        if arguments is None or isinstance(arguments, Mapping):
            ctx = replace(ctx, params={**params, "arguments": arguments or {}})
            if name not in self._entries or ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
                return await call_next(ctx)
            # Call the tool here, because after a handler, the SDK validates and copies the whole answer again.
            request = methods.parse_client_request(ctx.method, ctx.protocol_version, ctx.params)
            result = await self.call_tool(ctx, request.params)
            return {**result, "_meta": {**result.get("_meta", {}), **self.stamp}}
        caller = self._find_caller(ctx)
        tools = self._select_tools(caller.groups)
        return build_result(await error_boundary.answer(tools, name, arguments, user=caller.user))

    async def read_resource(self, ctx: _Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await listing.read_resource(self._application, params.uri, user=self._find_caller(ctx).user)


class ProgressReporter:
    """Sends the progress of one call (``notifications/progress``) with strictly increasing values.

    If the client reads slowly, intermediate reports are dropped, but never the last report.
    """

    def __init__(self, session: ServerSession) -> None:
        self._session = session
        self._last_done = -1.0
        self._total = 1.0
        self._latest: tuple[float, float, str] | None = None
        self._sender: asyncio.Task[None] | None = None
        self._has_ended = False
        self._started_at = time.monotonic()
        self._has_waited = False
        self._explain_timer: asyncio.TimerHandle | None = None

    def report(self, done: float, total: float, message: str) -> None:
        """Report progress; after a wait for the compiler, values that are too low are raised above the last one."""
        if self._has_waited and done <= self._last_done:
            done = self._last_done + _STEP
        if done <= self._last_done or self._has_ended:
            return
        self._last_done, self._total = done, total
        if len(message) > _MAX_MESSAGE_CHARS:
            message = f"{message[:_MAX_MESSAGE_CHARS]}…"
        self._latest = (done, total, message)
        if self._sender is None:
            self._sender = asyncio.create_task(self._send())

    async def __aenter__(self) -> Self:
        self._explain_timer = asyncio.get_running_loop().call_later(_EXPLAIN_AFTER_S, self._explain)
        return self

    def _explain(self) -> None:
        """If the engine is compiling, report that the call is waiting, and increase its progress slightly."""
        if is_compiling() and self._last_done < self._total:
            waited_s = round(time.monotonic() - self._started_at)
            message = f"Compiling the engine, which happens once and takes a minute or two; {waited_s} s so far"
            self.report(max(self._last_done, 0.0) + _STEP, self._total, message)
            self._has_waited = True
        self._explain_timer = asyncio.get_running_loop().call_later(_EXPLAIN_INTERVAL_S, self._explain)

    async def __aexit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        """Wait until the last report has been sent, so that it precedes the answer."""
        self._has_ended = True
        if self._explain_timer is not None:
            self._explain_timer.cancel()
        if self._sender is None:
            return
        sender = self._sender
        try:
            if error is None:
                await asyncio.wait([sender])
        finally:
            sender.cancel()

    async def _send(self) -> None:
        try:
            while self._latest is not None:
                latest, self._latest = self._latest, None
                await self._session.report_progress(*latest)
        finally:
            # Even if this report failed, later reports must be sent.
            self._sender = None


def build_result(answer: Answer) -> dict[str, Any]:
    """Return an answer as the JSON of a ``CallToolResult``."""
    meta: dict[str, Any] = {CORRELATION_ID: answer.correlation_id}
    if answer.error is not None:
        meta[CAUSE] = answer.error.cause
        if (remedy := answer.error.remedy) is not None:
            meta[REMEDY] = {"kind": remedy.kind.code, "values": dict(remedy.values)}
    meta |= {key: answer.extras[name] for key, name in listing.EXTRAS.items() if name in answer.extras}
    return {
        "resultType": "complete",
        "content": [{"type": "text", "text": answer.text}],
        "structuredContent": answer.body,
        "isError": answer.is_error,
        "_meta": meta,
    }


async def serve_stdio(application: Application, warm_up: WarmUp) -> None:
    server = new_server(application, lambda _ctx: Caller(application.settings.user))
    asyncio.get_running_loop().call_later(_WARM_UP_DELAY_S, warm_up.start)
    _exit_on_interrupt()
    async with aclosing(application):
        async with (
            application.runs.journal.recovering(),
            stdio_server() as (incoming, outgoing),
            create_task_group() as tasks,
        ):
            send, messages = create_memory_object_stream[SessionMessage | Exception](0)
            tasks.start_soon(_forward_messages, incoming, send, outgoing)
            await server.run(messages, outgoing, server.create_initialization_options())
            tasks.cancel_scope.cancel()
        warm_up.exit_if_running()


def _exit_on_interrupt() -> None:
    """End the process at the first interrupt; otherwise, Python would wait for the thread that reads stdin."""
    loop = asyncio.get_running_loop()

    def exit_now() -> None:
        _log.info("interrupted")
        logging.shutdown()
        os._exit(_INTERRUPTED)

    signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(exit_now))


async def _forward_messages(
    incoming: ReadStream[SessionMessage | Exception],
    send: MemoryObjectSendStream[SessionMessage | Exception],
    outgoing: WriteStream[SessionMessage],
) -> None:
    """Forward messages to the server; answer malformed messages with an error, because the SDK ignores them."""
    async with send:
        async for item in incoming:
            if isinstance(item, SessionMessage):
                await send.send(item)
                continue
            _log.warning("a line on standard input is not a JSON-RPC message: %s", type(item).__name__)
            error = types.ErrorData(code=types.PARSE_ERROR, message="The line is not a JSON-RPC message")
            await outgoing.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=error)))
