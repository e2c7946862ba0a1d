"""Measure and print figures: ours, theirs, their ratio, its bound and the verdict; medians, never means."""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

# Benchmarks use the drawings, recordings and oracles of the tests.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

HEAD = f"  {'':<52}{'ours':>9}{'theirs':>9}{'ratio':>8}{'bound':>8}"


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of the values lies (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def p50(values: Sequence[float]) -> float:
    return percentile(values, 0.50)


def p95(values: Sequence[float]) -> float:
    return percentile(values, 0.95)


def report(name, ours, theirs=None, *, ratio=None, bound=None, note="") -> bool:
    """Print one figure; return whether its bound holds.

    ``ratio`` defaults to ours divided by theirs; if there is no rival, the bound applies to our figure.
    """
    if ratio is None and theirs is not None:
        ratio = ours / theirs
    is_kept = bound is None or (ours if ratio is None else ratio) <= bound
    columns = [f"{'' if value is None else format(value, '.2f'):>{width}}"
               for value, width in ((ours, 9), (theirs, 9), (ratio, 8), (bound, 8))]  # fmt: skip
    verdict = "" if bound is None else "  ok" if is_kept else "  short"
    print(f"  {name:<52}{''.join(columns)}{verdict}{note and '  ' + note}", flush=True)
    return is_kept


def report_pairs(name, ours: Sequence[float], theirs: Sequence[float], *, bound=None, note="") -> bool:
    """Print the medians of both sides' rounds, and the median of the rounds' ratios; return whether the bound holds."""
    ratio = p50([mine / its for mine, its in zip(ours, theirs, strict=True)])
    return report(name, p50(ours), p50(theirs), ratio=ratio, bound=bound, note=note)


def read_options(description: str | None, **defaults) -> argparse.Namespace:
    """Parse options of the command line; each has the type of its default."""
    parser = argparse.ArgumentParser(description=description)
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    return parser.parse_args()


def run_json(*command: object, **environ: str):
    output = subprocess.check_output(list(map(str, command)), text=True, env=os.environ | environ)
    return json.loads(output.splitlines()[-1])


def timed_ms(ask, *given):
    """Return the milliseconds that a call takes, and its result."""
    begin = time.perf_counter()
    answer = ask(*given)
    return (time.perf_counter() - begin) * 1000, answer
