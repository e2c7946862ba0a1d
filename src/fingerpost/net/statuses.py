"""Map HTTP statuses to errors, and decide which failures may be retried."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from fingerpost.errors import (
    SourceFailed,
    SourceKeyRefused,
    SourceLimited,
    SourceTimeout,
    StorageUnavailable,
    ToolError,
)
from fingerpost.net.response import Response

# Where a source limits us and does not say for how long.
_DEFAULT_WAIT_S = 5.0
_LONGEST_WAIT_S = 86_400.0
_PARTIAL = 206
_TRANSIENT = frozenset({500, 502, 503, 504})


def find_retry_after(value: str | None, now: datetime) -> float | None:
    """Return how many seconds a Retry-After header asks to wait, or None where it does not (RFC 9110, 10.2.3)."""
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return min(float(text), _LONGEST_WAIT_S)
    instant = _read_date(text)
    if instant is None:
        return None
    wait_s = (instant - now).total_seconds()
    return min(max(0.0, wait_s), _LONGEST_WAIT_S)


def find_failure(response: Response, now: datetime) -> StorageUnavailable | None:
    """Return the error that an answer's status means, or None for a success."""
    status = response.status
    if 200 <= status < 300 and status != _PARTIAL:
        return None
    host = response.redacted_url.split("/")[2] if "//" in response.redacted_url else response.redacted_url
    wait_s = find_retry_after(response.headers.get("retry-after"), _source_time(response) or now)
    details = {"status": status}
    if status == 429 or (status in (403, 503) and wait_s is not None):
        return SourceLimited(
            f"{host} asks us to wait (HTTP {status})", retry_after_s=_DEFAULT_WAIT_S if wait_s is None else wait_s
        )
    if status in (401, 403, 407):
        return SourceKeyRefused(
            f"{host} refused the request (HTTP {status}): a key is missing or not accepted", details
        )
    if status in (408, 504):
        return SourceTimeout(f"{host} took too long (HTTP {status})", details)
    failure = SourceFailed(f"{host} answered with a failure (HTTP {status})", details)
    failure.retryable = status in _TRANSIENT
    return failure


def may_retry(error: Exception, left_s: float) -> bool:
    """Return whether a failed request may be retried within the time that is left.

    What a source asks us to wait (Retry-After) is waited at the limiter, which keeps it for every process; here it
    only decides whether there is time for another attempt.
    """
    if isinstance(error, SourceLimited):
        return error.retry_after_s < left_s
    return isinstance(error, ToolError) and error.retryable


def _source_time(response: Response) -> datetime | None:
    """Return the instant of the source's own clock, against which it writes its dates."""
    return _read_date(response.headers.get("date", ""))


def _read_date(text: str) -> datetime | None:
    """Return the instant of a date in a header, None where it is none; an offset may be too large to be one."""
    try:
        instant = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return instant.replace(tzinfo=instant.tzinfo or UTC)
