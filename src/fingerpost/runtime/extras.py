"""Check that an optional extra is installed, and name the command that installs it."""

from importlib import import_module
from importlib.metadata import requires
from typing import Literal

from fingerpost.errors import SettingsInvalid

Extra = Literal["scale", "streets", "telemetry"]


def require_extra(extra: Extra, problem: str, *modules: str) -> None:
    """Raise SettingsInvalid, with ``problem`` and the command to install the extra, if a module cannot be imported."""
    try:
        for module in modules:
            import_module(module)
    except ImportError as error:
        raise SettingsInvalid(f"{problem}: {format_install_command(extra)}") from error


def format_install_command(extra: Extra) -> str:
    requirements = (line.replace("'", '"').partition(";") for line in requires("fingerpost") or ())
    packages = (package.strip() for package, _, marker in requirements if f'extra == "{extra}"' in marker)
    return "pip install " + " ".join(f"'{package}'" for package in packages)
