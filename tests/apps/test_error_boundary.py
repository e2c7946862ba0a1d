"""If anything breaks inside, the caller gets an envelope and only the log gets the traceback."""

import errno
import json
import logging
from base64 import b64encode
from urllib.parse import quote_plus

import pytest
from opentelemetry import trace

from fingerpost.apps import error_boundary, logs
from tests.apps.scripted_tool import ScriptedTool

TOOLS = {"broken": ScriptedTool(ZeroDivisionError("with key hunter2hunter2"))}


async def test_the_traceback_of_a_bug_is_only_in_the_log_without_keys(monkeypatch, caplog):
    monkeypatch.setenv("PART_OF_A_KEY", "hunter2h")
    monkeypatch.setenv("TFL_API_KEY", "hunter2hunter2")
    with caplog.at_level(logging.ERROR):
        answer = await error_boundary.answer(TOOLS, "broken", {}, user="eva")

    assert answer.body["error"]["code"] == "internal-error"
    assert "hunter2" not in str(answer.body) + answer.text + caplog.text
    assert json.loads(logs._JsonFormatter().format(caplog.records[0]))["correlation_id"] == answer.correlation_id
    assert [word in caplog.text for word in ("ZeroDivisionError", answer.correlation_id, "[TFL_API_KEY]")] == [True] * 3


async def test_a_bug_has_the_same_name_while_the_clock_is_fixed(caplog):
    answers = [await error_boundary.answer(TOOLS, "broken", {}, user="eva") for _ in range(2)]

    assert answers[0].body == answers[1].body


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.ENOSPC, "upstream-error"), (errno.EDQUOT, "upstream-error"), (errno.EIO, "internal-error")],
)
async def test_a_full_disk_is_not_a_bug(number, code):
    full = {"full": ScriptedTool(OSError(number, "no room"))}
    answer = await error_boundary.answer(full, "full", {}, user="eva")

    assert (answer.body["error"]["code"], "is full" in answer.text) == (code, code != "internal-error")


async def test_an_unknown_tool_is_answered_with_the_list():
    answer = await error_boundary.answer(TOOLS, "brokn", {}, user=None)

    assert answer.is_error
    assert answer.text == "validation-error: Tool 'brokn' not found in registry. The tools are: broken."


async def test_the_log_names_the_call_and_not_its_arguments(caplog):
    """A3: the correlation id is in the log; places are the caller's own business."""
    tools = {"scripted": ScriptedTool({"home": "HSL:home"})}
    with caplog.at_level(logging.INFO, "fingerpost.apps.error_boundary"):
        answer = await error_boundary.answer(tools, "scripted", {}, user="ada")
        await error_boundary.answer(tools, "scripted", {"home": "x"}, user="ada")
    assert caplog.messages[0] == f"call tool=scripted correlationId={answer.correlation_id} outcome=ok"
    assert [message.rpartition(" ")[2] for message in caplog.messages] == ["outcome=ok", "outcome=validation-error"]
    assert [message for message in caplog.messages if "home" in message or "ada" in message] == []


async def test_a_json_line_describes_the_call_and_hashes_its_caller(caplog, monkeypatch):
    monkeypatch.setenv("TFL_API_KEY", 'quote"and/slash')
    monkeypatch.setattr(trace, "get_tracer_provider", trace.NoOpTracerProvider)
    tools = {"scripted": ScriptedTool({})}
    with caplog.at_level(logging.INFO, "fingerpost.apps.error_boundary"):
        answer = await error_boundary.answer(tools, "scripted", {}, user=None, caller="203.0.113.5")
    formatter = logs._JsonFormatter()
    line = json.loads(formatter.format(caplog.records[0]))
    key = 'quote"and/slash'
    forms = [key, quote_plus(key), json.dumps(key)[1:-1], b64encode(f"me:{key}".encode()).decode()]
    failed = logging.LogRecord("fingerpost", logging.ERROR, "", 0, " ".join(forms), (), None)

    assert {key: line[key] for key in ("level", "tool", "caller", "outcome", "correlation_id", "trace_id")} == {
        "level": "INFO",
        "tool": "scripted",
        "caller": "440a628a0c97",
        "outcome": "ok",
        "correlation_id": answer.correlation_id,
        "trace_id": None,
    }
    assert line["duration_ms"] >= 0
    assert json.loads(formatter.format(failed))["message"] == " ".join(["[TFL_API_KEY]"] * 3 + ["bWU6[TFL_API_KEY]"])
