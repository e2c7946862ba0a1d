"""The command-line interface."""

import errno
import sys

from fingerpost.apps.cli.app import app
from fingerpost.apps.cli.output import complain, say
from fingerpost.errors import ToolError

TOOL_ERROR = 1


def main() -> None:
    """Run the command that the arguments name, and end the process with its status."""
    try:
        app(prog_name="fingerpost")
    except ToolError as error:
        complain(error)
        sys.exit(TOOL_ERROR)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        say("The disk that fingerpost writes to is full. Make room and try again; what was there before is unharmed.")
        sys.exit(TOOL_ERROR)
