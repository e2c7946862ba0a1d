"""Realtime sources: polled politely, with the last good message preserved and every failure reported."""

import os
from datetime import UTC, datetime

import pytest

from fingerpost.errors import SourceLimited, SourceUnreachable
from fingerpost.net.response import Response
from fingerpost.transit.embedded.feed_origins import NamedLocation, parse_location
from fingerpost.transit.embedded.realtime_updater import POLL_S, RealtimeFeeds
from fingerpost.transit.engine.gtfs.realtime.reader import CLOCK_SKEW_S, read_realtime
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex
from tests.feeds import timetable_from_drawing
from tests.realtime.messages import NOW, call, message, update

URL = "https://example.org/updates.pb"
OLDER = "The source returned a message older than the previous one"


def late(delay_s=60, **header):
    return message(update("A-1", call("BETA", delay_s)), **header)


FIRST, SECOND = late(timestamp=NOW - 10), late(120, timestamp=NOW + 10)


class Source:
    def __init__(self, *answers: bytes | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, Response | None]] = []

    async def __call__(self, request, known=None):
        self.asked.append((request.redacted_url, known))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        if known is not None and known.body == answer:
            return known
        return Response(
            status=200,
            headers={"etag": '"1"'},
            body=answer,
            redacted_url=URL,
            retrieved_at=datetime.fromtimestamp(NOW, UTC),
        )


def feeds_of(fetch: Source, *sources: str) -> RealtimeFeeds:
    listed = [parse_location(text) for text in sources or (URL,)]
    return RealtimeFeeds(listed, fetch)


@pytest.mark.parametrize(
    ("answer", "instants", "asked"),
    [
        (FIRST, (0, POLL_S - 1), 1),
        (FIRST, (0, POLL_S), 2),
        # After a failure the pause doubles; Retry-After goes before it.
        (SourceUnreachable("down"), (0, POLL_S, 2 * POLL_S - 1), 1),
        (SourceUnreachable("down"), (0, 2 * POLL_S), 2),
        (SourceLimited("slow down", retry_after_s=200), (0, 200), 1),
        (SourceLimited("slow down", retry_after_s=200), (0, 201), 2),
    ],
)
async def test_a_url_is_not_requested_more_often_than_is_polite(answer, instants, asked):
    source = Source(answer)
    feeds = feeds_of(source)
    news = [await feeds.refresh(NOW + second) for second in instants]
    assert news == [answer == FIRST, *[False] * (len(instants) - 1)]
    assert [known is not None for _, known in source.asked] == [False, answer == FIRST][:asked]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (SourceUnreachable("example.org refused the connection"), "example.org refused the connection"),
        (b"<html>", "The source returned a web page"),
        (b"", "The source returned something that is not a GTFS-Realtime message"),
        (message(timestamp=NOW - 11), OLDER),
        (
            FIRST + b"\x12\x00" * 500_001,
            "The source returned a message with more than 500,000 entities, which is too large",
        ),
    ],
)
async def test_the_last_good_message_stays_in_use_and_its_age_is_reported(answer, problem):
    feeds = feeds_of(Source(FIRST, answer))
    await feeds.refresh(NOW)
    assert not await feeds.refresh(NOW + POLL_S)
    assert [kept.bytes for kept in feeds.messages()] == [FIRST]
    health = feeds.health(NOW + POLL_S).sources[0]
    assert (health.age_s, health.problem) == (POLL_S + 10, problem)


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [(NOW, NOW, None), (NOW, NOW - 1, OLDER),
     (NOW + POLL_S + CLOCK_SKEW_S, NOW, OLDER), (NOW + POLL_S + CLOCK_SKEW_S + 1, NOW, None)],
)  # fmt: skip
async def test_a_message_replaces_an_older_or_equally_old_one(first, second, problem):
    """Equal timestamps are an update; a timestamp further ahead of the clock than clocks differ is not believed."""
    sent = [late(60, timestamp=first), late(120, timestamp=second)]
    feeds = feeds_of(Source(*sent))
    await feeds.refresh(NOW)
    await feeds.refresh(NOW + POLL_S)

    assert feeds.health(NOW + POLL_S).sources[0].problem == problem
    assert [kept.bytes for kept in feeds.messages()] == [sent[0] if problem else sent[1]]


