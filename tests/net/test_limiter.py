"""The pace of a host, in one process and over several."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyrate_limiter import Rate, TokenBucket

from fingerpost import clock
from fingerpost.apps.source_kinds import list_paces
from fingerpost.errors import SettingsInvalid, SourceLimited
from fingerpost.net.limiter import Limiter, MemoryLimit
from fingerpost.net.pace import Pace
from fingerpost.store.limits import LimitFile
from fingerpost.store.postgres.limits import SharedLimits
from tests.net.at_once import tell_at_once
from tests.net.local_server import FakeTime
from tests.scale.places import open_database
from tests.scale.running import get_url

EDGAR = Pace(name="sec", per_second=8, burst=1)
START_MS = 1_000_000_000_000

TAKE_ALL = """
import sys
from pathlib import Path
from pyrate_limiter import Rate, TokenBucket
from fingerpost.store.limits import LimitFile

limit = LimitFile(Path(sys.argv[1])).limit("sec")
print("ready", flush=True)
sys.stdin.readline()
print(sum(limit.check(TokenBucket(), [Rate(8, 1000, burst=25)], 1_000_000_000_000, 1).allowed for _ in range(40)))
"""


@pytest.fixture(params=["file", "postgres"])
def limits(request, tmp_path):
    """Limits that processes share: in a file, or in a database."""
    if request.param == "file":
        return LimitFile(tmp_path / "limits.sqlite")
    get_url()
    return SharedLimits(open_database(tmp_path))


@pytest.fixture(params=["memory", "file", "postgres"])
def open_limit(request, tmp_path):
    """Each kind of store."""
    if request.param == "memory":
        return lambda _: MemoryLimit()
    if request.param == "file":
        return LimitFile(tmp_path / "limits.sqlite").limit
    get_url()
    return SharedLimits(open_database(tmp_path)).limit


def new_limiter(time, open_limit=None, **given):
    return Limiter(open_limit, clock_ms=time.clock_ms, sleep=time.sleep, **given)


async def test_a_burst_passes_and_then_the_pace_holds(open_limit):
    """Three at once, then one every half second."""
    time = FakeTime()
    limiter = new_limiter(time, open_limit, default_per_second=2, default_burst=3)
    for _ in range(5):
        await limiter.wait("a.example", longest_s=60)

    assert time.slept == [0.5, 0.5]


async def test_no_second_holds_more_than_the_pace(open_limit):
    """At 8 a second without a burst, no span of a second ever sees a ninth request."""
    time = FakeTime()
    limiter = new_limiter(time, open_limit, paces={"data.sec.gov": EDGAR})
    passed = []
    for _ in range(40):
        await limiter.wait("data.sec.gov", longest_s=60)
        passed.append(time.now_ms)

    most = max(sum(start <= at < start + 1000 for at in passed) for start in passed)
    assert most == 8


async def test_hosts_of_one_name_share_a_limit(open_limit):
    """Two hosts of one source count together, a third does not."""
    time = FakeTime()
    limiter = new_limiter(time, open_limit, paces={"data.sec.gov": EDGAR, "www.sec.gov": EDGAR})
    await limiter.wait("data.sec.gov", longest_s=60)
    await limiter.wait("www.sec.gov", longest_s=60)
    await limiter.wait("other.example", longest_s=60)

    assert time.slept == [0.125]


async def test_many_who_wait_pass_in_turn(open_limit):
    """Requests of one process pass in the order in which they came."""
    time = FakeTime()
    limiter = new_limiter(time, open_limit, paces={"data.sec.gov": EDGAR})
    passed = []

    async def ask(number):
        await limiter.wait("data.sec.gov", longest_s=60)
        passed.append(number)

    await asyncio.gather(*(ask(number) for number in range(10)))
    assert passed == list(range(10))


@pytest.mark.parametrize(("longest_s", "passes"), [(0.5, True), (0.499, False)])
async def test_a_wait_is_begun_only_where_there_is_time(open_limit, longest_s, passes):
    """Half a second is to be waited: with that much time it is, with less the caller is told at once."""
    time = FakeTime()
    limiter = new_limiter(time, open_limit, default_per_second=2, default_burst=1)
    await limiter.wait("a.example", longest_s=60)
    if passes:
        await limiter.wait("a.example", longest_s=longest_s)
        assert time.slept == [0.5]
    else:
        with pytest.raises(SourceLimited) as raised:
            await limiter.wait("a.example", longest_s=longest_s)
        assert (raised.value.retry_after_s, time.slept) == (0.5, [])


async def test_a_pause_holds_everybody(open_limit):
    """After a pause of ten minutes nobody passes for that long; a shorter one set later does not end it."""
    time = FakeTime()
    limiter = new_limiter(time, open_limit)
    await limiter.pause("a.example", 600)
    await limiter.pause("a.example", 1)
    await limiter.wait("a.example", longest_s=3600)

    assert time.slept == [600]


def test_two_processes_share_one_limit(tmp_path):
    """At one instant, 25 tokens are 25 tokens, however many processes reach for them."""
    command = [sys.executable, "-c", TAKE_ALL, str(tmp_path / "limits.sqlite")]

    assert sum(map(int, tell_at_once(command, command))) == 25


CRASH = TAKE_ALL.replace("print(sum(", "while True: print(sum(").replace("range(40)", "range(1)")


def test_a_process_that_is_killed_leaves_the_limit_whole(tmp_path):
    """Five are killed at any instant while they take; the next process reads the state, and no token is given twice."""
    path = tmp_path / "limits.sqlite"
    taken = 0
    for _ in range(5):
        command = [sys.executable, "-c", CRASH, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "ready\n"
            process.stdin.write("\n")
            process.stdin.flush()
            counts = [int(process.stdout.readline()) for _ in range(8)]
            process.kill()
            counts += [int(line) for line in process.stdout.read().splitlines() if line]
        taken += sum(counts)
    limit = LimitFile(path).limit("sec")
    left = sum(limit.check(TokenBucket(), [Rate(8, 1000, burst=25)], START_MS, 1).allowed for _ in range(40))

    # One that was killed may have taken a token and not said so.
    assert 20 <= taken + left <= 25


def test_threads_share_one_limit(limits):
    """No token is given twice within a process either."""
    limit = limits.limit("sec")

    def take(_):
        return limit.check(TokenBucket(), [Rate(8, 1000, burst=25)], START_MS, 1).allowed

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(take, range(60))) == 25


def test_nobody_waits_for_a_file_that_another_process_holds(tmp_path):
    """As long as it is held there is no decision, in no time; then there is the one that ``check`` would give."""
    path, rates = tmp_path / "limits.sqlite", [Rate(8, 1000, burst=1)]
    limit = LimitFile(path).limit("sec")
    first = limit.try_check(TokenBucket(), rates, START_MS, 1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    held = limit.try_check(TokenBucket(), rates, START_MS + 125, 1)
    other.execute("COMMIT")
    other.close()
    after = limit.try_check(TokenBucket(), rates, START_MS + 125, 1)

    assert (first.allowed, held, after.allowed) == (True, None, True)
    assert not limit.check(TokenBucket(), rates, START_MS + 125, 1).allowed


def test_a_held_file_delays_requests_and_loses_none(tmp_path):
    """The limiter waits for it in a thread: the loop goes on meanwhile."""
    path = tmp_path / "limits.sqlite"
    file = LimitFile(path)
    limiter = Limiter(file.limit, default_per_second=8, default_burst=1, clock_ms=lambda: START_MS)
    file.limit("host").check(TokenBucket(), [Rate(8, 1000, burst=1)], START_MS - 1_000, 1)

    async def ask():
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(limiter.wait("host", longest_s=4))
        for _ in range(100):
            await asyncio.sleep(0)
        was_done = waiting.done()
        other.execute("COMMIT")
        other.close()
        await waiting
        return was_done

    assert asyncio.run(ask()) is False


def test_a_clock_that_was_set_back_holds_nobody_up(limits):
    """State from the future counts as an empty bucket, not as a wait of years."""
    limit = limits.limit("sec")
    rates = [Rate(8, 1000, burst=1)]
    limit.check(TokenBucket(), rates, START_MS, 1)
    limit.pause(START_MS)

    decision = limit.check(TokenBucket(), rates, START_MS - 10 * 365 * 86_400_000, 1)
    assert (decision.allowed, decision.retry_after_ms) == (False, 125)


@pytest.mark.parametrize("is_replaced", [False, True], ids=["removed", "replaced"])
def test_a_file_that_is_removed_begins_afresh_in_a_process_that_has_it_open(tmp_path, is_replaced):
    """The operator's remedy for a damaged file; the processes to come share the new one with it."""
    path, rates = tmp_path / "limits.sqlite", [Rate(8, 1000, burst=1)]
    limit = LimitFile(path).limit("sec")
    limit.check(TokenBucket(), rates, START_MS, 1)
    path.unlink()
    if is_replaced:
        LimitFile(path).limit("other").check(TokenBucket(), rates, START_MS, 1)

    assert limit.check(TokenBucket(), rates, START_MS, 1).allowed
    assert not LimitFile(path).limit("sec").check(TokenBucket(), rates, START_MS, 1).allowed


