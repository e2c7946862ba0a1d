"""The pace of a host, in one process and across several."""

import asyncio
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest

from fingerpost.errors import SettingsInvalid, SourceLimited
from fingerpost.net.limiter import Limiter
from fingerpost.store.limits import Limits, Pace
from tests.net.at_once import tell_at_once
from tests.net.local_server import FakeTime
from tests.scale.places import get_url, open_database

EDGAR = Pace(name="sec", per_second=8, burst=1)
START_MS = 1_000_000_000_000
SHARED = Pace(name="shared", per_second=8, burst=25)
DAY_MS = 86_400_000

TAKE_ALL = """
import sys
from pathlib import Path
from fingerpost.store.limits import Limits, Pace

pace = Pace(name="sec", per_second=8, burst=25)
limits = Limits(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
print(sum(limits.take(pace, 1_000_000_000_000) == 0 for _ in range(40)))
"""


@pytest.fixture(params=["memory", "file", "postgres"])
def limits(request, tmp_path):
    if request.param == "memory":
        return Limits()
    if request.param == "file":
        return Limits(tmp_path / "limits.sqlite")
    get_url()
    return Limits(open_database(tmp_path), now_ms="CAST(%(now_ms)s AS bigint)")


def new_limiter(time, limits=None, **given):
    return Limiter(limits, clock_ms=time.clock_ms, sleep=time.sleep, **given)


async def test_a_burst_passes_before_the_rate_limit_applies(limits):
    time = FakeTime()
    limiter = new_limiter(time, limits, default_per_second=2, default_burst=3)
    for _ in range(5):
        await limiter.wait("a.example", max_wait_s=60)
    await time.sleep(1.5)
    for _ in range(4):
        await limiter.wait("a.example", max_wait_s=60)

    assert time.slept == [0.5, 0.5, 1.5, 0.5]


async def test_no_second_exceeds_the_rate(limits):
    time = FakeTime()
    limiter = new_limiter(time, limits, paces={"data.sec.gov": EDGAR})
    passed = []
    for _ in range(40):
        await limiter.wait("data.sec.gov", max_wait_s=60)
        passed.append(time.now_ms)

    most = max(sum(start <= at < start + 1000 for at in passed) for start in passed)
    assert most == 8


async def test_hosts_of_one_name_share_a_limit(limits):
    time = FakeTime()
    limiter = new_limiter(time, limits, paces={"data.sec.gov": EDGAR, "www.sec.gov": EDGAR})
    await limiter.wait("data.sec.gov", max_wait_s=60)
    await limiter.wait("www.sec.gov", max_wait_s=60)
    await limiter.wait("other.example", max_wait_s=60)

    assert time.slept == [0.125]


async def test_waiting_callers_pass_in_turn():
    time = FakeTime()
    limiter = new_limiter(time, paces={"data.sec.gov": EDGAR})
    passed = []

    async def ask(number):
        await limiter.wait("data.sec.gov", max_wait_s=60)
        passed.append(number)

    await asyncio.gather(*(ask(number) for number in range(10)))
    assert passed == list(range(10))


async def test_a_refusal_rounds_the_wait_up():
    limiter = new_limiter(FakeTime())
    await limiter.pause("a.example", 42.3)

    with pytest.raises(SourceLimited, match=r"a\.example cannot be called again for 43 s"):
        await limiter.wait("a.example", max_wait_s=1)


@pytest.mark.parametrize(("max_wait_s", "passes"), [(0.5, True), (0.499, False)])
async def test_a_wait_begins_only_if_there_is_time(max_wait_s, passes):
    time = FakeTime()
    limiter = new_limiter(time, default_per_second=2, default_burst=1)
    await limiter.wait("a.example", max_wait_s=60)
    if passes:
        await limiter.wait("a.example", max_wait_s=max_wait_s)
        assert time.slept == [0.5]
    else:
        with pytest.raises(SourceLimited) as raised:
            await limiter.wait("a.example", max_wait_s=max_wait_s)
        assert (raised.value.retry_after_s, time.slept) == (0.5, [])


async def test_a_pause_affects_all_requests(limits):
    time = FakeTime()
    limiter = new_limiter(time, limits)
    await limiter.pause("a.example", 600)
    await limiter.pause("a.example", 1)
    await limiter.wait("a.example", max_wait_s=3600)

    assert time.slept == [600]


def test_two_processes_share_one_limit(tmp_path):
    command = [sys.executable, "-c", TAKE_ALL, str(tmp_path / "limits.sqlite")]

    assert sum(map(int, tell_at_once(command, command))) == 25


def test_threads_share_one_limit(limits):
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: limits.take(SHARED, START_MS), range(60))).count(0) == 25


