"""Every command shown in a document, a message or a file in deploy/ exists and has the shown options."""

import re
from pathlib import Path

import pytest

from fingerpost.apps.cli.app import load_root
from fingerpost.transit.check.questions import Question

ROOT = Path(__file__).parents[2]
# In backticks, at the beginning of a line of code, in a unit file or behind a container's name.
COMMAND = re.compile(
    r"(?:`|^(?: {4}|\$ )?|[ /](?:server|bin)[ /])fingerpost ((?:[a-z]+|--[a-z-]+)\b[^`\n\"|]*)", re.MULTILINE
)
PROSE = {"asks", "does", "is", "removes", "reports"}
# A code block, or the beginning of a sentence outside of one.
BLOCK_OR_SENTENCE = re.compile(r"^(```.*?^```$)|^fingerpost (?=[a-z])", re.MULTILINE | re.DOTALL)


def list_shown():
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
    for folder, kinds in (("docs", ("*.md",)), ("deploy", ("*",)), ("src", ("*.py", "*.js"))):
        files += [path for kind in kinds for path in (ROOT / folder).rglob(kind) if "decisions" not in path.parts]
    for path in sorted(files):
        if path.is_file() and "__pycache__" not in path.parts:
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".md":
                text = BLOCK_OR_SENTENCE.sub(r"\1", text)
            for shown in COMMAND.findall(text):
                if shown.split()[0] not in PROSE:
                    yield path.relative_to(ROOT).as_posix(), shown.strip()


def find_fault(shown):
    command = load_root()
    options = {"--help"} | list_options(command)
    are_commands_over = False
    for word in re.sub(r"{[^}]*}", "VALUE", shown).split():
        if word.startswith("--"):
            if (option := re.match(r"--[a-z-]*", word)[0]) not in options:
                return option
        elif not are_commands_over and hasattr(command, "commands"):
            are_commands_over = not word.islower()
            if not are_commands_over:
                if word not in command.commands:
                    return word
                command = command.commands[word]
                options |= list_options(command)
    return None


def list_options(command):
    return {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}


def test_every_command_that_is_shown_exists():
    shown = list(list_shown())
    faults = [(place, command, fault) for place, command in shown if (fault := find_fault(command))]

    assert len(shown) > 60
    assert faults == []


@pytest.mark.parametrize("arrive_by", [False, True])
def test_the_command_that_repeats_a_question_of_a_check_exists(arrive_by):
    question = Question(origin=(60.1, 24.9), destination=(60.2, 25.0), instant=0, arrive_by=arrive_by, zone="UTC")

    assert find_fault(question.command.removeprefix("fingerpost ")) is None
