"""The Python interface: every tool as a method, asynchronous (``Fingerpost``) and synchronous (``SyncFingerpost``)."""

from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from fingerpost.apps import error_boundary
from fingerpost.apps.settings import read_settings
from fingerpost.apps.tool_methods import ToolMethods
from fingerpost.apps.warm_up import compile_in_background
from fingerpost.apps.wiring import Application, build
from fingerpost.contract.published_tool import Answer
from fingerpost.errors import ToolError
from fingerpost.plan.user_tools import UserTool

_R = TypeVar("_R")


class Fingerpost(ToolMethods[Coroutine[Any, Any, dict[str, Any]]]):
    """All tools as asynchronous methods, in this process.

    ::

        async with Fingerpost() as fp:
            trip = await fp.plan_trip(origin="Kamppi", destination="Espoo")

    ``call`` returns the same envelopes as MCP and the command line, including errors.
    ``answer`` also returns the text, and requested parts such as geometry.
    The methods named after tools take the contract's fields in snake_case, return the answer's body, and raise errors
    as ToolError. Fields that are None are not sent. ``home`` and ``user`` default to the settings. ``tools`` adds your
    own tools, which plans can also use. Each tool is either a ``Tool`` object with a ``spec`` or a function with
    annotated parameters; a function's result becomes the answer's ``data``.

    Raises:
        SettingsInvalid: a setting, the home folder, or one of your tools is invalid.
    """

    def __init__(
        self, home: str | Path | None = None, user: str | None = None, *, tools: Sequence[UserTool] = ()
    ) -> None:
        self._application: Application = build(read_settings(home=home, user=user), user_tools=tools)
        self._user = self._application.settings.user
        compile_in_background(self._application.settings.home)

    async def __aenter__(self) -> Self:
        """Return the instance; the first call opens the networks."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop plan runs and realtime updates; the runs can be resumed from the journal."""
        await self._application.aclose()

    async def call(self, tool: str, arguments: object = None) -> dict[str, Any]:
        """Call a tool and return the contract's envelope, even for an error; never raise a ToolError."""
        return (await self.answer(tool, arguments)).body

    async def answer(self, tool: str, arguments: object = None, *, include: Collection[str] = ()) -> Answer:
        """Call a tool and return its answer: the body, the text and, in ``extras``, the requested parts.

        Never raise a ToolError; ``error`` is the error that the body reports.
        """
        return await error_boundary.answer(self._application.tools, tool, arguments, user=self._user, include=include)

    async def _fetch_body(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer = await self.answer(tool, arguments)
        if answer.error is not None:
            raise answer.error
        return answer.body


class SyncFingerpost(ToolMethods[dict[str, Any]]):
    """All tools as synchronous methods, which can also be called inside a running event loop.

    ::

        with SyncFingerpost() as fp:
            trip = fp.plan_trip(origin="Kamppi", destination="Espoo")
    """

    def __init__(
        self, home: str | Path | None = None, user: str | None = None, *, tools: Sequence[UserTool] = ()
    ) -> None:
        self._inner = Fingerpost(home, user, tools=tools)
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None

    def __enter__(self) -> Self:
        """Start an event loop in a thread."""
        self._portal = self._stack.enter_context(start_blocking_portal())
        self._stack.enter_context(self._portal.wrap_async_context_manager(self._inner))
        return self

    def __exit__(self, *error: Any) -> None:
        """Stop the event loop."""
        self._portal = None
        self._stack.__exit__(*error)

    def call(self, tool: str, arguments: object = None) -> dict[str, Any]:
        """Call a tool and return its envelope; see ``Fingerpost.call``."""
        return self.answer(tool, arguments).body

    def answer(self, tool: str, arguments: object = None, *, include: Collection[str] = ()) -> Answer:
        """Call a tool and return its answer; see ``Fingerpost.answer``."""
        return self._wait(partial(self._inner.answer, tool, arguments, include=include))

    def _fetch_body(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return self._wait(partial(self._inner._fetch_body, tool, arguments))  # noqa: SLF001  (a class in this module)

    def _wait(self, answer: Callable[[], Awaitable[_R]]) -> _R:
        if self._portal is None:
            raise ToolError("SyncFingerpost is not open", hint="Use it as: with SyncFingerpost() as fp")
        return self._portal.call(answer)
