"""The published questions: the stored answers are the oracle's, and the scripted agent finds them."""

import subprocess
import sys

import pytest

from tests.project.sources import ROOT

FOLDER = ROOT / "bench" / "questions"


def run(*command):
    return subprocess.run([sys.executable, *command], cwd=FOLDER, capture_output=True, text=True, check=True).stdout


def test_the_stored_questions_are_what_the_oracle_answers():
    text = run("-c", "from make import format_questions; print(format_questions(), end='')")

    assert text == (FOLDER / "questions.json").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_scripted_agent_answers_a_world_with_real_time():
    assert "| all | 4 | 4 | 0 | 0 |" in run("run.py", "--world", "harbour/cancelled-1")
