"""The command-line interface."""

import sys

from fingerpost.apps.cli.app import app
from fingerpost.apps.cli.output import complain
from fingerpost.errors import ToolError

TOOL_ERROR = 1


def main() -> None:
    """Run the command that the arguments name, and end the process with its status."""
    try:
        app(prog_name="fingerpost")
    except ToolError as error:
        complain(error)
        sys.exit(TOOL_ERROR)
