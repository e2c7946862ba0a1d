"""Simulated machines: Linux network namespaces on one bridge, each with its own address and link."""

import os
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass

_NETWORK = "10.213.77"


class MachinesMissing(Exception):
    """Namespaces cannot be made here; the message says why."""


@dataclass(frozen=True, slots=True)
class Machine:
    name: str
    address: str
    cable: str

    @property
    def prefix(self):
        return ["ip", "netns", "exec", self.name]

    def unplug(self):
        _ip("link", "set", self.cable, "down")

    def plug_in(self):
        _ip("link", "set", self.cable, "up")


@contextmanager
def making_machines(count=2):
    """Make machines; give the address at which they reach this one, their network, and them.

    Raises:
        MachinesMissing: they cannot be made.
    """
    if shutil.which("ip") is None or os.geteuid() != 0:
        raise MachinesMissing("network namespaces need root and iproute2")
    tag = f"fp{os.getpid() % 100_000}"
    machines = [Machine(f"{tag}n{n}", f"{_NETWORK}.{n + 1}", f"{tag}c{n}") for n in range(1, count + 1)]
    try:
        _ip("link", "add", tag, "type", "bridge")
        _ip("address", "add", f"{_NETWORK}.1/24", "dev", tag)
        _ip("link", "set", tag, "up")
        for machine in machines:
            _ip("netns", "add", machine.name)
            _ip("link", "add", machine.cable, "type", "veth", "peer", "name", "eth0", "netns", machine.name)
            _ip("link", "set", machine.cable, "master", tag, "up")
            for arguments in (
                ("address", "add", f"{machine.address}/24", "dev", "eth0"),
                ("link", "set", "eth0", "up"),
                ("link", "set", "lo", "up"),
            ):
                _ip("-netns", machine.name, *arguments)
        yield f"{_NETWORK}.1", f"{_NETWORK}.0/24", machines
    finally:
        for machine in machines:
            subprocess.run(["ip", "netns", "delete", machine.name], check=False, capture_output=True)
        subprocess.run(["ip", "link", "delete", tag], check=False, capture_output=True)


def _ip(*arguments):
    done = subprocess.run(["ip", *arguments], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise MachinesMissing(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
