"""What a server needs before it starts, so that its operator hears of it at once (rule E3)."""

import logging
import os
from collections.abc import Mapping

from fingerpost.apps.settings import Settings
from fingerpost.apps.source_kinds import REMOTE_KINDS, open_record_store
from fingerpost.apps.storage import find_database
from fingerpost.errors import SettingsInvalid, StorageUnavailable

_log = logging.getLogger(__name__)


def require_keys(settings: Settings, environ: Mapping[str, str] = os.environ) -> None:
    """Check that the keys are set without which the networks of a home folder cannot be served.

    Raises:
        SettingsInvalid: one is not; a sentence that names it.
    """
    start_keys = {kind.kind: kind.start_key for kind in REMOTE_KINDS if kind.start_key is not None}
    for record in open_record_store(settings.home).read().records.values():
        if record.source not in start_keys:
            continue
        variable = record.key or start_keys[record.source]
        if not environ.get(variable, "").strip():
            raise SettingsInvalid(
                f"{variable} is not set, and {record.name} cannot be asked without it: "
                f"set it, or run `fingerpost network remove {record.name}`."
            )


def check_database(settings: Settings) -> None:
    """Look into the database of many machines, where one is configured; one that cannot be reached now is logged.

    Raises:
        SettingsInvalid: it can never be used as it is configured; a sentence that says why.
    """
    database = find_database(settings)
    if database is None:
        return
    try:
        database.connect().close()
    except StorageUnavailable as error:
        # It may be restarting, as this server is; calls that need it say so, and the others are answered.
        _log.warning("%s", error.message)
