"""Homes with many networks, and with one that cannot be opened."""

import asyncio
import subprocess
import sys
import threading

from fingerpost.transit.embedded import network, network_places
from fingerpost.transit.engine.timetable.array_file import ARRAYS
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.rules.place_index import PlaceIndex
from tests.feeds import timetable_from_drawing
from tests.homes import keep_network, open_networks

LINE = "line A | Alpha 08:00 | Beta 08:10"


def test_a_damaged_network_is_left_out_and_named(tmp_path):
    for name in ("GOOD", "BAD"):
        entry = keep_network(tmp_path, name, timetable_from_drawing(LINE))
    (entry.folder / ARRAYS).write_bytes(b"")

    opened = asyncio.run(open_networks(tmp_path).open())

    assert [network.profile.name for network in opened.answering] == ["GOOD"]
    assert list(opened.problems) == ["BAD"]
    assert "network refresh" in opened.problems["BAD"]


async def test_closed_networks_are_not_read_for_checksums(tmp_path, monkeypatch):
    checked, begun, is_closed = [], threading.Event(), threading.Event()

    def find_damage(_store, entry):
        checked.append(entry.name)
        begun.set()
        is_closed.wait()

    monkeypatch.setattr(TimetableStore, "find_damage", find_damage)
    for home, names in (("first", ("A", "B")), ("second", ("C",))):
        for name in names:
            keep_network(tmp_path / home, name, timetable_from_drawing(LINE))
    first, second = open_networks(tmp_path / "first"), open_networks(tmp_path / "second")
    await first.open()
    await asyncio.to_thread(begun.wait)
    await first.close()
    is_closed.set()
    (network,) = (await second.open()).answering
    await network.find_stop("Alpha")
    await second.close()

    assert checked in (["A", "C"], ["B", "C"])


async def test_a_network_that_was_just_opened_builds_its_indexes_outside_the_event_loop(town, monkeypatch):
    builders = []
    monkeypatch.setattr(
        network_places, "PlaceIndex", lambda stops: builders.append(threading.current_thread()) or PlaceIndex(stops)
    )
    (opened,) = (await town.networks.open()).answering
    await opened.find_stop("TEST:ALPHA")

    assert builders
    assert threading.main_thread() not in builders


MANY = """
import asyncio, resource, sys
from pathlib import Path
from tests.feeds import timetable_from_drawing
from tests.homes import keep_network, open_networks

home = Path(sys.argv[1])
for number in range(50):
    keep_network(home, f"N{number:02}", timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10"))
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (128, most))
opened = asyncio.run(open_networks(home).open())
print(len(opened.answering), opened.problems)
"""


def test_fifty_networks_open_with_128_descriptors(tmp_path):
    """Each network needs one descriptor; most systems allow a process 1,024, macOS 256."""
    done = subprocess.run([sys.executable, "-c", MANY, str(tmp_path)], capture_output=True, text=True, check=True)

    assert done.stdout == "50 {}\n"


def test_a_trip_waits_for_the_compiler_without_a_thread_that_other_calls_need(town, monkeypatch):
    town.plan()
    answers, events, compute = [True, True], [], network.compute
    monkeypatch.setattr(network, "_COMPILER_POLL_S", 0)
    monkeypatch.setattr(network, "_SMALL_STOP_TIMES", 0)
    monkeypatch.setattr(network, "must_wait", lambda: events.append("wait") or bool(answers and answers.pop()))
    monkeypatch.setattr(network, "compute", lambda *work, **more: events.append("compute") or compute(*work, **more))
    town.plan()

    assert events[:4] == ["wait", "wait", "wait", "compute"]
