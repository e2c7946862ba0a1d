"""A tool's own limit of calls a second (rule E2)."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from fingerpost.errors import SourceLimited, StorageUnavailable
from fingerpost.store.call_log import SqliteCallLog
from fingerpost.transit.tools.call_limit import CallLimit, MemoryCallLog

NOW_MS = 1_780_000_000_000


@pytest.fixture(params=["in memory", "in a file"])
def calls(request, tmp_path):
    return MemoryCallLog() if request.param == "in memory" else SqliteCallLog(tmp_path / "limits.sqlite", "t")


async def passed(calls, times_ms, per_second=2):
    """Return for each instant whether a call then passes."""
    now = iter(times_ms)
    limit = CallLimit("t", per_second, calls, lambda: NOW_MS + next(now))
    outcomes = []
    for _ in times_ms:
        try:
            await limit.enter()
            outcomes.append(True)
        except SourceLimited:
            outcomes.append(False)
    return outcomes


@pytest.mark.parametrize(
    ("times_ms", "expected"),
    [
        ([0, 0, 0], [True, True, False]),
        ([0, 500, 999], [True, True, False]),
        ([0, 500, 1000], [True, True, True]),
        ([0, 900, 1000, 1100, 2000], [True, True, True, False, True]),
        ([5000, 5000, 0, 0, 0], [True, True, True, True, False]),
    ],
)
async def test_no_second_has_more_calls_than_the_limit(calls, times_ms, expected):
    """Two a second, in any second; what is refused does not count, nor do calls of a future that was set back."""
    assert await passed(calls, times_ms) == expected


async def test_a_refusal_says_how_long_to_wait(calls):
    """Until the oldest of the calls that count is a second old."""
    now = iter([10_000, 10_250])
    limit = CallLimit("t", 1, calls, lambda: NOW_MS + next(now))
    await limit.enter()

    with pytest.raises(SourceLimited, match="t takes 1 calls a second") as refused:
        await limit.enter()
    assert refused.value.retry_after_s == 0.75


def test_threads_at_once_pass_no_more_than_the_limit(calls):
    """Fifty calls of one instant: five."""
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda _: calls.pass_at(NOW_MS, 5, 1000), range(50)))

    assert told.count(None) == 5


def test_processes_of_a_home_share_the_limit(tmp_path):
    """What another process has let through counts here."""
    code = (
        "import sys; from pathlib import Path; from fingerpost.store.call_log import SqliteCallLog;"
        f"log = SqliteCallLog(Path(sys.argv[1]), 't'); print(*[log.pass_at({NOW_MS}, 5, 1000) for _ in range(4)])"
    )
    path = tmp_path / "limits.sqlite"
    told = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    here = [SqliteCallLog(path, "t").pass_at(NOW_MS + 400, 5, 1000) for _ in range(2)]

    assert (told.stdout.split(), here) == (["None"] * 4, [None, 600])


async def test_where_the_file_fails_the_process_counts_for_itself(caplog):
    """A full disk lets nobody ask without limit, and is logged."""

    class Failing:
        def pass_at(self, now_ms, most, span_ms):
            raise StorageUnavailable("limits.sqlite is busy")

    assert await passed(Failing(), [0, 0, 0]) == [True, True, False]
    assert "counts its calls in this process alone: limits.sqlite is busy" in caplog.text
