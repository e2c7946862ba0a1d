"""What an installation has and what it lacks, line by line."""

import platform

from rich.text import Text

from fingerpost import __version__, clock
from fingerpost.apps.cli.output import new_console
from fingerpost.apps.kernels import count_kernels, get_kernels_folder
from fingerpost.apps.overview import describe_networks
from fingerpost.apps.realtime_view import tell_realtime
from fingerpost.apps.wiring import House
from fingerpost.errors import ToolError


async def print_health(house: House) -> bool:
    """Print the state of the installation and return whether all of it can be used."""
    settings = house.settings
    fixed = clock.find_fixed()
    _tell("version", f"fingerpost {__version__}, Python {platform.python_version()}")
    _tell("home", str(settings.home))
    _tell("user", settings.user)
    _tell("clock", "free" if fixed is None else f"fixed at {fixed.isoformat()} by {clock.VARIABLE}")
    _tell("kernels", _kernels())
    return all([_check_variables(house), await _check_networks(house)])


def _tell(what: str, told: str, *, good: bool = True) -> None:
    new_console().print(Text.assemble((f"{what:<11}", "dim"), (told, "" if good else "bold red")))


def _kernels() -> str:
    folder, count = get_kernels_folder(), count_kernels()
    return f"{count} compiled in {folder}" if count else f"not compiled yet; the first trip will, into {folder}"


def _check_variables(house: House) -> bool:
    try:
        count = len(house.variables.list_variables(house.settings.user))
    except ToolError as error:
        _tell("variables", error.message, good=False)
        return False
    _tell("variables", f"{count} kept for {house.settings.user}")
    return True


async def _check_networks(house: House) -> bool:
    try:
        networks = await describe_networks(house)
    except ToolError as error:
        _tell("networks", error.message, good=False)
        return False
    problems = (await house.networks.open()).problems
    for name, problem in problems.items():
        _tell("network", f"{name}: {problem}", good=False)
    for network in networks:
        days = "any day" if network["firstDay"] is None else f"{network['firstDay']} to {network['lastDay']}"
        _tell("network", f"{network['name']}  {days}  {network['zone']}  {', '.join(network['modes'])}")
        if not network["answers"]:
            _tell("", "a demo: it answers for its own stop ids only, because a network was added or demos are off")
        for feed in network.get("feeds", ()):
            found = ", ".join(f"{count:,} {reason}" for reason, count in feed["findings"].items())
            _tell(
                "", f"{feed['feed']}: {feed['stops']:,} stops, {feed['trips']:,} trips; {found or 'nothing left out'}"
            )
        for told, good in tell_realtime(network["realtime"]) if "realtime" in network else ():
            _tell("real time", told, good=good)
    return bool(networks) and not problems
