"""Generated calls to every tool: each answer matches its schema and bounds, and its text is complete (rule A11).

600 of them here; 20,000 in `make soak`, which prints how many there were of each kind.
"""

import asyncio
import os
import random
import sys
from collections import Counter

import pytest
from jsonschema import Draft202012Validator

from fingerpost.apps import error_boundary
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from fingerpost.errors import ToolError
from fingerpost.filings.figure import Filing
from fingerpost.filings.store import FactStore
from tests.apps.generated_calls import CallDrawer, print_call
from tests.apps.telling import list_faults

CALLS = 20_000 if os.environ.get("FINGERPOST_SOAK") else 600
# Some drawn calls are refused before the tool handles them.
DRAWS_OF_ONE_TOOL = 8
SEED = int(os.environ.get("FINGERPOST_SEED", "17"))
# Text of one filing, because the sample has figures only.
FILING = Filing("0000320193-22-000108", "10-K", "2022-10-28")
FILING_TEXT = """Item 1. Business
Apple designs telephones, and had revenue of 394 billion dollars in 2022.
Item 1A. Risk Factors
The supply chain is at risk: 2 suppliers, among them NVIDIA, may stop selling on 2023-06-30.
"""
INTERNAL = ("inside fingerpost", "internal-error", "UNEXPECTED", "unknown_error")


@pytest.fixture
def application(home):
    settings = read_settings(plan_journey_per_second=1000)
    FactStore(settings.filings_file).put_text(320193, FILING, FILING_TEXT)
    return build(settings)


def test_every_answer_is_valid_within_its_bound_and_complete_in_its_text(application):
    drawer, wrong, seen = CallDrawer(application, random.Random(SEED)), {}, Counter()

    async def query_all():
        for _ in range(CALLS):
            name, arguments = drawer.draw()
            answer = await error_boundary.answer(application.tools, name, arguments, user="ann")
            faults = list(list_faults(application.tools[name], answer))
            if any(word in answer.text for word in INTERNAL):
                faults.append(("internal", answer.text[:300]))
            for kind, what in faults:
                wrong.setdefault(f"{name}: {kind}", []).append((print_call(name, arguments), what))
            seen[name, "failed" if answer.is_error else "answered"] += 1
            run_id = answer.body.get("data", {}).get("run_id") if name == "run_plan" else None
            drawer.run_ids += [run_id] if run_id and len(drawer.run_ids) < 50 else []
        await application.runs.stop()
        await application.networks.close()

    asyncio.run(query_all())
    kinds = sorted({kind for _, kind in seen})
    sys.stdout.write(
        f"{CALLS} calls: { {kind: sum(n for (_, k), n in seen.items() if k == kind) for kind in kinds} }\n"
    )
    sys.stdout.write(f"{dict(seen)}\n")

    told = [f"{len(each)} of {kind}\n  {each[0][0]}\n  {each[0][1]}" for kind, each in wrong.items()]
    assert not told, "\n".join(told)
    # A generator whose calls are all refused would prove nothing.
    one_sided = {name for name in application.tools if not seen[name, "answered"] or not seen[name, "failed"]}
    assert not one_sided


class Unforeseen(ToolError):
    """Stands for a bug."""


def test_an_unforeseen_exception_is_answered_as_published(application, monkeypatch):
    drawer, raised = CallDrawer(application, random.Random(SEED)), set()
    for error in (RuntimeError("a bug"), Unforeseen("ours")):

        async def broken(self, *_arguments, error=error, **_named):
            raised.add((self.name, type(error)))
            raise error

        for name, tool in application.tools.items():
            monkeypatch.setattr(type(tool), "handle", broken)
            for _ in range(DRAWS_OF_ONE_TOOL):
                arguments = drawer.draw_sound(name)
                answer = asyncio.run(error_boundary.answer(application.tools, name, arguments, user="ann"))
                assert answer.is_error, print_call(name, arguments)
                assert list(Draft202012Validator(tool.definition.output_schema).iter_errors(answer.body)) == []
    assert raised == {(name, error) for name in application.tools for error in (RuntimeError, Unforeseen)}


def test_the_published_schemas_distinguish_failure_from_success(application):
    schemas = {name: tool.definition.output_schema for name, tool in application.tools.items()}

    assert [name for name, schema in schemas.items() if Draft202012Validator(schema).is_valid({})] == []