def test_a_call_that_fails_half_way_takes_nothing(tmp_path):
    """And the next one goes on."""
    file, rates = LimitFile(tmp_path / "limits.sqlite"), [Rate(8, 1000, burst=1)]

    def fail():
        with file.changing("sec") as (connection, _):
            connection.execute("INSERT INTO limits (name, state) VALUES ('sec', '99999999999999999')")
            raise KeyError

    with pytest.raises(KeyError):
        fail()

    assert file.limit("sec").check(TokenBucket(), rates, START_MS, 1).allowed


def test_other_rates_begin_afresh(limits):
    """State that was kept for one rate is not read as that of two."""
    limit = limits.limit("sec")
    limit.check(TokenBucket(), [Rate(1, 1000)], START_MS, 1)

    assert limit.check(TokenBucket(), [Rate(1, 1000), Rate(10, 60_000)], START_MS, 1).allowed is True


def test_a_limit_can_be_read_and_reset(limits):
    """What is used up shows, and is forgotten on request."""
    limit = limits.limit("sec")
    rates = [Rate(8, 1000)]
    limit.check(TokenBucket(), rates, START_MS, 1)
    used = TokenBucket().consumed(rates, limit.read(TokenBucket(), rates), START_MS)
    limit.reset()

    assert (used, limit.read(TokenBucket(), rates)) == (1, (0,))


