"""Download a file atomically, within a size limit, and only if it has changed."""

import hashlib
import os
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from fingerpost.errors import new_unwritable_error
from fingerpost.net.client import Client
from fingerpost.net.request import Request
from fingerpost.net.response import NOT_MODIFIED, Download
from fingerpost.runtime.concurrency import run_in_thread

# Receives the number of bytes downloaded so far.
Progress = Callable[[int], None]


async def download(
    client: Client,
    request: Request,
    path: Path,
    *,
    known: Download | None = None,
    stored_path: Path | None = None,
    progress: Progress | None = None,
) -> Download:
    """Download a file and move it to ``path`` atomically, unless its content is unchanged.

    ``known`` is the result of an earlier call, for the file at ``stored_path`` (default: ``path``).
    Raise SettingsInvalid if the folder is not writable, and the same errors as ``Client.fetch``.
    """
    if not await run_in_thread((stored_path or path).exists):
        known = None
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("w+b") as file:
            body = _FileBody(file, progress)
            response = await client.fetch_into(request, body, None if known is None else known.validators)
            if response.status == NOT_MODIFIED and known is not None:
                return replace(known, changed=False)
            file.flush()
            os.fsync(file.fileno())
            file.seek(0)
            sha256 = (await run_in_thread(hashlib.file_digest, file, "sha256")).hexdigest()
        changed = known is None or known.sha256 != sha256
        if changed:
            draft.replace(path)
        return Download(changed=changed, sha256=sha256, size_bytes=body.size_bytes, validators=response.validators)
    except OSError as error:
        raise new_unwritable_error(path.parent, error) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


@dataclass(slots=True)
class _FileBody:
    file: BinaryIO
    progress: Progress | None
    size_bytes: int = 0

    def restart(self) -> None:
        self.file.seek(0)
        self.file.truncate()
        self.size_bytes = 0

    def write(self, chunk: bytes) -> None:
        self.file.write(chunk)
        self.size_bytes += len(chunk)
        if self.progress is not None:
            self.progress(self.size_bytes)
