"""What a terminal says where a source asks for patience or for a key."""

from dataclasses import replace

import pytest

from fingerpost.apps import error_boundary
from fingerpost.apps.cli.follow_board import follow_board
from fingerpost.apps.cli.output import complain
from fingerpost.errors import SourceKeyRefused, SourceLimited

KAMPPI = {"stop": {"type": "label", "value": "DEMO-HELSINKI:KAMPPI"}, "limit": 2}


@pytest.mark.parametrize(
    ("wait_s", "told"),
    [
        (44.2, "45 s"),
        (120, "120 s"),
        (121, "3 min"),
        (3600, "1 h 00 min"),
        (7800, "2 h 10 min"),
    ],
)
def test_who_is_asked_to_wait_reads_how_long(capsys, wait_s, told):
    complain(SourceLimited("api.example asks us to wait (HTTP 429)", retry_after_s=wait_s))

    assert capsys.readouterr().err == f"api.example asks us to wait (HTTP 429).\nAsk again in {told}.\n"


def test_a_board_that_is_followed_says_how_long(application, capsys, monkeypatch):
    answers, error = error_boundary.answer, SourceLimited("api.example asks us to wait (HTTP 429)", retry_after_s=45)
    boards = iter(range(2))

    async def refuse(*given, **how):
        answered = await answers(*given, **how)
        return answered if next(boards) == 0 else replace(answered, is_error=True, error=error)

    waits = iter([None])

    async def wait(_seconds):
        if next(waits, KeyboardInterrupt) is KeyboardInterrupt:
            raise KeyboardInterrupt

    monkeypatch.setattr(error_boundary, "answer", refuse)
    follow_board(application, KAMPPI, every_s=30, as_json=False, wait=wait)
    assert "! Could not update: api.example asks us to wait (HTTP 429). Ask again in 45 s.\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (["HSL_KEY"], "Set HSL_KEY to a key that this source accepts."),
        (
            ["A_KEY", "B_KEY"],
            "Set A_KEY or B_KEY to a key that this source accepts.",
        ),
        ([], "No key was sent."),
    ],
)
def test_whose_key_was_refused_is_told_to_who_can_set_it(capsys, settings, told):
    complain(SourceKeyRefused("api.example refused the request (HTTP 401)", {"settings": settings}))

    assert told in capsys.readouterr().err


def test_a_refusal_with_a_hint_of_its_own_keeps_it(capsys):
    complain(SourceKeyRefused("api.example refused us", {"settings": []}, hint="Set FINGERPOST_CONTACT"))

    assert capsys.readouterr().err == "api.example refused us.\nSet FINGERPOST_CONTACT.\n"
