"""The parts of a structured answer that its text must contain (decision 0490)."""

import json
import re
from datetime import datetime
from zoneinfo import ZoneInfo

from jsonschema import Draft202012Validator

from fingerpost.contract.size_bounds import MAX_BODY_BYTES, MAX_TEXT_BYTES

# Of a body: what the caller sent, names of things that only machines compare, links that hold what is said already.
NOT_TOLD = {
    "parameters", "query_type", "output_key", "success", "correlationId", "fingerprint", "fingerprints", "insteadOf",
    "tripId", "constraints", "requested", "dataFreshness", "retrievedAt", "filing_url", "run_id", "rawQuery",
    "lastRealtimeUpdate", "documentation", "parameters_by_query_type", "touches", "walking", "deduplicatedFrom",
    "autoResolvedThreshold", "applied", "window", "left_out", "fiscal_quarter", "period_type",
    "total_results", "totalCandidatesFound",
}  # fmt: skip
# Of a trip: where its ends and stops lie; a rider is told their names.
NOT_TOLD_OF_TRIPS = {"coordinate", "staySeated"}
# Times of the lookup contract are in UTC, and a reader is told them in the zone of the place.
NOT_TOLD_OF_ROUTES = {"lat", "lon", "autoResolvedThreshold"}
# A run's text names candidates without the scores of the look-up.
NOT_TOLD_OF_RUNS = {"confidenceScore", "matchQuality"}
RUNS = ("run_plan", "get_plan_run")
IN_UTC = ("planRoute", "getStopTimetable")
INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?.*")
DAY = re.compile(r"\d{4}-\d\d-\d\d")
ACCESSION = re.compile(r"\d{10}-\d\d-\d{6}")


def facts_of(value, name="", skipped=frozenset()):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in skipped:
                yield from facts_of(inner, key, skipped)
    elif isinstance(value, list):
        for inner in value:
            yield from facts_of(inner, name, skipped)
    elif (
        (isinstance(value, int | float) and not isinstance(value, bool))
        or (isinstance(value, str) and (INSTANT.fullmatch(value) or DAY.fullmatch(value) or ACCESSION.fullmatch(value)))
        or (name in ("token", "cik", "stopId") and isinstance(value, str))
    ):
        yield name, value


def is_told(name, fact, text, zone="Europe/Helsinki"):
    if isinstance(fact, str):
        if fact in text:
            return True
        if fact.endswith("Z"):
            # The look-up contract writes UTC, and its texts are for people in the town.
            fact = datetime.fromisoformat(fact).astimezone(ZoneInfo(zone)).isoformat()
        instant = INSTANT.fullmatch(fact)
        return instant is not None and instant[2] in text
    if name == "totalDuration":
        # The text has the difference of the times shown, which are cut to minutes; a run's has its steps' values.
        return any(f"{fact // 60 + more} min" in text for more in (0, 1)) or f'"totalDuration":{fact}' in text
    if name == "matchQuality":
        # Of a thousand in the structure; the text has the score that all candidates have.
        return any(round(1000 * float(score)) == fact for score in re.findall(r"score (\d[.\d]*\d|\d)", text))
    if name == "duration":
        # Its beginning and its end are told.
        return True
    return any(
        re.search(rf"(?<![\d.]){re.escape(form)}(?![\d])", text) for form in {f"{fact}", f"{abs(fact)}", f"{fact:,}"}
    )


def untold(name, answer):
    skipped = NOT_TOLD | (NOT_TOLD_OF_TRIPS if name in ("plan_trip", "check_trip") else set())
    zone = answer.body.get("metadata", {}).get("timeZone", "Europe/Helsinki")
    if name in IN_UTC:
        skipped |= NOT_TOLD_OF_ROUTES
    if name in RUNS:
        skipped |= NOT_TOLD_OF_RUNS
    if "left out" in answer.text:
        return []
    facts = list(facts_of(answer.body, skipped=skipped))
    if name in IN_UTC:
        facts = [fact for fact in facts if str(fact[1]) not in answer.text]
    return [fact for fact in facts if not is_told(*fact, answer.text, zone) and fact[1] != 0]


def size_of(text):
    return len(text.encode("utf-8", "surrogatepass"))


def list_faults(tool, answer):
    """Yield (kind, details) where an answer breaks its schema or its bounds, or its text lacks a fact (rule A11)."""
    # As it goes over the wire: a number that JSON lacks would be found here.
    wire = json.dumps(answer.body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for error in Draft202012Validator(tool.definition.output_schema).iter_errors(json.loads(wire)):
        yield "schema", error.message[:300]
    if (body_bytes := size_of(wire)) > MAX_BODY_BYTES or size_of(answer.text) > MAX_TEXT_BYTES:
        yield "bound", (body_bytes, size_of(answer.text))
    if facts := untold(tool.name, answer):
        yield "untold", (facts[:5], answer.text[:300])