def test_a_file_that_is_no_database_is_named(tmp_path):
    """The operator learns what to remove."""
    path = tmp_path / "limits.sqlite"
    path.write_bytes(b"this is no database, and long enough to be told from one" * 20)

    with pytest.raises(SettingsInvalid, match=r"limits\.sqlite is not a database that can be read; remove it"):
        LimitFile(path).limit("sec").check(TokenBucket(), [Rate(8, 1000)], START_MS, 1)


@pytest.mark.parametrize(("longest_s", "passes"), [(1.0, True), (0.999, False)])
async def test_whoever_stands_too_far_behind_is_told_at_once(longest_s, passes):
    """The bucket is empty and one waits half a second for it: the one behind needs a second, and knows it."""
    time, asleep, gate = FakeTime(), asyncio.Event(), asyncio.Event()

    async def sleep(seconds):
        asleep.set()
        await gate.wait()
        await time.sleep(seconds)

    limiter = Limiter(clock_ms=time.clock_ms, sleep=sleep, default_per_second=2, default_burst=1)
    await limiter.wait("a.example", longest_s=60)
    first = asyncio.ensure_future(limiter.wait("a.example", longest_s=60))
    await asleep.wait()
    second = asyncio.ensure_future(limiter.wait("a.example", longest_s=longest_s))
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


def test_the_operators_own_hosts_have_a_pace_of_their_own():
    """A host of the private network may be asked faster, unless its pace is declared."""
    limiter = Limiter(own_hosts=["otp.lan", "data.sec.gov"], paces={"data.sec.gov": EDGAR})

    assert [limiter.pace(host).per_second for host in ("OTP.lan", "data.sec.gov", "a.example")] == [50, 8, 8]


def test_digitransit_is_asked_as_its_operators_want():
    """Ten a second, thirty at once, whatever the region."""
    assert list_paces()["api.digitransit.fi"] == Pace(name="digitransit", per_second=10, burst=30)


def test_pauses_that_are_to_come_are_listed(limits):
    """One that is over is not; where nothing was asked there are none."""
    assert limits.list_pauses() == {}
    now = datetime.fromtimestamp(int(clock.system_s()), UTC)
    limits.limit("gone").pause(int((now - timedelta(seconds=1)).timestamp() * 1000))
    limits.limit("sec").pause(int((now + timedelta(hours=1)).timestamp() * 1000))

    assert limits.list_pauses() == {"sec": now + timedelta(hours=1)}


@pytest.fixture
def closed_home():
    """A folder, and how to close it: afterwards nobody may write there, and this process does not own it."""

    def close(folder):
        folder.chmod(0o555)
        if os.geteuid() == 0:
            os.seteuid(65534)

    with tempfile.TemporaryDirectory() as home:
        yield Path(home), close
        os.seteuid(os.getuid())
        Path(home).chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="folders are closed otherwise there")
@pytest.mark.parametrize("is_written", [False, True], ids=["at rest", "while another writes"])
def test_pauses_are_read_in_a_home_that_this_user_may_only_read(closed_home, is_written):
    """As doctor does; the write-ahead log must not want a file of its own for that."""
    home, close = closed_home
    writer = LimitFile(home / "limits.sqlite")
    until = datetime.fromtimestamp(int(clock.system_s()), UTC) + timedelta(hours=1)
    writer.limit("sec").pause(int(until.timestamp() * 1000))
    if not is_written:
        del writer
    close(home)
    assert LimitFile(home / "limits.sqlite").list_pauses() == {"sec": until}


async def test_the_sentence_of_a_refusal_asks_for_no_less_than_its_seconds():
    """42.3 s to wait are 43, as the caller is told beside it."""
    limiter = Limiter(clock_ms=lambda: 0, default_per_second=1, default_burst=1)
    await limiter.pause("a.example", 42.3)

    with pytest.raises(SourceLimited, match="may not be asked again for 43 s"):
        await limiter.wait("a.example", longest_s=1)
