"""What an installed extra would bring, for hints that work wherever the package itself came from."""

from importlib.metadata import requires
from typing import Literal


def format_install_command(extra: Literal["llm", "scale", "streets", "telemetry"]) -> str:
    """Return the command that installs the packages of an extra."""
    required = (line.replace("'", '"').partition(";") for line in requires("fingerpost") or ())
    packages = (package.strip() for package, _, marker in required if f'extra == "{extra}"' in marker)
    return "pip install " + " ".join(f"'{package}'" for package in packages)
