"""Create plans with a language model (extra ``[llm]``) at any OpenAI-compatible endpoint.

The output schema lists the registered tools. An invalid plan is returned to the model with its problems, at most twice.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.exceptions import AgentRunError, ModelHTTPError, UnexpectedModelBehavior
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.contract.wire import build_json_schema
from fingerpost.errors import PlanInvalid, SourceFailed
from fingerpost.net.redaction import redact
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.planners import Goal
from fingerpost.plan.records import now
from fingerpost.plan.validation import validate_plan

_RETRIES = 2
# Typed as Any, because the values are known only at run time.
_literal: Any = Literal
_INSTRUCTIONS = """\
Write a plan as data: the fewest steps, each calling a tool, that reach the goal.
To use a value from an earlier step, put a reference in its place: {"$ref": key, "path": JMESPath}.
The path starts at that step's whole response, whose "data" holds the tool's answer.
Each step has its own expected_key. Never invent a parameter: if one is unknown, return no steps and name it in
missing."""


class LanguageModelPlanner:
    def __init__(self, base_url: str, model: str, api_key: str | None) -> None:
        self._secrets = [api_key or ""]
        # Local servers need no key, but the client requires one.
        provider = OpenAIProvider(base_url=base_url, api_key=api_key or "none")
        self._model = OpenAIChatModel(model, provider=provider)

    async def plan(self, goal: Goal, catalogue: Catalogue, memory: Mapping[str, Any]) -> Plan | None:
        """Return a valid plan; raise PlanInvalid if values are missing, or SourceFailed if the endpoint fails."""
        answer_model = build_plan_model(catalogue)
        last_problems: list[str] = []
        agent: Agent[None, Any] = Agent(
            self._model, output_type=answer_model, retries=_RETRIES, instructions=_INSTRUCTIONS
        )

        @agent.output_validator
        def check(answer: Any) -> Any:
            # An endpoint may repeat its key.
            answer = answer_model.model_validate_json(redact(answer.model_dump_json(), self._secrets))
            if answer.steps:
                try:
                    validate_plan(to_plan(answer, goal), catalogue, memory=memory)
                except PlanInvalid as error:
                    last_problems[:] = [error.message]
                    raise ModelRetry(error.message) from error
            elif not answer.missing:
                last_problems[:] = ["a plan without steps must say what is missing"]
                raise ModelRetry(last_problems[0])
            return answer

        prompt = f"Goal: {goal.text}"
        if goal.wanted:
            prompt += f"\nThe plan must provide these keys: {', '.join(goal.wanted)}"
        if memory:
            prompt += f"\nValues already in memory: {dict(memory)}"
        try:
            result = await agent.run(prompt)
        except ModelHTTPError as error:
            raise SourceFailed(f"The language model returned status {error.status_code}") from error
        except UnexpectedModelBehavior as error:
            reason = f": {last_problems[0]}" if last_problems else ""
            raise PlanInvalid(f"The language model did not write a valid plan{reason}") from error
        except AgentRunError as error:
            raise SourceFailed("The language model is not available") from error
        if not result.output.steps:
            raise PlanInvalid(f"The goal is incomplete: {result.output.missing[:500]}", {"field": "user_input"})
        return to_plan(result.output, goal)


def build_plan_model(catalogue: Catalogue) -> type[BaseModel]:
    strict = ConfigDict(extra="forbid")
    shared: dict[str, Any] = {
        "step_id": (int, ...),
        "description": (str, ""),
        "expected_key": (str, ...),
        "dependencies": (list[int], Field(default_factory=list)),
        "output_path": (list[str] | None, None),
        "done_check": (str | None, None),
    }
    step_models: list[Any] = []
    for name, tool in sorted(catalogue.tools.items()):
        query_types = tool.spec.input_schema
        # A reference can replace any value, so arguments are only described here. They are checked once resolved.
        fields = "; ".join(f"for {query_type}: {_describe_fields(model)}" for query_type, model in query_types.items())
        query_model = create_model(
            f"{name}_question",
            __config__=strict,
            query_type=(_literal[tuple(query_types)], ...),
            parameters=(dict[str, Any], Field(description=f"Fields {fields}")),
        )
        step_models.append(
            create_model(
                f"{name}_step",
                __config__=strict,
                __doc__=tool.spec.description or None,
                tool=(_literal[name], ...),
                parameters=(query_model, ...),
                **shared,
            )
        )
    step: Any = dict[str, Any]
    if step_models:
        # A single model is not a union, so it needs no discriminator.
        step = Annotated[Union[tuple(step_models)], Field(discriminator="tool")] if step_models[1:] else step_models[0]  # noqa: UP007
    return create_model("WrittenPlan", __config__=strict, steps=(list[step], ...), missing=(str, ""))


def to_plan(answer: Any, goal: Goal) -> Plan:
    steps = [PlanStep.model_validate(step.model_dump()) for step in answer.steps]
    return Plan(goal=goal.text, steps=steps, created_at=now())


def _describe_fields(model: type[BaseModel]) -> str:
    schema = build_json_schema(model)
    required = schema.get("required", [])
    fields = schema.get("properties", {})
    return ", ".join(f"{name}{'' if name in required else '?'}: {_describe_type(fields[name])}" for name in fields)


def _describe_type(field: dict[str, Any]) -> str:
    options = field.get("anyOf", [field])
    types = (option.get("type", "object" if "$ref" in option else "any") for option in options)
    return " | ".join(dict.fromkeys(str(name) for name in types if name != "null"))
