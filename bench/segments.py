"""Read XBRL instances, and print for which axes the parts add up to the total.

With edgartools, also count the facts that it reads otherwise.

The first argument is a folder of instances (``NAME_htm.xml``). The second, which may be absent, is the Python of an
environment with edgartools, such as that of ``make bench-filings``.
"""

import json
import sys
from pathlib import Path

from harness import run_json, timed_ms

from fingerpost.filings import segments
from fingerpost.filings.concepts import find_metric
from fingerpost.filings.figure import ANNUAL_FORMS
from fingerpost.filings.periods import FiscalCalendar
from fingerpost.filings.xbrl import Instance, read_instance

METRICS = ("Revenue", "OperatingIncome")
_EDGARTOOLS = """
import json, sys
from edgar.xbrl.parsers import XBRLParser
parser = XBRLParser()
parser.parse_instance(sys.argv[1])
facts = []
for fact in parser.facts.values():
    context = parser.contexts[fact.context_ref]
    start, end = context.period.get("startDate"), context.period.get("endDate") or context.period.get("instant")
    pairs = context.dimensions.items()
    members = sorted([axis.replace("_", ":", 1), member.replace("_", ":", 1)] for axis, member in pairs)
    if fact.unit_ref and fact.numeric_value is not None:
        facts.append([fact.element_id.replace("_", ":", 1), start or "", end, fact.numeric_value, members])
print(json.dumps(facts))
"""


def list_checks(instance: Instance) -> list[str]:
    loaded = segments.LoadedInstance(0, instance.cik, "", instance.form, "", instance.period_end)
    is_annual = instance.form in ANNUAL_FORMS
    calendar = FiscalCalendar([(instance.period_end, 0)] if is_annual else [])
    words = {axis: word for word, axes in segments.AXIS_WORDS.items() for axis in axes}
    checks = []
    for name in METRICS:
        metric = find_metric(name)
        chosen = [
            fact
            for fact in instance.facts
            if fact.concept in metric.concepts
            and fact.end == instance.period_end
            and (period := segments.find_period(fact, calendar))
            and (period.quarter is None) == is_annual
        ]
        for breakdown in segments.build_breakdowns(loaded, chosen):
            if breakdown.axis in words:
                difference = "no total" if breakdown.difference is None else f"{breakdown.difference:,}"
                checks.append(f"{name} by {words[breakdown.axis]}: {difference}")
    return checks


def count_differences(path: Path, instance: Instance, python: str) -> int:
    """Return how many of our facts edgartools lacks, or reads with another value."""
    theirs: dict[tuple[str, str, str, str], set[float]] = {}
    for concept, start, end, value, members in run_json(python, "-c", _EDGARTOOLS, path):
        theirs.setdefault((concept, start, end, json.dumps(members)), set()).add(float(value))
    return sum(
        float(fact.value) not in theirs.get((fact.concept, fact.start, fact.end, json.dumps(fact.members)), set())
        for fact in instance.facts
    )


def main() -> None:
    paths = sorted(Path(sys.argv[1]).glob("*.xml")) if len(sys.argv) > 1 else []
    if not paths:
        raise SystemExit("usage: segments.py FOLDER [PYTHON_WITH_EDGARTOOLS]; the folder has no instance")
    facts = differences = 0
    for path in paths:
        ms, instance = timed_ms(read_instance, path.read_bytes(), path.name)
        print(f"{instance.name}, {instance.form} to {instance.period_end}, {len(instance.facts):,} facts, {ms:.0f} ms")
        for check in list_checks(instance):
            print(f"  {check}")
        facts += len(instance.facts)
        differences += count_differences(path, instance, sys.argv[2]) if len(sys.argv) > 2 else 0
    if len(sys.argv) > 2:
        print(f"{differences} of {facts:,} facts differ from edgartools")


if __name__ == "__main__":
    main()
