"""Plan templates, matched by sentences; a value that a sentence lacks is asked for, never guessed."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from fingerpost.contract.company_names import WELL_KNOWN, name_key
from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.errors import PlanInvalid
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.plan_json import now
from fingerpost.plan.planners import Goal

_TICKER = re.compile(r"[A-Z]{1,5}(?:[.-][A-Z])?")
_YEAR = r"(?:the\s+)?(?P<year>(?:fiscal\s+(?:year\s+)?|FY\s?)?(?:19|20)\d\d)"
_BETWEEN = re.compile(r"\s*,\s*(?:and\s+)?|\s+(?:and|with|vs\.?)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Template:
    """A plan with parameters.

    Attributes:
        example: a sentence that it reads.
        sentence: reads a sentence; its groups are the parameters.
        fill: returns the steps for the parameters.
    """

    example: str
    sentence: re.Pattern[str]
    fill: Callable[[Mapping[str, str]], list[PlanStep]]


class TemplatePlanner:
    """Plans goals that match a template's sentence."""

    async def plan(self, goal: Goal, catalogue: Catalogue, memory: Collection[str]) -> Plan | None:  # noqa: ARG002  (a planner's arguments)
        for template in TEMPLATES:
            read = template.sentence.fullmatch(goal.text.strip())
            if read is not None:
                return Plan(goal=goal.text, steps=template.fill(read.groupdict()), created_at=now())
        return None


def _ticker_of(company: str) -> str:
    ticker = WELL_KNOWN.get(name_key(company)) or (company if _TICKER.fullmatch(company) else None)
    if ticker is None:
        raise PlanInvalid(f"The ticker of '{company}' is not known here", {"field": "ticker"}, hint="Write its ticker")
    return ticker


def _metric_of(text: str) -> str:
    metric = text.strip()
    return metric[:1].upper() + metric[1:]


def _financial_fact(fields: Mapping[str, str]) -> list[PlanStep]:
    company, year = fields["company"].strip(), fields["year"].strip()
    ticker, metric = _ticker_of(company), _metric_of(fields["metric"])
    number = year[-4:]
    # "2022" is a window of days, as in the plan-step contract's example; "fiscal 2022" is a year by its name.
    period = {"start_date": f"{number}-01-01", "end_date": f"{number}-12-31"} if year == number else {"period": number}
    arguments: dict[str, Any] = {"ticker": ticker, "metrics": [metric], **period}
    return [
        PlanStep(
            step_id=1,
            description=f"Get {company}'s {fields['metric'].strip()} for {year}",
            tool="sec_financial_data",
            parameters={"query_type": "financial_facts", "parameters": arguments},
            expected_key=f"{fields['metric'].strip().lower().replace(' ', '_')}_data",
            output_path=["data", metric],
            done_check="True",
        )
    ]


def _compare(fields: Mapping[str, str]) -> list[PlanStep]:
    companies = [company.strip() for company in _BETWEEN.split(fields["companies"].strip())]
    tickers = list(dict.fromkeys(_ticker_of(company) for company in companies))
    if len(tickers) < 2:
        raise PlanInvalid("A comparison needs two companies", {"field": "companies"}, hint="Name another one")
    metric, year = fields["metric"].strip(), fields["year"].strip()[-4:]
    return [
        PlanStep(
            step_id=1,
            description=f"Compare the {metric} of {', '.join(companies)} for fiscal {year}",
            tool="sec_financial_data",
            parameters={
                "query_type": "compare",
                "parameters": {"tickers": tickers, "metrics": [_metric_of(metric)], "period": year},
            },
            expected_key=f"{metric.lower().replace(' ', '_')}_compared",
            output_path=["data"],
            done_check="True",
        )
    ]


def _there_and_back(fields: Mapping[str, str]) -> list[PlanStep]:
    def find(number: int, key: str, text: str) -> PlanStep:
        return PlanStep(
            step_id=number,
            description=f"Find {text}",
            tool="findAddressOrStop",
            parameters={"rawText": text},
            expected_key=key,
        )

    def end(key: str) -> dict[str, Any]:
        return {"type": "coords", "value": {"$ref": key, "path": "data.coordinate"}}

    def ride(number: int, key: str, origin: str, destination: str) -> PlanStep:
        return PlanStep(
            step_id=number,
            description=f"Plan the way {'there' if key == 'there' else 'back'}",
            tool="plan_trip",
            parameters={"origin": end(origin), "destination": end(destination)},
            expected_key=key,
            output_path=["data", "itineraries", "0"],
        )

    saved = {
        "there": {"$ref": "there", "path": "data.itineraries[0].fingerprint"},
        "back": {"$ref": "back", "path": "data.itineraries[0].fingerprint"},
    }
    return [
        find(1, "origin", fields["origin"].strip()),
        find(2, "destination", fields["destination"].strip()),
        ride(3, "there", "origin", "destination"),
        ride(4, "back", "destination", "origin"),
        PlanStep(
            step_id=5,
            description="Save both",
            tool="save_user_variable",
            parameters={"key": "last_round_trip", "type": "other", "value": saved},
            expected_key="saved",
        ),
    ]


TEMPLATES = (
    Template(
        "Get Apple's revenue for 2022",
        re.compile(
            r"(?:get|find|what was|show)\s+(?P<company>[\w .&-]{1,60}?)['\u2019]s?\s+(?P<metric>[\w -]{1,60}?)"
            rf"\s+(?:for|in)\s+{_YEAR}\s*[.?]?",
            re.IGNORECASE,
        ),
        _financial_fact,
    ),
    Template(
        "Compare the revenue of Apple and NVIDIA for 2022",
        re.compile(
            r"compare\s+(?:the\s+)?(?P<metric>[\w -]{1,60}?)\s+of\s+(?P<companies>[\w .,&-]{1,300}?)"
            rf"\s+(?:for|in)\s+{_YEAR}\s*[.?]?",
            re.IGNORECASE,
        ),
        _compare,
    ),
    Template(
        "Plan a trip from Kamppi to Espoo and back",
        re.compile(
            r"plan a (?:round )?trip from\s+(?P<origin>.{1,100}?)\s+to\s+(?P<destination>.{1,100}?)\s+and back\s*[.]?",
            re.IGNORECASE,
        ),
        _there_and_back,
    ),
)
