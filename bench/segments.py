"""Read XBRL instances, and print for which axes the parts add up to the total.

With edgartools, also count the facts that it reads differently.

The first argument is a folder of instances (``NAME_htm.xml``). The second is optional: the Python of an
environment with edgartools, such as that of ``make bench-filings``.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from harness import run_json, timed_ms

from fingerpost.filings import segments
from fingerpost.filings.concepts import find_metric
from fingerpost.filings.figure import ANNUAL_FORMS
from fingerpost.filings.library import FactLibrary
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


def list_checks(instance: Instance) -> Iterator[str]:
    report = segments.Report(FactLibrary(), 0, instance.cik, "", instance.form, "", instance.period_end)
    is_annual = instance.form in ANNUAL_FORMS
    calendar = FiscalCalendar([(instance.period_end, 0)] if is_annual else [])
    words = {axis: word for word, axes in segments.AXIS_WORDS.items() for axis in axes}
    newest = [fact for fact in instance.facts if fact.end == instance.period_end]
    periods = [segments.find_period(fact, calendar) for fact in newest]
    facts = [
        fact for fact, period in zip(newest, periods, strict=True) if period and (period.quarter is None) == is_annual
    ]
    for name in METRICS:
        concepts = find_metric(name).concepts
        for breakdown in segments.build_breakdowns(report, [fact for fact in facts if fact.concept in concepts]):
            if breakdown.axis in words:
                difference = "no total" if breakdown.difference is None else f"{breakdown.difference:,}"
                yield f"{name} by {words[breakdown.axis]}: {difference}"


def count_differences(path: Path, instance: Instance, python: str) -> int:
    """Return how many of our facts edgartools lacks, or reads with another value."""
    theirs: dict[str, set[float]] = {}
    for *place, value, members in run_json(python, "-c", _EDGARTOOLS, path):
        theirs.setdefault(json.dumps([*place, members]), set()).add(float(value))
    return sum(
        float(fact.value) not in theirs.get(json.dumps([fact.concept, fact.start, fact.end, fact.members]), ())
        for fact in instance.facts
    )


def main() -> None:
    folder, python = [*sys.argv[1:], "", ""][:2]
    paths = sorted(Path(folder).glob("*.xml")) if folder else []
    if not paths:
        raise SystemExit("usage: segments.py FOLDER [PYTHON_WITH_EDGARTOOLS]; the folder has no instance")
    facts = differences = 0
    for path in paths:
        ms, instance = timed_ms(read_instance, path.read_bytes(), path.name)
        print(f"{instance.name}, {instance.form} to {instance.period_end}, {len(instance.facts):,} facts, {ms:.0f} ms")
        print(*(f"  {check}" for check in list_checks(instance)), sep="\n")
        facts += len(instance.facts)
        differences += count_differences(path, instance, python) if python else 0
    if python:
        print(f"{differences} of {facts:,} facts differ from edgartools")


if __name__ == "__main__":
    main()
