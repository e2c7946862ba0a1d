"""The command-line interface."""

import atexit
import errno
import gc
import sys

from fingerpost.errors import NotAccessible, ParameterError, PlaceUnknown, SettingsInvalid, ToolError

TOOL_ERROR = 1
USAGE = 2
_INTERRUPTED = 130


def find_exit_status(error: ToolError | None) -> int:
    is_usage = isinstance(error, ParameterError | SettingsInvalid)
    return USAGE if is_usage and not isinstance(error, NotAccessible | PlaceUnknown) else TOOL_ERROR


def main() -> None:
    # Garbage collection takes a fifth of a search's time. Commands that may run for a long time enable it again.
    gc.disable()
    # Avoid the search for reference cycles at exit, which takes a third of a short command's time.
    atexit.register(gc.freeze)
    try:
        # Local imports, because typer catches an interrupt only while a command is running.
        from fingerpost.apps.cli.app import app
        from fingerpost.apps.cli.output import print_error, print_message

        app(prog_name="fingerpost")
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except ToolError as error:
        print_error(error)
        sys.exit(find_exit_status(error))
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        print_message("The disk is full. Free some space and try again; existing data is intact.")
        sys.exit(TOOL_ERROR)