async def test_a_source_that_never_answered_has_no_data():
    feeds = feeds_of(Source(SourceUnreachable("no such host")))
    assert not await feeds.refresh(NOW)
    health = feeds.health(NOW).sources[0]
    assert (feeds.messages(), health.age_s, health.problem) == ((), None, "no such host")


async def test_one_failing_source_does_not_delay_another(tmp_path):
    path = tmp_path / "updates.pb"
    path.write_bytes(FIRST)
    feeds = feeds_of(Source(SourceUnreachable("down")), URL, f"TEST={path}")
    assert await feeds.refresh(NOW)
    assert [(kept.bytes, kept.feed_name) for kept in feeds.messages()] == [(FIRST, "TEST")]


async def test_a_file_is_read_again_when_it_changes(tmp_path):
    path = tmp_path / "updates.pb"
    path.write_bytes(FIRST)
    feeds = feeds_of(Source(FIRST), str(path))
    assert [await feeds.refresh(NOW), await feeds.refresh(NOW)] == [True, False]
    path.write_bytes(SECOND[:-1])
    assert not await feeds.refresh(NOW + 1)
    assert (feeds.messages()[0].bytes, feeds.health(NOW).sources[0].problem) == (
        FIRST, "The source returned something that is not a GTFS-Realtime message"
    )  # fmt: skip
    path.write_bytes(SECOND)
    assert await feeds.refresh(NOW + 2)
    assert (feeds.messages()[0].bytes, feeds.health(NOW).sources[0].problem) == (SECOND, None)


async def test_a_file_without_a_timestamp_has_the_age_of_its_writing(tmp_path):
    path = tmp_path / "updates.pb"
    path.write_bytes(late(timestamp=0))
    os.utime(path, (NOW - 60, NOW - 60))
    feeds = feeds_of(Source(FIRST), str(path))
    await feeds.refresh(NOW)
    assert (feeds.messages()[0].received, feeds.health(NOW).sources[0].age_s) == (NOW - 60, 60)


async def test_a_key_is_not_shown():
    location = "https://example.org/updates.pb?api_key=${MY_KEY}"
    source = Source(FIRST)
    feeds = feeds_of(source, location)
    await feeds.refresh(NOW)
    assert (feeds.health(NOW).sources[0].location, source.asked[0][0]) == (location, URL)


async def test_health_reports_matched_and_unmatched():
    timetable = timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10")
    feeds = feeds_of(Source(message(update("A-1", call("BETA", 60)), update("X-1", call("BETA", 60)))))
    await feeds.refresh(NOW)
    health = feeds.health(NOW, read_realtime(RealtimeIndex(timetable), feeds.messages(), NOW))
    assert (dict(health.matched), dict(health.unmatched)) == ({"trip-updated": 1}, {"trip-unknown": 1})


KEYED_URL = "https://example.org/updates.pb?key=${MY_KEY}"


# A name of this length is too long for a file.
LONG_URL = f"https://example.org/{'x' * 5000}"


@pytest.mark.parametrize("location", ["updates.pb", KEYED_URL, LONG_URL], ids=["relative path", "URL", "long URL"])
@pytest.mark.parametrize("feed", [None, "BUS"])
def test_a_source_may_name_its_feed(location, feed, tmp_path):
    path, url = (None, location) if "://" in location else (tmp_path / location, None)
    source = parse_location(f"{feed}={location}" if feed else location, tmp_path)

    assert (source, parse_location(source.text)) == (NamedLocation(feed, path, url), source)
