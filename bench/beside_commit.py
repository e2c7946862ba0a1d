"""Compare calls to this checkout with calls to the baseline, or to another commit: the same questions over HTTP.

``bench/baseline`` names the baseline, so that small slowdowns add up. A commit that moves it gives the reason.

Each runs in its own process, with the packages of its commit. Only the sizes of the answers are compared, because a
commit may answer better than the one before it.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness import HEAD, report_pairs
from over_http import NOOP, ask, draw, median_ms
from questions import open_questions
from serving import Server, serving

BOUND = 1.1
_ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure this checkout beside another commit.")
    parser.add_argument("commit", nargs="?", default=_read_baseline(), help="the other commit; default: the baseline")
    parser.add_argument("--rounds", type=int, default=10, help="interleaved rounds")
    parser.add_argument("--calls", type=int, default=60, help="calls of each tool a round")
    options = parser.parse_args()
    with open_questions() as (questions, _):
        asked = draw(questions, (options.rounds + 1) * options.calls)
    with ExitStack() as stack:
        other = stack.enter_context(_checked_out(options.commit))
        servers = [_serving(_ROOT, Path(sys.executable)), _serving(other, _install_packages(other))]
        found = ask([stack.enter_context(server) for server in servers], asked, options.calls)
    print(f"In ms, beside {options.commit}:\n{HEAD}")
    good = True
    for tool in asked:
        received = [[raw for part in answers[tool] for _, raw in part] for answers in found]
        if tool != NOOP and (failed := [raw for raw in received[0] + received[1] if b'"isError":true' in raw]):
            raise RuntimeError(f"{tool} failed: {failed[0][:300]!r}")
        sizes = [sum(map(len, answers)) / len(answers) for answers in received]
        note = f"{sizes[0]:.0f} and {sizes[1]:.0f} bytes"
        good &= report_pairs(tool, *(median_ms(answers[tool]) for answers in found), bound=BOUND, note=note)
    return 0 if good else 1


def _read_baseline() -> str:
    return (_ROOT / "bench" / "baseline").read_text().split()[0]


@contextmanager
def _checked_out(commit: str) -> Iterator[Path]:
    """Check out a commit into its own folder, which is removed after the block."""
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder) / "checkout"
        subprocess.run(["git", "-C", _ROOT, "worktree", "add", "--quiet", "--detach", checkout, commit], check=True)
        try:
            yield checkout
        finally:
            subprocess.run(["git", "-C", _ROOT, "worktree", "remove", "--force", checkout], check=True)


def _install_packages(checkout: Path) -> Path:
    """Return the Python of an environment with the packages of a commit; the environment is created once."""
    commit = subprocess.check_output(["git", "-C", checkout, "rev-parse", "HEAD"], text=True).strip()
    folder = _ROOT / ".venv" / "beside" / commit
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", checkout], check=True)
        ready.touch()
    return python


@contextmanager
def _serving(checkout: Path, python: Path) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as home:
        kernels = python.parent.parent / "kernels"
        where = {
            "FINGERPOST_HOME": home,
            "NUMBA_CACHE_DIR": str(kernels),
            "PYTHONPATH": f"{checkout / 'src'}:{checkout / 'bench'}",
        }
        with serving([str(python), str(checkout / "bench" / "server.py")], **where) as server:
            yield server


if __name__ == "__main__":
    sys.exit(main())
