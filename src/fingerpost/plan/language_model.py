"""Plan by a language model (extra ``[llm]``): any endpoint that speaks OpenAI's protocol.

The output schema lists the registry's tools, and the model gets all problems of a plan, a limited number of times.
"""

from collections.abc import Collection, Iterable
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.exceptions import AgentRunError, ModelHTTPError, UnexpectedModelBehavior
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.contract.wire import build_json_schema
from fingerpost.errors import PlanInvalid, SourceFailed
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.plan_json import now
from fingerpost.plan.planners import Goal
from fingerpost.plan.validation import validate_plan

_RETRIES = 2
_INSTRUCTIONS = """\
Write a plan as data: steps that call tools, as few as reach the goal.
A step takes a value of an earlier step by a reference in its place: {"$ref": key, "path": JMESPath}.
The path starts at that step's whole response, whose "data" holds the tool's answer.
Each step has its own expected_key. Never invent a parameter: without it, answer with no steps and say in missing
what is missing."""


class LanguageModelPlanner:
    def __init__(self, base_url: str, model: str, api_key: str | None) -> None:
        # Local servers need no key, but the client needs some text.
        provider = OpenAIProvider(base_url=base_url, api_key=api_key or "none")
        self._model = OpenAIChatModel(model, provider=provider)

    async def plan(self, goal: Goal, catalogue: Catalogue, memory: Collection[str]) -> Plan | None:
        """Return a valid plan, or raise PlanInvalid with the missing values, or SourceFailed for the endpoint."""
        answer_model = plan_model(catalogue)
        last: list[str] = []
        agent: Agent[None, Any] = Agent(
            self._model, output_type=answer_model, retries=_RETRIES, instructions=_INSTRUCTIONS
        )

        @agent.output_validator
        def check(answer: Any) -> Any:
            if answer.steps:
                try:
                    validate_plan(as_plan(answer, goal), catalogue, memory=memory)
                except PlanInvalid as error:
                    last[:] = [error.message]
                    raise ModelRetry(error.message) from error
            elif not answer.missing:
                last[:] = ["a plan without steps must state what is missing"]
                raise ModelRetry(last[0])
            return answer

        try:
            result = await agent.run(_question(goal, memory))
        except ModelHTTPError as error:
            raise SourceFailed(f"The language model answered with status {error.status_code}") from error
        except UnexpectedModelBehavior as error:
            reason = f": {last[0]}" if last else ""
            raise PlanInvalid(f"The language model wrote no valid plan{reason}") from error
        except AgentRunError as error:
            raise SourceFailed("The language model is not available") from error
        if not result.output.steps:
            raise PlanInvalid(f"The goal is incomplete: {result.output.missing[:500]}", {"field": "user_input"})
        return as_plan(result.output, goal)


def plan_model(catalogue: Catalogue) -> type[BaseModel]:
    closed = ConfigDict(extra="forbid")
    shared: dict[str, Any] = {
        "step_id": (int, ...),
        "description": (str, ""),
        "expected_key": (str, ...),
        "dependencies": (list[int], Field(default_factory=list)),
        "output_path": (list[str] | None, None),
        "done_check": (str | None, None),
    }
    kinds: list[Any] = []
    for name, tool in sorted(catalogue.tools.items()):
        questions = tool.spec.input_schema
        # References may stand for any value, so arguments are described here and checked once they are filled in.
        fields = "; ".join(f"of {query_type}: {_fields_of(arguments)}" for query_type, arguments in questions.items())
        question = create_model(
            f"{name}_question",
            __config__=closed,
            query_type=(_one_of_words(questions), ...),
            parameters=(dict[str, Any], Field(description=f"Fields {fields}")),
        )
        kinds.append(
            create_model(
                f"{name}_step",
                __config__=closed,
                __doc__=tool.spec.description or None,
                tool=(_one_of_words([name]), ...),
                parameters=(question, ...),
                **shared,
            )
        )
    step: Any = dict[str, Any]
    if kinds:
        # A list of one kind is no union, and needs no discriminator.
        step = Annotated[Union[tuple(kinds)], Field(discriminator="tool")] if kinds[1:] else kinds[0]  # noqa: UP007
    return create_model("WrittenPlan", __config__=closed, steps=(list[step], ...), missing=(str, ""))


def _one_of_words(words: Iterable[str]) -> Any:
    kind: Any = Literal
    return kind[tuple(words)]


def as_plan(answer: Any, goal: Goal) -> Plan:
    steps = [PlanStep.model_validate(step.model_dump()) for step in answer.steps]
    return Plan(goal=goal.text, steps=steps, created_at=now())


def _question(goal: Goal, memory: Collection[str]) -> str:
    lines = [f"Goal: {goal.text}"]
    if goal.wanted:
        lines.append(f"These keys must be there in the end: {', '.join(goal.wanted)}")
    if goal.known:
        lines.append(f"Known values: {dict(goal.known)}")
    if memory:
        lines.append(f"These keys are there already: {', '.join(sorted(memory))}")
    return "\n".join(lines)


def _fields_of(model: type[BaseModel]) -> str:
    schema = build_json_schema(model)
    required = schema.get("required", [])
    fields = schema.get("properties", {})
    return ", ".join(f"{name}{'' if name in required else '?'}: {_type_of(fields[name])}" for name in fields)


def _type_of(field: dict[str, Any]) -> str:
    kinds = (kind.get("type", "object" if "$ref" in kind else "any") for kind in field.get("anyOf", [field]))
    return " | ".join(dict.fromkeys(str(kind) for kind in kinds if kind != "null"))
