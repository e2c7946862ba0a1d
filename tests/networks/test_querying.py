"""A network that fails or is slow does not prevent others from answering (rule A13)."""

import asyncio

import pytest

from fingerpost import clock
from fingerpost.errors import OutsideCalendar, SourceFailed, SourceTimeout, SourceUnreachable
from fingerpost.transit.networks.querying import Deadline, query_all, try_in_order
from tests.contracts.conftest import stop_place
from tests.fakes import FakeNetwork
from tests.networks.limits import Limits, MeetingNetwork, run, trip

KAMPPI = {"Kamppi": [stop_place("T:K", "Kamppi")]}


def find(network):
    return network.find_places("Kamppi")


def test_one_failing_and_one_slow_network_among_five(monkeypatch):
    limits, meeting = Limits(monkeypatch), asyncio.Barrier(5)
    networks = [MeetingNetwork(name=name, meeting=meeting, places=KAMPPI) for name in ("A", "B", "C")]
    failing = MeetingNetwork(name="F", meeting=meeting, failure=SourceUnreachable("The source cannot be reached"))
    slow = MeetingNetwork(name="S", meeting=meeting, limits=limits)

    answers = run(query_all([failing, *networks, slow], find, names=True))

    assert [network.name for network, _ in answers.by_network] == ["A", "B", "C"]
    assert [each.warning.message for each in answers.left_out] == [
        "F was left out: The source cannot be reached.",
        "S was left out: S did not answer within 3 s.",
    ]
    assert [each.calls for each in (failing, *networks, slow)] == [1, 1, 1, 1, 1]
    assert limits.seconds == [3.0] * 5


@pytest.mark.parametrize("ask", ["all", "in turn"])
def test_an_unexpected_error_affects_only_its_network(ask, caplog):
    broken, sound = MeetingNetwork(name="X", failure=KeyError("boom")), FakeNetwork(name="A", places=KAMPPI)
    if ask == "all":
        answers = run(query_all([broken, sound], find))
        found = [network.name for network, _ in answers.by_network], [each.warning.message for each in answers.left_out]
    else:
        name, left_out = run(in_turn(broken, sound, query=find))
        found = [name], left_out

    assert found == (["A"], ["X was left out: X failed unexpectedly; see the log."])
    assert "boom" in caplog.text


def test_an_unexpected_error_of_the_only_network_is_raised():
    with pytest.raises(KeyError, match="boom"):
        run(in_turn(MeetingNetwork(name="X", failure=KeyError("boom")), query=find))


@pytest.mark.parametrize("count", [1, 2])
def test_the_preferred_networks_error_is_raised_if_none_answers(count):
    networks = [MeetingNetwork(name=f"N{n}", failure=SourceFailed(f"no {n}")) for n in range(count)]

    with pytest.raises(SourceFailed, match=r"^no 0$"):
        run(query_all(networks, find))


@pytest.mark.parametrize("names", [False, True])
def test_a_single_late_network_is_a_timeout(names, monkeypatch):
    with pytest.raises(SourceTimeout, match=r"^S did not answer within 8 s$"):
        run(query_all([MeetingNetwork(name="S", limits=Limits(monkeypatch))], find, names=names))


def test_a_network_gets_a_moment_when_other_work_took_all_of_a_calls_time(monkeypatch):
    limits = Limits(monkeypatch)
    monkeypatch.setattr(clock, "find_call_age_s", lambda: 60.0)
    run(query_all([MeetingNetwork(name="A", places=KAMPPI)], find))

    assert limits.seconds == [1.0]


async def in_turn(*networks, query=lambda network: network.plan_journeys(trip())):
    outcome = await try_in_order(networks, query, Deadline())
    return outcome.network.name, [each.message for each in outcome.warnings]


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (SourceFailed("503"), "A was left out: 503."),
        (None, "A was left out: A did not answer within 4 s."),
        (OutsideCalendar("A has ended"), "A was left out: A has ended."),
    ],
)
def test_the_next_network_answers_in_turn(failure, sentence, monkeypatch):
    first = MeetingNetwork(name="A", failure=failure, limits=None if failure else Limits(monkeypatch))
    name, left_out = run(in_turn(first, FakeNetwork(name="B")))

    assert (name, left_out) == ("B", [sentence])


def test_the_first_error_is_raised_if_no_network_answers_in_turn():
    with pytest.raises(SourceFailed, match=r"^first$"):
        run(in_turn(*(MeetingNetwork(name=text, failure=SourceFailed(text)) for text in ("first", "second"))))
