"""What an installed extra would bring, for hints that work wherever the package itself came from."""

from importlib import import_module
from importlib.metadata import requires
from typing import Literal

from fingerpost.errors import SettingsInvalid

Extra = Literal["llm", "scale", "streets", "telemetry"]


def require_extra(extra: Extra, lack: str, *modules: str) -> None:
    """Import modules of an extra, which their users import again.

    Raises:
        SettingsInvalid: one is not installed; ``lack`` begins the sentence, which ends with the command to install it.
    """
    try:
        for module in modules:
            import_module(module)
    except ImportError as error:
        raise SettingsInvalid(f"{lack}: {format_install_command(extra)}") from error


def format_install_command(extra: Extra) -> str:
    required = (line.replace("'", '"').partition(";") for line in requires("fingerpost") or ())
    packages = (package.strip() for package, _, marker in required if f'extra == "{extra}"' in marker)
    return "pip install " + " ".join(f"'{package}'" for package in packages)
