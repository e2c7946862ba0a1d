"""A small MCP client: a server's tools over stdio or HTTP, with the protocol version of June 2025."""

import json
import os
import subprocess
import urllib.request
from typing import Any, Self

VERSION = "2025-06-18"


class McpClient:
    """Calls a server that is started from a command, or that listens at a URL. Counts calls and characters."""

    def __init__(self, server: list[str] | str, environment: dict[str, str] | None = None) -> None:
        self.calls = self.characters = self._number = 0
        self._url = server if isinstance(server, str) else None
        self._session: dict[str, str] = {}
        self._process = None
        if isinstance(server, list):
            self._process = subprocess.Popen(
                server, env=os.environ | (environment or {}), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
            )  # fmt: skip
        client = {"name": "fingerpost-questions", "version": "1"}
        self._send("initialize", {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client})
        self._send("notifications/initialized")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

    def list_tools(self) -> list[dict]:
        return self._send("tools/list", {})["tools"]

    def call(self, tool: str, arguments: dict) -> Any:
        """Return a tool's structured content, or its text, parsed if it is JSON."""
        self.calls += 1
        result = self._send("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(part.get("text", "") for part in result.get("content", []))
        self.characters += len(text)
        if "structuredContent" in result:
            return result["structuredContent"]
        try:
            return json.loads(text)
        except ValueError:
            return {"text": text, "error": {"message": text} if result.get("isError") else None}

    def _send(self, method: str, params: dict | None = None) -> dict:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            self._number += 1
            message |= {"id": self._number, "params": params}
        text = json.dumps(message)
        if self._url is not None:
            answers = self._post(text)
        else:
            print(text, file=self._process.stdin, flush=True)
            answers = map(json.loads, iter(self._process.stdout.readline, ""))
        if params is None:
            return {}
        answer = next((each for each in answers if each.get("id") == self._number and "method" not in each), None)
        if answer is None:
            raise ConnectionError(f"the server closed the connection during {method}")
        if "error" in answer:
            return {"content": [{"text": answer["error"]["message"]}], "isError": True}
        return answer["result"]

    def _post(self, text: str) -> list[dict]:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        request = urllib.request.Request(self._url, text.encode(), headers | self._session)
        with urllib.request.urlopen(request, timeout=120) as response:
            if session := response.headers.get("Mcp-Session-Id"):
                self._session = {"Mcp-Session-Id": session, "MCP-Protocol-Version": VERSION}
            body = response.read().decode()
        if "text/event-stream" in (response.headers.get("Content-Type") or ""):
            return [json.loads(line[5:]) for line in body.splitlines() if line.startswith("data:") and line[5:].strip()]
        return [json.loads(body)] if body.strip() else []
