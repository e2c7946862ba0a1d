"""The change from uncompiled kernels to compiled ones, in a process that goes on."""

import logging
import subprocess

from fingerpost.apps.kernels import are_compiled

_log = logging.getLogger(__name__)


def change_over_when_compiled(compiler: "subprocess.Popen[bytes] | None") -> bool:
    """Wait for the process that compiles the engine, and go on with what it has made; return whether it was so.

    Does nothing where this process runs compiled already. It takes minutes: call it in a thread of its own.
    """
    from fingerpost.transit.changeover import change_over, is_interpreted

    if not is_interpreted():
        return False
    if compiler is not None:
        compiler.wait()
    if not are_compiled():
        _log.warning("the engine could not be compiled; answers go on uncompiled")
        return False
    change_over()
    from fingerpost.transit.engine.raptor.warming import warm_kernels

    warm_kernels()
    _log.info("the engine is compiled")
    return True