def test_a_clock_that_was_set_back_delays_nothing(limits):
    paused = replace(SHARED, name="paused")
    for pace in (SHARED, paused):
        limits.take(pace, START_MS)
    limits.pause(paused, DAY_MS, START_MS)
    waits_ms = [limits.take(SHARED, START_MS - 10 * 365 * DAY_MS) for _ in range(26)]

    assert waits_ms == [0] * 25 + [125]
    assert limits.take(paused, START_MS) == DAY_MS


def test_a_removed_file_is_created_again(tmp_path):
    path = tmp_path / "limits.sqlite"
    limits = Limits(path)
    limits.take(EDGAR, START_MS)
    path.unlink()

    assert [limits.take(EDGAR, START_MS) for _ in range(2)] == [0, 125]


def test_a_file_that_is_removed_while_open_is_created_by_another_process(tmp_path):
    path = tmp_path / "limits.sqlite"
    limits = Limits(path)
    limits.take(EDGAR, START_MS)
    path.unlink()

    assert tell_at_once([sys.executable, "-c", TAKE_ALL, str(path)]) == ["25\n"]
    assert limits.try_take(EDGAR, START_MS) is None


@pytest.fixture
def opened(tmp_path):
    """Limits whose file a thread has opened, and the path of the file."""
    path = tmp_path / "limits.sqlite"
    limits = Limits(path)
    limits.take(EDGAR, START_MS)
    return limits, path


def test_an_open_file_is_counted_in_without_a_thread(opened):
    limits, path = opened

    assert [limits.try_take(EDGAR, START_MS), Limits(path).take(EDGAR, START_MS)] == [125, 125]


@pytest.mark.parametrize("transaction", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_file_that_another_process_has_locked_is_left_to_a_thread(opened, transaction):
    limits, path = opened
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute(transaction)

        assert limits.try_take(EDGAR, START_MS) is None


def test_a_reader_prevents_a_commit_and_the_call_is_counted_once(opened):
    limits, path = opened
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM rate_limit").fetchall()
        assert limits.try_take(SHARED, START_MS) is None

    assert [limits.try_take(SHARED, START_MS) for _ in range(26)] == [0] * 25 + [125]


def test_a_file_in_the_place_of_the_open_one_is_left_to_a_thread(opened):
    limits, path = opened
    path.unlink()
    Limits(path).take(EDGAR, START_MS)

    assert limits.try_take(EDGAR, START_MS) is None


def test_a_newer_program_changed_the_open_file(opened):
    limits, path = opened
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version = 9")

    with pytest.raises(SettingsInvalid, match="newer fingerpost"):
        limits.try_take(EDGAR, START_MS)


@pytest.mark.parametrize(("max_wait_s", "passes"), [(1.0, True), (0.999, False)])
async def test_a_caller_beyond_the_queue_is_refused_at_once(max_wait_s, passes):
    time, asleep, gate = FakeTime(), asyncio.Event(), asyncio.Event()

    async def sleep(seconds):
        asleep.set()
        await gate.wait()
        await time.sleep(seconds)

    limiter = Limiter(clock_ms=time.clock_ms, sleep=sleep, default_per_second=2, default_burst=1)
    await limiter.wait("a.example", max_wait_s=60)
    first = asyncio.ensure_future(limiter.wait("a.example", max_wait_s=60))
    await asleep.wait()
    second = asyncio.ensure_future(limiter.wait("a.example", max_wait_s=max_wait_s))
    await asyncio.sleep(0)
    assert second.done() is not passes
    gate.set()
    await first
    if passes:
        await second
    else:
        with pytest.raises(SourceLimited) as raised:
            await second
        assert raised.value.retry_after_s == 1.0


def test_the_operators_own_hosts_have_their_own_pace_and_a_stated_pace_is_of_every_port():
    limiter = Limiter(operator_hosts=["otp.lan", "data.sec.gov"], paces={"data.sec.gov": EDGAR})

    assert [limiter.pace(host).per_second for host in ("OTP.lan", "data.sec.gov", "a.example")] == [50, 8, 8]
    assert limiter.pace("data.sec.gov:8080/path") == EDGAR
    assert limiter.pace("otp.lan:8080/path") == Pace(name="otp.lan:8080", per_second=50, burst=100)


def test_a_caller_that_read_the_clock_earlier_does_not_pass_as_well(limits):
    """It waited for its turn to write; only an instant far ahead is one of a clock that was set back."""
    slot = Pace(name="slot", per_second=1, longest_pause_ms=0)

    assert [limits.take(slot, START_MS + 1), limits.take(slot, START_MS)] == [0, 1001]
